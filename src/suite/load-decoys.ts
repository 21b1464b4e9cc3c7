import { join, resolve } from 'node:path';
import { type ConfigurationIssue, describeError } from '../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage, readTextFile } from '../base/files.ts';
import type { DecoyTool } from '../cases/case.ts';
import type { Suite } from '../cases/suite.ts';
import { explainIssues } from './explain-issues.ts';
import { maxFileBytes, parseSource } from './source-document.ts';
import { decoyListSchema } from './suite-schema.ts';
import { appendAll } from '../base/lists.ts';

interface DecoyPlace {
  cwd: string;
  /** The directory that decoy paths are relative to. It is itself relative to `cwd`. */
  directory: string;
}

/** Reads each decoy file that the cases of a suite name once. An unusable file is an issue. */
export async function loadDecoys(
  suite: Suite,
  place: DecoyPlace,
): Promise<{ suite: Suite; issues: ConfigurationIssue[] }> {
  const files = new Map(
    suite.cases.flatMap(({ modelSettings: { decoyFile } }) =>
      decoyFile === null ? [] : [[decoyFile.path, decoyFile] as const],
    ),
  );
  const issues: ConfigurationIssue[] = [];
  const read = new Map<string, DecoyTool[]>();
  for (const [path, { location }] of files) {
    const found = await readDecoys(join(place.directory, path), place.cwd);
    if (Array.isArray(found)) read.set(path, found);
    else
      appendAll(
        issues,
        found.issues.map((issue) => ({ ...location, ...issue })),
      );
  }
  const cases = suite.cases.map((testCase) => {
    const decoys = read.get(testCase.modelSettings.decoyFile?.path ?? '');
    return decoys === undefined ? testCase : { ...testCase, modelSettings: { ...testCase.modelSettings, decoys } };
  });
  return { suite: { ...suite, cases }, issues };
}

async function readDecoys(file: string, cwd: string): Promise<DecoyTool[] | { issues: ConfigurationIssue[] }> {
  const fail = (message: string) => ({ issues: [{ code: 'bad-decoys', message: `The decoys in ${file} ${message}` }] });
  if (await leadsOutOfCheckout(file, cwd)) return fail(`cannot be read: ${linkOutMessage}`);
  let text: string;
  try {
    text = await readTextFile(resolve(cwd, file));
  } catch (error) {
    return fail(`cannot be read: ${describeError(error)}`);
  }
  if (text.length > maxFileBytes) return fail('are larger than an evals file may be');
  const { document, findings } = parseSource(text, file);
  if (document === null || findings.length > 0) return { issues: findings };
  const parsed = decoyListSchema.safeParse(document.value);
  return parsed.success ? parsed.data : { issues: explainIssues(decoyListSchema, document, parsed.error.issues) };
}
