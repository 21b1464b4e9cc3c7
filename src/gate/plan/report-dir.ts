import { join, relative, resolve } from 'node:path';
import type { ConfigurationIssue } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import { describeOutLink, findOutLink, findOutputRoot } from '../../base/output-files.ts';

/** Where the reports go: absolute, and as the user wrote it. */
export interface PlannedReportDir {
  path: string;
  label: string;
  /** What no link may lead out of when something is written there. */
  root: string;
  /** The file that lists the directories to which steps of this job have written; null outside GitHub. */
  register: string | null;
}

/** Of the runner's directory, which it empties before every job. */
const registerName = 'mcp-eval-ci-report-dirs.jsonl';
const maxRegisterBytes = 1024 * 1024;

/**
 * Plans where the reports go. The directory of an earlier step of this job is left to that step: reports that overwrite each other
 * would leave one of the two without any.
 */
export async function planReportDir(
  label: string,
  { cwd, environment, notes }: PlanPlace & { notes: string[] },
): Promise<PlannedReportDir> {
  const temp = environment['RUNNER_TEMP'] ?? '';
  const register = temp === '' ? null : join(temp, registerName);
  const taken = register === null ? new Set<string>() : await readRegister(register);
  const path = resolve(cwd, label);
  if (!taken.has(path)) return { path, label, root: findOutputRoot(path, cwd) ?? path, register };
  const base = path === resolve(cwd) ? 'mcp-eval-report' : label.replace(/[\\/]+$/, '');
  let number = 2;
  while (taken.has(resolve(cwd, `${base}-${number}`))) number += 1;
  const other = `${base}-${number}`;
  notes.push(
    `An earlier step of this job wrote its reports to ${label}, so this step writes to ${other}. Give each step its own \`report-dir\`.`,
  );
  const root = findOutputRoot(other, cwd) ?? resolve(cwd, other);
  return { path: resolve(cwd, other), label: other, root, register };
}

/** Finds a path to write to that a link leads out of the checkout. */
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

/** One JSON string a line. What is no such line is of no step of this action. */
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
