import { type GateError, ServerStartError } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import type { Secret } from '../base/redaction.ts';
import { anyProtocol } from '../model/protocol.ts';
import { readCiJob } from './plan/ci-job.ts';
import { openHostedBackend } from './run/hosted-backend.ts';
import type { GateContext } from './run/context.ts';
import type { RegisteredServer } from './run/job-tunnel.ts';
import type { GateOptions } from './options/schema.ts';
import type { PlanContext } from './plan/plan.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { planServers } from './plan/plan-servers.ts';
import { type PlannedService, planService } from './plan/plan-service.ts';
import { openServerAccess, startServer } from './run/job-server.ts';
import { sessionsOfAnyClient } from './run/scheduling.ts';
import { nameServer } from './run/test-servers.ts';
import { createTeardown, startRunLifetime } from './run/run-lifetime.ts';

/** The servers that a hosted service is to reach, until the caller closes their tunnels. */
export interface TunnelPlan {
  /** Has at least one server. */
  servers: readonly PlannedServer[];
  service: PlannedService;
  isolation: 'iteration' | 'run';
  secrets: readonly Secret[];
}

/** Plans a tunnel that is hosted by hand. @throws {ConfigurationError} with everything that is wrong */
export async function planTunnel(options: GateOptions, context: PlanContext): Promise<TunnelPlan> {
  const findings = createFindings();
  const ci = await readCiJob(options, context);
  const service = { ...planService(options, { ci, environment: context.environment }, findings), isTunnelled: true };
  const { servers } = await planServers(options, context, findings);
  if (service.profile.name === 'embedded') {
    const message =
      'must name a hosted service, svc or mcpjam; no other process could use a tunnel to the embedded one';
    findings.add({ input: 'service', code: 'needs-hosted-service', message });
  }
  if (servers.length === 0) throw findings.toError();
  findings.throwIfAny();
  const secrets = [...service.secrets, ...servers.flatMap((server) => server.secrets)];
  return { servers, service, isolation: options.isolation, secrets };
}

/**
 * Starts the servers and keeps a tunnel to each open until the signal aborts; then leaves nothing behind. Calls `onReady` once for each
 * server, when it answers at its public URL.
 *
 * @throws {ServerStartError} | {TunnelError} if a server or a tunnel is lost
 */
export async function hostTunnel(
  plan: TunnelPlan,
  context: GateContext & { onReady: (server: RegisteredServer) => void },
): Promise<void> {
  const { clock, logger, redactor, signal } = context;
  const onProgress = context.onProgress ?? (() => {});
  for (const secret of plan.secrets) redactor.add(secret);
  using lifetime = startRunLifetime(clock, { timeoutMs: Number.POSITIVE_INFINITY, signal });
  const { hosted } = plan.service;
  // `planTunnel` refuses the embedded service, the only one without `hosted`.
  if (hosted === null) throw new Error('A tunnel was planned without a hosted service.');
  try {
    await using backend = await openHostedBackend(plan.service, hosted, { ...context, signal: lifetime.cancelRun });
    await using teardown = createTeardown({ clock, logger });
    const scope = { lifetime, teardown, clock, logger, redactor, onProgress };
    for (const planned of plan.servers) {
      const access = await openServerAccess(planned, scope);
      const starting = {
        access,
        isolation: plan.isolation,
        protocol: anyProtocol,
        isAgain: false,
        sessions: sessionsOfAnyClient,
        isWitnessed: false,
        waitForRuns: async () => await backend.waitForRuns(),
        environment: context.environment,
        processMarker: context.processMarker,
      };
      const running = await startServer(planned, starting, scope);
      const { alias, recordName } = nameServer(planned, plan);
      context.onReady(await backend.register(running, { serverName: recordName, alias, access }, scope));
    }
    const reason = await waitForAbort(lifetime.cancelRun);
    if (!signal.aborted) throw reason;
  } catch (error) {
    if (error instanceof ServerStartError && error.stderrTail.length > 0) {
      logger.group('Last lines of the server’s stderr', error.stderrTail);
    }
    throw error;
  }
}

async function waitForAbort(signal: AbortSignal): Promise<GateError> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  return signal.reason;
}
