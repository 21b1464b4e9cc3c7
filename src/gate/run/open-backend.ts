import type { EvalBackend } from './backend.ts';
import type { HostedOptions } from './hosted-project.ts';
import type { LocalOptions, LocalPlan } from './local-backend.ts';

/**
 * Opens the backend that runs the evals of a plan: this process, or the project of a hosted service. Loads it lazily, before a server under
 * test starts.
 *
 * @throws {ConfigurationError} if the key, the address or the project of a hosted service is wrong
 */
export async function openBackend(plan: LocalPlan, options: LocalOptions & HostedOptions): Promise<EvalBackend> {
  const { hosted } = plan.service;
  if (hosted === null) {
    const { openLocalBackend } = await import('./local-backend.ts');
    return await openLocalBackend(plan, options);
  }
  const { openHostedBackend } = await import('./hosted-backend.ts');
  return await openHostedBackend(plan.service, hosted, options);
}
