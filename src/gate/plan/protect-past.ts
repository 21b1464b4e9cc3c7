import { createFindings, type Findings } from '../../base/findings.ts';
import type { BaselineCase } from '../../model/comparison.ts';
import { parseHistory } from '../../history/history-record.ts';
import { findRepository, GitError, runGit } from './git-checkout.ts';
import type { ProtectedBase } from './base-policy.ts';
import { parseBaselineReport } from './baseline-report.ts';
import type { Weakening } from './weakenings.ts';

/** Something that a baseline or a history in the base has and another version of it lacks. */
export interface Loss {
  key: string;
  what: string;
}

interface ProtectedFile {
  /** The path, as the user wrote it. */
  path: string;
  /** The text in the checkout; null if there is no file. */
  own: string | null;
  listLosses: (before: string, after: string | null) => Loss[];
}

/**
 * Chooses the effective text of a file that an earlier gate wrote: the base's version if the base has the file, and none if the change adds
 * it. A file that git does not track comes from an artifact or a cache of the job, and is used as it is.
 */
export async function readProtectedFile(
  { path, own, listLosses }: ProtectedFile,
  { base, cwd, findings }: { base: ProtectedBase; cwd: string; findings: Findings },
): Promise<{ text: string | null }> {
  const { base: name, noun } = base.names;
  if (!base.protects('baselines')) return { text: own };
  const inBase = await base.tree.read(path, findings);
  if (inBase.kind === 'unreadable') return { text: null };
  if (inBase.kind === 'missing') {
    if (own === null || !(await isTracked(path, cwd))) return { text: own };
    findings.note(`${path} is new in this ${noun}, and does not count before it is in ${name}.`);
    return { text: null };
  }
  if (own === inBase.text) return { text: own };
  findings.note(`${path} differs from that of ${name}, which counts.`);
  const losses = listLosses(inBase.text, own);
  const known = losses.length === 0 ? new Set() : await listForkLosses(path, { base, before: inBase.text, listLosses });
  const describe = (loss: Loss) => toWeakening(path, loss, base);
  base.add(
    losses.filter(({ key }) => !known.has(key)).map(describe),
    losses.filter(({ key }) => known.has(key)).map(describe),
  );
  return { text: inBase.text };
}

/** Lists what the base has gained since the change began at an older commit of it. */
async function listForkLosses(
  path: string,
  { base, before, listLosses }: Pick<ProtectedFile, 'listLosses'> & { base: ProtectedBase; before: string },
): Promise<Set<unknown>> {
  const tree = await base.openFork();
  const file = tree === null ? null : await tree.read(path, createFindings());
  if (file === null || file.kind === 'unreadable') return new Set();
  return new Set(listLosses(before, file.kind === 'file' ? file.text : null).map(({ key }) => key));
}

/** Checks if git tracks a file. If git cannot read the index, the file counts as part of the change. */
async function isTracked(path: string, cwd: string): Promise<boolean> {
  if ((await findRepository(cwd)) === null) return false;
  try {
    await runGit(['ls-files', '--error-unmatch', '--', `:(literal)${path}`], cwd);
    return true;
  } catch (error) {
    return !(error instanceof GitError && error.exitCode === 1);
  }
}

function toWeakening(path: string, { key, what }: Loss, { names }: ProtectedBase): Weakening {
  return {
    protection: 'baselines',
    code: 'baseline-lowered',
    key,
    message: `This ${names.noun} changes ${path}: ${what}.`,
    remedy: `Restore the file of ${names.base}`,
    suiteId: null,
  };
}

/** Lists the cases for which a baseline expects less than another one. */
export function listBaselineLosses(before: string, after: string | null): Loss[] {
  const was = readCases(before);
  if (was === null) return [];
  const is = after === null ? null : readCases(after);
  if (is === null) return [{ key: 'gone', what: after === null ? 'it is gone' : 'it is no report of a gate' }];
  const lowered = was.flatMap((earlier) => {
    const later = is.find(({ suiteId, id }) => suiteId === earlier.suiteId && id === earlier.id);
    const expected = `${earlier.passed} of ${earlier.total}`;
    const isLess = later === undefined || later.passed * earlier.total < earlier.passed * Math.max(1, later.total);
    // The gate compares no results of different definitions.
    const isOther = later !== undefined && later.definitionHash !== earlier.definitionHash;
    if (!isLess && !isOther) return [];
    const now =
      later === undefined ? 'no result' : `${later.passed} of ${later.total}${isOther ? ' of another definition' : ''}`;
    return [{ title: earlier.title, key: `${earlier.suiteId}/${earlier.id} ${expected} ${now}`, expected, now }];
  });
  const [first] = lowered;
  if (first === undefined) return [];
  const many = lowered.length === 1 ? '' : `, and less of ${lowered.length - 1} more`;
  const what = `it has ${first.now} instead of ${first.expected} for the case ${JSON.stringify(first.title)}${many}`;
  return [{ key: lowered.map(({ key }) => key).join('\n'), what }];
}

function readCases(text: string): BaselineCase[] | null {
  try {
    const read = parseBaselineReport(text);
    return read.kind === 'report' ? read.report.cases : null;
  } catch {
    return null;
  }
}

/** Lists the gates that a history lacks and another one has. A gate drops the oldest gates when there are too many, which is no loss. */
export function listHistoryLosses(before: string, after: string | null): Loss[] {
  const list = (text: string) => parseHistory(text).records.map((record) => JSON.stringify(record));
  const was = list(before);
  const is = list(after ?? '');
  const kept = new Set(is);
  const firstKept = was.findIndex((record) => kept.has(record));
  const isTrimmed = firstKept > 0 && is[0] === was[firstKept] && is.length >= was.length;
  const lost = was.slice(isTrimmed ? firstKept : 0).filter((record) => !kept.has(record));
  if (lost.length === 0) return [];
  return [{ key: lost.join('\n'), what: `it lacks or alters ${lost.length} of the ${was.length} gates in it` }];
}
