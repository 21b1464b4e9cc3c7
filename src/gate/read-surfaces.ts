import { ServerStartError } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import type { ProtocolChoice } from '../model/protocol.ts';
import type { Sourced } from '../model/source.ts';
import type { Surface, SurfaceFile } from '../model/surface.ts';
import type { ServerFactory } from '../server/in-process-server.ts';
import type { GateOptions } from './options/schema.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { planServers } from './plan/plan-servers.ts';
import { readTarget } from './plan/surface-part.ts';
import { openPlannedAccess, type ReachContext, startPlannedServer } from './reach-server.ts';

/** Plans the servers for a command that reads surfaces, and their revision of MCP. @throws {ConfigurationError} with everything that is wrong */
export async function planSurfaceServers(
  options: GateOptions,
  context: { cwd: string; environment: ReachContext['environment']; inProcess?: ServerFactory },
): Promise<{ servers: PlannedServer[]; notes: string[]; protocol: Sourced<ProtocolChoice> }> {
  const findings = createFindings();
  const { servers } = await planServers(options, context, findings);
  if (servers.length === 0 && findings.issues.length === 0) {
    findings.add({
      input: 'server-command',
      code: 'missing-server',
      message: 'names no server; give `server-command`, `server-url` or `mcp-config`',
    });
  }
  const { protocol } = options;
  if (protocol === 'both') {
    const message =
      'is `both`, and a surface is that of one revision; give one, and keep that of the other under a `--configuration` of its own';
    findings.add({ input: 'protocol', code: 'one-revision', message });
    throw findings.toError();
  }
  findings.throwIfAny();
  return { servers, notes: findings.notes, protocol: { value: protocol ?? 'auto', source: '--protocol' } };
}

/**
 * Starts or reaches each server, reads its surface and stops it. A server without a name has the configuration `name`.
 *
 * @throws {ServerStartError} | {NetworkError} if a server does not answer, or not with its lists
 * @throws the signal's reason once it aborts
 */
export async function readServerSurfaces(
  servers: readonly PlannedServer[],
  { name, ...context }: ReachContext & { name: string },
): Promise<SurfaceFile['configurations']> {
  const found: SurfaceFile['configurations'] = {};
  for (const server of servers) found[server.name ?? name] = await readPlannedServer(server, context);
  return found;
}

async function readPlannedServer(server: PlannedServer, context: ReachContext): Promise<Surface> {
  const access = await openPlannedAccess(server, context);
  const { readyTimeoutMs: timeoutMs, command, url } = server;
  try {
    if (command === null && url !== null && (context.protocol?.value ?? 'auto') === 'auto') {
      return await readTarget({ url, protocol: 'auto', access }, { ...context, timeoutMs });
    }
    await using running = await startPlannedServer(server, access, context);
    return await readTarget({ ...running.endpoint, protocol: running.protocol, access }, { ...context, timeoutMs });
  } catch (error) {
    if (error instanceof ServerStartError && error.stderrTail.length > 0) {
      context.logger.group('Last lines of the server’s stderr', error.stderrTail);
    }
    throw error;
  }
}
