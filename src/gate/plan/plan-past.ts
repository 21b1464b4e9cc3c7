import type { ConfigurationIssue } from '../../base/errors.ts';
import type { GateOptions } from '../options/schema.ts';
import { readServiceBaseline } from '../options/service-baseline.ts';
import { planBaseline, type PlannedBaseline } from './plan-baseline.ts';
import { planHistory, type PlannedHistory } from './plan-history.ts';
import type { ProtectedBase } from './protection.ts';

/** What a gate knows of those before it. */
export interface PlannedPast {
  /** Null where nothing is compared. */
  baseline: PlannedBaseline | null;
  /** Null where none is kept. */
  history: PlannedHistory | null;
}

/** Reads the history and the baseline. Most gates know nothing of earlier ones, and load nothing for it. */
export async function planPast(
  options: GateOptions,
  context: { cwd: string; notes: string[]; base?: ProtectedBase | null },
  issues: ConfigurationIssue[],
): Promise<PlannedPast> {
  const { historyPath, baseline: source } = options;
  let history: PlannedHistory | null = null;
  let baseline: PlannedBaseline | null = null;
  if (historyPath !== null) {
    history = await planHistory(historyPath, context, issues);
  }
  if (source !== null) {
    const inService = readServiceBaseline(options);
    if (inService !== null) return { history, baseline: { source, baseline: null, runId: inService.runId } };
    baseline = await planBaseline(source, { ...context, history }, issues);
  }
  return { history, baseline };
}
