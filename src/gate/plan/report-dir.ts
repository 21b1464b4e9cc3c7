import { join, relative, resolve } from 'node:path';
import type { ConfigurationIssue } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import { describeOutLink, findOutLink, findOutputRoot } from '../../base/output-files.ts';

/** The directory of the reports: the absolute path, and the label that the user wrote. */
export interface PlannedReportDir {
  path: string;
  label: string;
  /** The directory that no link may lead out of when something is written to `path`. */
  root: string;
  /** The file that lists the directories to which steps of this job have written; null outside GitHub. */
  register: string | null;
}

/** The name of a file in the runner's temporary directory, which the runner empties before every job. */
const registerName = 'mcp-eval-ci-report-dirs.jsonl';
const maxRegisterBytes = 1024 * 1024;

/**
 * Plans the directory of the reports. Does not use the directory of an earlier step of this job: if reports overwrote each other, one of the
 * two steps would have none.
 */
export async function planReportDir(
  label: string,
  { cwd, environment }: PlanPlace,
  findings: Findings,
): Promise<PlannedReportDir> {
  const temp = environment['RUNNER_TEMP'] ?? '';
  const register = temp === '' ? null : join(temp, registerName);
  const taken = register === null ? new Set<string>() : await readRegister(register);
  const path = resolve(cwd, label);
  if (!taken.has(path)) return checkDir({ path, label, root: findOutputRoot(path, cwd) ?? path, register }, findings);
  const base = path === resolve(cwd) ? 'mcp-eval-report' : label.replace(/[\\/]+$/, '');
  let number = 2;
  while (taken.has(resolve(cwd, `${base}-${number}`))) number += 1;
  const other = `${base}-${number}`;
  findings.note(
    `An earlier step of this job wrote its reports to ${label}, so this step writes to ${other}. Give each step its own \`report-dir\`.`,
  );
  const root = findOutputRoot(other, cwd) ?? resolve(cwd, other);
  return checkDir({ path: resolve(cwd, other), label: other, root, register }, findings);
}

function checkDir(planned: PlannedReportDir, findings: Findings): PlannedReportDir {
  findings.addAll(findLinkIssues('report-dir', planned.path, planned.root));
  return planned;
}

/** Finds an output path that a link leads out of the checkout. */
export function findLinkIssues(input: string, path: string, root: string | null): ConfigurationIssue[] {
  const found = root === null ? null : findOutLink(path, root);
  return found === null || root === null
    ? []
    : [{ input, code: 'link-out-of-checkout', message: `cannot be used: ${describeOutLink(relative(root, found))}` }];
}

interface PlanPlace {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Reads one JSON string per line. Ignores other lines, which no step of this action wrote. */
async function readRegister(path: string): Promise<Set<string>> {
  try {
    return new Set((await readTextFile(path, { maxBytes: maxRegisterBytes })).split('\n').flatMap(readLine));
  } catch {
    return new Set();
  }
}

function readLine(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'string' ? [value] : [];
  } catch {
    return [];
  }
}
