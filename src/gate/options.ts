import type { z } from 'zod';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { appendAll } from '../base/lists.ts';
import { Secret } from '../base/redaction.ts';
import { loadSuites } from '../suite/load.ts';
import { readInlineTests } from '../suite/read.ts';
import {
  findBaselineIssues,
  findContradictions,
  findDoctorContradictions,
  findTunnelContradictions,
} from './options/contradictions.ts';
import { listOptions, toOptionKey, toOptionName } from './options/list.ts';
import { type GateOptions, gateOptionsSchema } from './options/schema.ts';
import { commandFlagCode } from './options/surfaces.ts';
import { listOtelSecrets } from './plan/otel-variables.ts';
import { listCredentials } from './plan/plan-access.ts';
import { readPolicyOption } from './plan/plan-policy.ts';

/**
 * Reads the texts of an action's inputs or a command's flags, keyed by kebab-case name, into options. An absent or
 * blank value means the default.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseGateOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findContradictions);
}

/**
 * Reads the options of the command `tunnel`, which needs nothing to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseTunnelOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findTunnelContradictions);
}

/**
 * Reads the options of commands that examine a server, which need nothing to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseDoctorOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findDoctorContradictions);
}

/**
 * Reads the options of judging a report again, which need nothing to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseJudgeOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(texts, findBaselineIssues);
}

function parseOptions(
  texts: Readonly<Record<string, string | undefined>>,
  findIssues: (options: GateOptions) => ConfigurationIssue[],
): GateOptions {
  const descriptions = listOptions();
  const parsed = gateOptionsSchema.safeParse(
    Object.fromEntries(
      descriptions.map(({ name, default: fallback }) => {
        const standIn = name === 'service' ? implyService(texts) : fallback;
        return [toOptionKey(name), isBlank(texts[name]) ? standIn : texts[name]];
      }),
    ),
  );
  const issues = [
    ...(parsed.success ? [] : parsed.error.issues.map(toConfigurationIssue)),
    ...(parsed.success ? findIssues(parsed.data) : []),
  ];
  if (!parsed.success || issues.length > 0) throw new ConfigurationError(issues);
  return parsed.data;
}

/** Uses the hosted service if the options have its URL and a key. With `upload`, they are only the target of the results. */
function implyService(texts: Readonly<Record<string, string | undefined>>): 'svc' | 'embedded' {
  const isUploading = !isBlank(texts['upload']) && texts['upload']?.trim() !== 'off';
  return isBlank(texts['base-url']) || isBlank(texts['api-key']) || isUploading ? 'embedded' : 'svc';
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

function toConfigurationIssue(zodIssue: z.core.$ZodIssue): ConfigurationIssue {
  const input = toOptionName(String(zodIssue.path[0]));
  return { input, code: `bad-${input}`, message: zodIssue.message };
}

/**
 * Reads options like `parseGateOptions`. If some are wrong, it still checks the files that the others name, so that one run reports every
 * problem. `refused` are issues that the caller has found.
 *
 * @throws {ConfigurationError} with every problem of every option, and then of every file.
 */
export async function readGateOptions(
  texts: Readonly<Record<string, string | undefined>>,
  { cwd, refused = [] }: { cwd: string; refused?: readonly ConfigurationIssue[] },
): Promise<GateOptions> {
  // Stops at any other issue, because the problems of the other options would only follow from it.
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
  // Commands that read reports do not read evals files.
  if (data === undefined || data.merge.length > 0 || data.publish !== null) return [];
  const issues: ConfigurationIssue[] = [];
  await readPolicyOption(data.policy, cwd, issues);
  appendAll(issues, (await loadSuites(data.evals, { cwd })).findings);
  if (data.tests !== null) {
    appendAll(issues, readInlineTests(data.tests, { file: 'tests', name: 'Inline tests' }).findings);
  }
  return issues;
}

/** Credentials that a runner gives to a job. */
const jobCredentials = ['GITHUB_TOKEN', 'GH_TOKEN', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];

/**
 * Lists the secrets in the texts of options, valid or not, and in the environment. Pass them to a redactor before any output about either.
 */
export function listKnownSecrets(
  texts: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
): Secret[] {
  const options = listOptions().filter(({ isSecret }) => isSecret === true);
  const values = options.flatMap(({ name, isList }) => {
    const text = texts[name]?.trim() ?? '';
    if (isList !== true) return [text];
    // `provider=key` and `Name: value`. A line without a separator may be just the secret, so it counts as a whole.
    const separator = name === 'server-headers' ? ':' : '=';
    const found = text.split(/\r?\n/).map((line) => line.slice(line.indexOf(separator) + 1).trim());
    return separator === ':' ? [...found, ...found.flatMap(listCredentials)] : found;
  });
  const credentials = jobCredentials.map((name) => environment[name] ?? '');
  return [...values, ...credentials, ...listOtelSecrets(environment)]
    .filter((value) => value !== '')
    .map((value) => new Secret(value));
}
