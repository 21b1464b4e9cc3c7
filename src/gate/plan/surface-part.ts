import { resolve } from 'node:path';
import { ConfigurationError, describeError, GateError, NetworkError, readErrorCode } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../../base/files.ts';
import { endSentence } from '../../base/text.ts';
import { type Clock, formatDuration, startTimeLimit } from '../../base/time.ts';
import { describeUnreachable } from '../../mcp/faults.ts';
import type { UnnamedTarget } from '../../mcp/session.ts';
import { defaultConfiguration, type Surface, type SurfaceFile } from '../../model/surface.ts';
import { serverUnderTest } from '../../cases/step-server.ts';
import { parseSurfaceFile } from '../../surface/file.ts';
import { type ReadSurface, readSurface } from '../../surface/read.ts';

// The gate's code for surfaces, loaded only if an option asks for it.

/** A running server, by the name of its configuration. */
export interface SurfaceTarget {
  configuration: string;
  target: UnnamedTarget;
}

/** The base, as far as its surfaces are read. */
interface SurfaceBase {
  /** Lists its started servers; empty if they cannot be started. */
  listSurfaceTargets(): Promise<readonly SurfaceTarget[]>;
  giveUp(reason: string): void;
  /** Returns the reason why nothing is compared with it; null as long as there is none. */
  problem(): string | null;
}

/** The surfaces of the base, or why they are not known. */
type BaseSurfaces = { found: Record<string, Surface> } | { problem: string };

/** The time limit for the lists of one server. */
const readTimeoutMs = 60_000;

/**
 * Reads the surfaces of running servers, by configuration. `unread` says why there are none: a server did not list its surface.
 *
 * @throws the signal's reason once it aborts
 */
export async function readTargets(
  targets: readonly SurfaceTarget[],
  context: { clock: Clock; signal: AbortSignal },
): Promise<{ found: Record<string, Surface>; unread: string | null }> {
  const found: Record<string, Surface> = {};
  for (const { configuration, target } of targets) {
    try {
      const { surface, handshake } = await readNamedTarget(target, { ...context, timeoutMs: readTimeoutMs });
      const { name, version } = handshake;
      found[configuration] = { ...surface, ...(name !== null && { server: { name, version } }) };
    } catch (error) {
      context.signal.throwIfAborted();
      return { found: {}, unread: describeError(error) };
    }
  }
  if (targets.length === 0) return { found, unread: 'the gate has no server of its own.' };
  return { found, unread: null };
}

/**
 * Reads the surfaces of the base, by the configurations of the change.
 *
 * @throws the signal's reason once it aborts
 */
export async function readBaseSurfaces(
  base: SurfaceBase,
  { targets, ...context }: { targets: readonly SurfaceTarget[]; clock: Clock; signal: AbortSignal },
): Promise<BaseSurfaces> {
  const known = await base.listSurfaceTargets();
  if (known.length === 0) return { problem: base.problem() ?? 'The base has no server of its own.' };
  const { found, unread } = await readTargets(known, context);
  if (unread !== null) {
    const problem = unread.replace(/^The server /, 'The server of the base ');
    base.giveUp(problem);
    return { problem };
  }
  // A server that the base's own options describe has no name.
  const [{ configuration } = { configuration: defaultConfiguration }] = targets;
  return known.length === 1 && targets.length === 1
    ? { found: Object.fromEntries(Object.values(found).map((surface) => [configuration, surface])) }
    : { found };
}

/**
 * Reads the surface of a running server.
 *
 * @throws {NetworkError} if it does not answer with its lists within `timeoutMs`
 * @throws the signal's reason once it aborts
 */
export async function readTarget(
  target: UnnamedTarget,
  { clock, signal, timeoutMs }: { clock: Clock; signal: AbortSignal; timeoutMs: number },
): Promise<Surface> {
  return (await readNamedTarget(target, { clock, signal, timeoutMs })).surface;
}

async function readNamedTarget(
  target: UnnamedTarget,
  { clock, signal, timeoutMs }: { clock: Clock; signal: AbortSignal; timeoutMs: number },
): Promise<ReadSurface> {
  using limit = startTimeLimit(clock, { afterMs: timeoutMs, what: 'The list of what the server shows', signal });
  try {
    const named = { ...target, serverName: serverUnderTest };
    return await readSurface(named, { clock, signal: limit.signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GateError) throw error;
    const why = limit.signal.aborted ? `it took longer than ${formatDuration(timeoutMs)}` : describeUnreachable(error);
    // Without the cause, which the sentence has already and the SDK writes on a line for each tool.
    throw new NetworkError(endSentence(`The server did not list what it shows: ${why}`), {
      hint: 'Run `mcp-eval-ci doctor` with the same server to see which step fails.',
    });
  }
}

/**
 * Reads the surface file at `path`, relative to `cwd`; null if there is none.
 *
 * @throws {ConfigurationError} if it is no surface file
 */
export async function readSurfaceFile(path: string, cwd: string): Promise<{ file: SurfaceFile; text: string } | null> {
  if (await leadsOutOfCheckout(path, cwd)) {
    throw new ConfigurationError([
      { file: path, line: 1, column: 1, code: 'link-out-of-checkout', message: linkOutMessage },
    ]);
  }
  let text: string;
  try {
    text = await readTextFile(resolve(cwd, path));
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    const message = `cannot be read: ${describeError(error)}`;
    throw new ConfigurationError([{ file: path, code: 'unreadable-surface-file', message }]);
  }
  return { file: parseSurfaceFile(text, path), text };
}
