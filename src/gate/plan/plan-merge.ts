import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeError, readErrorCode } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import { appendAll } from '../../base/lists.ts';
import type { Report, ShardReport } from '../../model/report.ts';
import type { CaseResults } from '../../model/results.ts';
import { type JoinedShards, joinShards, type LabelledReport } from '../../verdict/merge.ts';
import type { GateOptions } from '../options/schema.ts';
import type { NewRules } from './plan-rejudge.ts';
import { readReport } from './read-report.ts';
import type { KnownCases } from './weakenings.ts';

/** The shards that are judged as one gate. */
export interface PlannedMerge extends JoinedShards {
  revision: Report['revision'];
  /** The selection of cases that was divided into shards; undefined if the reports do not name it. */
  selection: ShardReport['selection'];
  /** The rules that replace the policy of the shards. */
  rules: Pick<NewRules, 'minimumPassRate' | 'policy'>;
}

/**
 * Reads the shards' reports: each path is a report.json, a directory that holds one, or a directory of such directories, as downloaded
 * artifacts are. All that does not fit together is one issue. Null if the gate merges nothing.
 */
export async function planMerge(
  { merge: paths, minPassRate: minimumPassRate, policy }: Pick<GateOptions, 'merge' | 'minPassRate' | 'policy'>,
  { cwd }: { cwd: string },
  findings: Findings,
): Promise<PlannedMerge | null> {
  if (paths.length === 0) return null;
  const members: LabelledReport[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    const found = await readPath(path, cwd);
    appendAll(members, found.members);
    appendAll(problems, found.problems);
  }
  const { joined, problems: clashes } = joinShards(members, { isJudgedAnew: policy !== null });
  // A report that could not be read would also be reported as missing.
  const shown = problems.length > 0 ? problems : clashes;
  if (shown.length > 0) {
    findings.add({ input: 'merge', code: 'bad-merge', message: `The shards cannot be joined: ${shown.join('; ')}` });
  }
  const { revision = null, shard = null } = members[0]?.report ?? {};
  return { ...joined, revision, selection: shard?.selection, rules: { minimumPassRate, policy: null } };
}

/** Lists the suites of the shards with the cases that ran and those that their policy requires. */
export function listRanCases({ results, policy }: Pick<JoinedShards, 'results' | 'policy'>): KnownCases[] {
  return [...Map.groupBy(results, ({ suiteId }) => suiteId)].map(([id, parts]) => {
    const file = parts[0]?.file ?? '';
    const cases = parts.flatMap((part) => part.cases);
    const requirements = policy.suites.find(({ suiteId }) => suiteId === id);
    const required = new Set([
      ...(requirements?.required ?? []).map(({ name }) => name),
      ...cases.flatMap(({ isRequired, ...testCase }) => (isRequired ? listCaseIds(testCase) : [])),
    ]);
    // A case that ran with several models or rows also stands for the case that all of them belong to.
    const named = cases.flatMap((testCase) => {
      const location = testCase.location ?? { file, line: 1, column: 1 };
      return [testCase, ...(testCase.variantOf ?? [])].map(({ id, title }) => ({ id, title, location }));
    });
    return { suite: { id, location: { file }, cases: named }, required };
  });
}

function listCaseIds({ id, variantOf = [] }: Pick<CaseResults, 'id' | 'variantOf'>): string[] {
  return [id, ...variantOf.map((whole) => whole.id)];
}

async function readPath(path: string, cwd: string): Promise<{ members: LabelledReport[]; problems: string[] }> {
  const read = await readReport(resolve(cwd, path));
  if (read.kind === 'report') return { members: [{ label: path, report: read.report }], problems: [] };
  if (read.kind === 'bad') return { members: [], problems: [`${path}: ${read.why}`] };
  const members: LabelledReport[] = [];
  const problems: string[] = [];
  try {
    for (const name of await listDirectories(resolve(cwd, path))) {
      const label = join(path, name);
      const inside = await readReport(resolve(cwd, label));
      if (inside.kind === 'report') members.push({ label, report: inside.report });
      else problems.push(`${label}: ${inside.kind === 'missing' ? 'it holds no report.json' : inside.why}`);
    }
  } catch (error) {
    const why = readErrorCode(error) === 'ENOENT' ? 'there is no such directory' : describeError(error);
    return { members: [], problems: [`${path}: ${why}`] };
  }
  if (members.length === 0 && problems.length === 0) problems.push(`${path}: there is no report.json in or below it`);
  return { members, problems };
}

async function listDirectories(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
