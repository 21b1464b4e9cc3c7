import { resolve } from 'node:path';
import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import type { PolicyFile } from '../../model/policy.ts';
import type { Report } from '../../model/report.ts';
import { listUnmatchedSuites } from '../../verdict/merge-policies.ts';
import type { GateOptions } from '../options/schema.ts';
import { type PlannedBaseline, planPast } from './plan-past.ts';
import { readPolicyOption } from './plan-policy.ts';
import { readReport } from './read-report.ts';
import { findAmbiguousNames, groupReported } from './resolve-names.ts';

/** Rules that replace those of the gate; null keeps the gate's. */
export interface NewRules {
  /** A fraction from 0 to 1. */
  minimumPassRate: number | null;
  baseline: PlannedBaseline | null;
  /** Replaces all policies of the gate. */
  policy: PolicyFile | null;
}

/** A report that is to be judged again, and the rules for it. */
export interface RejudgePlan {
  report: Report;
  rules: NewRules;
  notes: string[];
}

/** Reads the report and the baseline. @throws {ConfigurationError} with everything that is wrong */
export async function planRejudge(path: string, options: GateOptions, { cwd }: { cwd: string }): Promise<RejudgePlan> {
  const issues: ConfigurationIssue[] = [];
  const notes: string[] = [];
  const policy = await readPolicyOption(options.policy, cwd, issues);
  const { baseline } = await planPast(options, { cwd, notes }, issues);
  const read = await readReport(resolve(cwd, path));
  if (read.kind !== 'report') {
    const why = read.kind === 'missing' ? 'there is no such report' : read.why;
    issues.push({ file: path, code: 'bad-report', message: `Cannot be judged: ${why}` });
    throw new ConfigurationError(issues);
  }
  if (policy !== null) {
    appendAll(issues, findAmbiguousNames(policy, groupReported(read.report.results)));
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  if (policy !== null) appendAll(notes, listUnmatchedSuites(policy, read.report.suites));
  return { report: read.report, rules: { minimumPassRate: options.minPassRate, baseline, policy }, notes };
}
