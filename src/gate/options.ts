import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { Secret } from '../base/redaction.ts';
import { loadSuites } from '../suite/load.ts';
import { readInlineTests } from '../suite/read.ts';
import type { CommandName, OptionDescription } from './options/define-option.ts';
import { commandFlagCode } from './options/list.ts';
import { fileOptions, type GateOptions, gateOptions } from './options/schema.ts';
import { parseOptions, readValues } from './options/table.ts';
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
  return parseOptions(gateOptions, texts, ({ merge, publish }): CommandName => {
    if (publish !== null) return 'publish';
    return merge.length > 0 ? 'merge' : 'run';
  });
}

/**
 * Reads the options of the command `tunnel`, which needs nothing to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseTunnelOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(gateOptions, texts, () => 'tunnel');
}

/**
 * Reads the options of commands that examine a server, which need nothing to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseDoctorOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(gateOptions, texts, () => 'doctor');
}

/**
 * Reads the options of judging a report again, which need nothing to run.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseJudgeOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  return parseOptions(gateOptions, texts, () => 'judge');
}

/**
 * Reads options like `parseGateOptions`. If some are wrong, it still checks the files that the others name, so that one run reports every
 * problem. `refused` are issues that the caller has found.
 *
 * @throws {ConfigurationError} with every problem of every option, and then of every file.
 */
export async function readGateOptions(
  texts: Readonly<Record<string, string | undefined>>,
  {
    cwd,
    refused = [],
    hasOwnChecks = false,
  }: { cwd: string; refused?: readonly ConfigurationIssue[]; hasOwnChecks?: boolean },
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
  throw new ConfigurationError([...issues, ...(await findFileIssues(texts, { cwd, hasOwnChecks }))], {
    cause: problem,
  });
}

async function findFileIssues(
  texts: Readonly<Record<string, string | undefined>>,
  reading: { cwd: string; hasOwnChecks: boolean },
): Promise<ConfigurationIssue[]> {
  const { values: data } = readValues(fileOptions, texts);
  // Commands that read reports do not read evals files.
  if (data === null || data.merge.length > 0 || data.publish !== null) return [];
  const findings = createFindings();
  await readPolicyOption(data.policy, reading.cwd, findings);
  findings.addAll((await loadSuites(data.evals, reading)).findings);
  if (data.tests !== null) {
    findings.addAll(readInlineTests(data.tests, { ...reading, file: 'tests', name: 'Inline tests' }).findings);
  }
  return findings.issues;
}

/** Credentials that a runner gives to a job. */
const jobCredentials = ['GITHUB_TOKEN', 'GH_TOKEN', 'ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];

/**
 * Lists the secrets in the texts of options, valid or not, and in the environment. Pass them to a redactor before any output about either.
 */
export function listKnownSecrets(
  texts: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
  options: readonly OptionDescription[] = gateOptions.options,
): Secret[] {
  const values = options.flatMap(({ name, secret }) => {
    const text = texts[name]?.trim() ?? '';
    if (secret === undefined) return [];
    if (secret === 'value') return [text];
    // A line without a separator may be just the secret, so it counts as a whole.
    const found = text.split(/\r?\n/).map((line) => line.slice(line.indexOf(secret) + 1).trim());
    return secret === ':' ? [...found, ...found.flatMap(listCredentials)] : found;
  });
  const credentials = jobCredentials.map((name) => environment[name] ?? '');
  return [...values, ...credentials, ...listOtelSecrets(environment)]
    .filter((value) => value !== '')
    .map((value) => new Secret(value));
}
