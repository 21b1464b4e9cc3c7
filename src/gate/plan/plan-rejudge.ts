import { resolve } from 'node:path';
import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import { noGateRules, type PolicyFile } from '../../model/policy.ts';
import type { Report } from '../../model/report.ts';
import { listIdleSuites } from '../../verdict/layers.ts';
import type { GateOptions } from '../options/schema.ts';
import { type PlannedBaseline, planPast } from './plan-baseline.ts';
import { readPolicyOption } from './plan-policy.ts';
import { readReport } from './read-report.ts';
import { findAmbiguousNames } from './resolve-names.ts';

/** Requirements that replace those of the gate; null keeps those. */
export interface NewDemands {
  /** Fraction 0..1. */
  minimumPassRate: number | null;
  baseline: PlannedBaseline | null;
  /** Replaces all policies of the gate. */
  policy: PolicyFile | null;
}

/** A report that is to be judged anew, and under which demands. */
export interface RejudgePlan {
  report: Report;
  demands: NewDemands;
  notes: string[];
}

/** Reads the report and the baseline. @throws {ConfigurationError} with everything that is wrong */
export async function planRejudge(path: string, options: GateOptions, { cwd }: { cwd: string }): Promise<RejudgePlan> {
  const issues: ConfigurationIssue[] = [];
  const notes: string[] = [];
  const policy = await readPolicyOption(options.policy, cwd, issues);
  const { baseline } = await planPast(options, { cwd, notes, rules: policy?.gate ?? noGateRules }, issues);
  const read = await readReport(resolve(cwd, path));
  if (read.kind !== 'report') {
    const why = read.kind === 'missing' ? 'there is no such report' : read.why;
    issues.push({ file: path, code: 'bad-report', message: `Cannot be judged: ${why}` });
    throw new ConfigurationError(issues);
  }
  if (policy !== null) {
    const { suites, cases } = read.report;
    const named = suites.map(({ id, name }) => ({ id, name, cases: cases.filter(({ suiteId }) => suiteId === id) }));
    appendAll(issues, findAmbiguousNames(policy, named));
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  if (policy !== null) appendAll(notes, listIdleSuites(policy, read.report.suites));
  if (policy !== null && hasBudgets(policy)) {
    notes.push(`The budgets of ${policy.file} are not judged: a report does not say what was spent.`);
  }
  return { report: read.report, demands: { minimumPassRate: options.minPassRate, baseline, policy }, notes };
}

function hasBudgets({ common, suites }: PolicyFile): boolean {
  return [common, ...suites.map(({ layer }) => layer)].some(({ budgets }) =>
    Object.values(budgets).some((budget) => budget !== null),
  );
}
