import { realpath, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { leadsOutOfCheckout, linkOutMessage, readInput } from '../base/files.ts';
import { type ConfigurationIssue, describeError } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { listMatches } from '../base/glob.ts';
import type { Suite } from '../cases/suite.ts';
import { compareText } from './findings.ts';
import { readSuite } from './read.ts';
import { describeTooLarge, maxFileBytes } from './source-document.ts';

export interface LoadedSuites {
  /** Sorted by path. Files with findings are left out. */
  suites: Suite[];
  findings: ConfigurationIssue[];
}

/**
 * Reads every evals file that the glob patterns match below `cwd`, each once. Findings are patterns with no match or too many, files that
 * are unreadable or link out of the checkout, and ids that two suites share. Reported paths are relative to `cwd`, with `/`.
 */
export async function loadSuites(
  patterns: string[],
  options: { cwd: string; hasOwnChecks?: boolean },
): Promise<LoadedSuites> {
  const findings = createFindings();
  const files = new Map<string, string>();
  for (const pattern of patterns) {
    const matches = await listFiles(pattern, options.cwd).catch(findings.absorb);
    if (matches === undefined) continue;
    if (matches.length === 0) {
      const message = `No file matches ${JSON.stringify(pattern)}; patterns are relative to the working directory, such as evals/*.evals.yaml`;
      findings.add({ code: 'no-files', message, input: 'evals' });
    }
    // Compares files by their real path, so that a link to a file that is read anyway adds nothing.
    for (const match of matches) {
      const target = await realpath(resolve(options.cwd, match));
      const earlier = files.get(target);
      if (earlier === undefined || compareText(match, earlier) < 0) files.set(target, match);
    }
  }

  const suites: Suite[] = [];
  for (const file of [...files.values()].toSorted(compareText)) {
    const reading = await readFileSuite(file, options);
    findings.addAll(reading.findings);
    if (reading.suite === null) continue;
    if (reading.suite.cases.every(({ modelSettings }) => modelSettings.decoyFile === null)) {
      suites.push(reading.suite);
      continue;
    }
    const { loadDecoys } = await import('./load-decoys.ts');
    const { suite, issues } = await loadDecoys(reading.suite, { cwd: options.cwd, directory: dirname(file) });
    findings.addAll(issues);
    suites.push(suite);
  }
  return { suites, findings: [...findings.issues, ...findSharedIds(suites)] };
}

async function listFiles(pattern: string, cwd: string): Promise<string[]> {
  // Takes the pattern as a file name first, since a name may contain brackets.
  if (await isFile(resolve(cwd, pattern))) return [toPortablePath(resolve(cwd, pattern), cwd)];
  const wantsPackages = pattern.includes('node_modules');
  const files: string[] = [];
  const exclude = (path: string) => !wantsPackages && path.split(/[\\/]/).at(-1) === 'node_modules';
  for await (const match of listMatches(pattern, { cwd, exclude })) {
    const path = resolve(cwd, match);
    if (await isFile(path)) files.push(toPortablePath(path, cwd));
  }
  return files;
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}

function toPortablePath(path: string, cwd: string): string {
  return relative(cwd, path).split(sep).join('/');
}

async function readFileSuite(
  file: string,
  { cwd, hasOwnChecks }: { cwd: string; hasOwnChecks?: boolean },
): Promise<{ suite: Suite | null; findings: ConfigurationIssue[] }> {
  const fail = (code: string, message: string) => ({
    suite: null,
    findings: [{ code, message, file, line: 1, column: 1 }],
  });
  const path = resolve(cwd, file);
  if (await leadsOutOfCheckout(file, cwd)) return fail('link-out-of-checkout', linkOutMessage);
  try {
    const { size } = await stat(path);
    if (size > maxFileBytes) return fail('file-too-large', describeTooLarge(size));
    const bytes = await readInput(path, { maxBytes: maxFileBytes });
    return readSuite(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { file, hasOwnChecks });
  } catch (error) {
    return error instanceof TypeError
      ? fail('not-utf8', 'The file is not UTF-8 text; save it in that encoding')
      : fail('unreadable-file', `The file cannot be read: ${describeError(error)}`);
  }
}

/** Finds suites that share an id with an earlier one, because their results could not be distinguished. */
export function findSharedIds(suites: readonly Suite[]): ConfigurationIssue[] {
  const firsts = new Map<string, Suite>();
  return suites.flatMap((suite) => {
    const first = firsts.get(suite.id);
    if (first === undefined) {
      firsts.set(suite.id, suite);
      return [];
    }
    const message = `The suite id \`${suite.id}\` is taken by ${first.location.file}; set another \`id\``;
    return [{ ...suite.location, code: 'duplicate-suite-id', message }];
  });
}
