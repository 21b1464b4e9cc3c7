import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { appendAll } from '../base/lists.ts';
import { readInlineTests } from '../suite/read.ts';
import { loadSuites } from '../suite/load.ts';
import { parseGateOptions } from './options.ts';
import { commandFlagCode } from './options/surfaces.ts';
import { type GateOptions, gateOptionsSchema } from './options/schema.ts';
import { readPolicyOption } from './plan/read-policy-file.ts';

/**
 * Reads options as `parseGateOptions` does. Where some are wrong, it reads the files that the others name all the same, so that
 * one run reports every problem. `refused` is what its caller has found already.
 *
 * @throws {ConfigurationError} with every problem of every option, and then of every file.
 */
export async function readGateOptions(
  texts: Readonly<Record<string, string | undefined>>,
  { cwd, refused = [] }: { cwd: string; refused?: readonly ConfigurationIssue[] },
): Promise<GateOptions> {
  // What the other options lack follows from the wrong command.
  if (refused.some(({ code }) => code !== commandFlagCode)) throw new ConfigurationError(refused);
  let problem = new ConfigurationError(refused);
  try {
    const options = parseGateOptions(texts);
    if (refused.length === 0) return options;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    problem = error;
  }
  const issues = [...new Set([...refused, ...problem.issues])];
  throw new ConfigurationError([...issues, ...(await findFileIssues(texts, cwd))], { cause: problem });
}

const fileOptions = gateOptionsSchema.pick({ evals: true, tests: true, policy: true, merge: true, publish: true });

async function findFileIssues(
  texts: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<ConfigurationIssue[]> {
  const given = Object.keys(fileOptions.shape).map((name) => [name, texts[name] ?? '']);
  const { data } = fileOptions.safeParse(Object.fromEntries(given));
  // Where reports are read, evals files are not.
  if (data === undefined || data.merge.length > 0 || data.publish !== null) return [];
  const issues: ConfigurationIssue[] = [];
  await readPolicyOption(data.policy, cwd, issues);
  appendAll(issues, (await loadSuites(data.evals, { cwd })).findings);
  if (data.tests !== null) {
    appendAll(issues, readInlineTests(data.tests, { file: 'tests', name: 'Inline tests' }).findings);
  }
  return issues;
}
