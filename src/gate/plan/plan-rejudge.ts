import { resolve } from 'node:path';
import { createFindings } from '../../base/findings.ts';
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
  const findings = createFindings();
  const policy = await readPolicyOption(options.policy, cwd, findings);
  const { baseline } = await planPast(options, { cwd, base: null }, findings);
  const read = await readReport(resolve(cwd, path));
  if (read.kind !== 'report') {
    const why = read.kind === 'missing' ? 'there is no such report' : read.why;
    findings.add({ file: path, code: 'bad-report', message: `Cannot be judged: ${why}` });
    throw findings.toError();
  }
  if (policy !== null) findings.addAll(findAmbiguousNames(policy, groupReported(read.report.results)));
  findings.throwIfAny();
  if (policy !== null) findings.noteAll(listUnmatchedSuites(policy, read.report.suites));
  const rules = { minimumPassRate: options.minPassRate, baseline, policy };
  return { report: read.report, rules, notes: findings.notes };
}
