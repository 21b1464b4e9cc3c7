import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { appendAll } from '../base/lists.ts';
import { Secret } from '../base/redaction.ts';
import { loadSuites } from '../suite/load.ts';
import { readInlineTests } from '../suite/read.ts';
import { listOptions, parseGateOptions } from './options.ts';
import { type GateOptions, gateOptionsSchema } from './options/schema.ts';
import { commandFlagCode } from './options/surfaces.ts';
import { listOtelSecrets } from './plan/otel-variables.ts';
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

/** Credentials that a runner gives a job, used or not. */
const jobCredentials = ['GITHUB_TOKEN', 'GH_TOKEN', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];

/**
 * Lists what must not be shown of the texts of options, whether or not they can be read, and of the environment. For a
 * redactor, before anything is said of either.
 */
export function listKnownSecrets(
  texts: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
): Secret[] {
  const options = listOptions().filter(({ isSecret }) => isSecret === true);
  const values = options.flatMap(({ name, isList }) => {
    const text = texts[name]?.trim() ?? '';
    // `provider=key`, of which a careless line may be nothing but the key.
    return isList === true ? text.split(/\r?\n/).map((line) => line.slice(line.indexOf('=') + 1).trim()) : [text];
  });
  const credentials = jobCredentials.map((name) => environment[name] ?? '');
  return [...values, ...credentials, ...listOtelSecrets(environment)]
    .filter((value) => value !== '')
    .map((value) => new Secret(value));
}
