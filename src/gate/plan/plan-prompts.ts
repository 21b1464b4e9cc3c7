import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import { systemClock } from '../../base/time.ts';
import type { Pricing } from '../../model/policy.ts';
import { asksModel, type Suite } from '../../cases/suite.ts';
import type { ProviderSources } from '../../models/providers.ts';
import type { ModelOptions, PlannedModels } from './plan-models.ts';
import type { PlannedService } from './plan-service.ts';
import type { PlannedSuite } from './plan-suites.ts';

/**
 * Plans the models that are asked, and checks the calibration of judges; null if the gate itself answers no prompt and judges nothing.
 * Loads the code for providers and recordings only if a case needs it.
 */
export async function planPrompts(
  options: ModelOptions,
  {
    suites,
    service,
    ...context
  }: {
    suites: readonly PlannedSuite[];
    service: Pick<PlannedService, 'hosted'>;
    pricing: Pricing;
    cwd: string;
    environment: Readonly<Record<string, string | undefined>>;
    nowMs?: number;
    isRecording?: boolean;
    models?: ProviderSources['models'];
  },
  findings: Findings,
): Promise<PlannedModels | null> {
  const files = suites.flatMap((planned) => (planned.kind === 'file' ? [planned.suite] : []));
  if (service.hosted !== null || !files.some(hasModels)) return null;
  findings.addAll(await checkJudges(suites, context));
  const { planModels } = await import('./plan-models.ts');
  return await planModels(options, { ...context, suites: files }, findings);
}

function hasModels({ cases }: Suite): boolean {
  return cases.some((testCase) => testCase.judges.length > 0 || asksModel(testCase));
}

/** Finds judges that may not gate. Loads the code for that only if a case has a judge. */
async function checkJudges(
  suites: readonly PlannedSuite[],
  { cwd, nowMs = systemClock.now() }: { cwd: string; nowMs?: number },
): Promise<ConfigurationIssue[]> {
  const hasJudge = suites.some(
    (planned) => planned.kind === 'file' && planned.suite.cases.some(({ judges }) => judges.length > 0),
  );
  if (!hasJudge) return [];
  const { findUncalibratedJudges } = await import('./plan-judges.ts');
  return await findUncalibratedJudges(suites, { cwd, nowMs });
}
