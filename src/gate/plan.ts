import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { Secret } from '../base/redaction.ts';
import type { Suite } from '../model/suite.ts';
import { buildReportJsonSchema } from '../report/schema.ts';
import { readInlineTests } from '../suite/inline.ts';
import { findSharedIds, loadSuites } from '../suite/load.ts';
import { selectCases } from '../suite/select.ts';
import { planOneServer } from './one-server.ts';
import type { GateOptions } from './options.ts';

/** Everything the gate is going to do, decided and checked; nothing has been started, created or written yet. */
export interface GatePlan {
  suites: PlannedSuite[];
  server: PlannedServer;
  timeoutMs: number;
  isolation: 'iteration' | 'run';
  /** Absolute, and as the user wrote it, for messages and outputs. */
  reportDir: { path: string; label: string };
  annotations: boolean;
  summary: boolean;
}

export interface PlannedSuite {
  suite: Suite;
  /** Fraction 0..1. */
  minimumPassRate: number;
  /** `min-pass-rate`, `evals/x.evals.yaml:4` or `default`. */
  minimumPassRateSource: string;
}

export interface PlannedServer {
  command: string | null;
  url: string | null;
  /** Absolute. */
  cwd: string;
  /** Added to the allow-listed environment that every server gets. Printed as names only. */
  environment: ReadonlyMap<string, Secret>;
  /** Those of the values that no output may show. */
  secrets: readonly Secret[];
  readyTimeoutMs: number;
}

/** What the plan depends on besides the options; passed in, so that nothing below reads the process. */
export interface PlanContext {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the evals files and settles every option into a plan.
 *
 * @throws {ConfigurationError} with every finding of every file and every option at once.
 */
export async function planGate(options: GateOptions, context: PlanContext): Promise<GatePlan> {
  const issues: ConfigurationIssue[] = [];

  const loaded = await loadSuites(options.evals, { cwd: context.cwd });
  issues.push(...loaded.findings);
  const suites = [...loaded.suites];
  if (options.tests !== null) {
    const inline = readInlineTests(options.tests, { file: 'tests', name: 'Inline tests' });
    issues.push(...inline.findings);
    if (inline.suite !== null) {
      suites.push(inline.suite);
      const sharedWithFile = loaded.suites.filter(({ id }) => id === inline.suite?.id).slice(0, 1);
      issues.push(...findSharedIds([...sharedWithFile, inline.suite]));
    }
  }

  // A selection over half-read suites would report names as unknown that are only unreadable.
  const selection = { cases: options.cases, tags: options.tags, runs: options.runs };
  const selected = issues.length === 0 ? selectCases(suites, selection) : { suites, issues: [] };
  const planned = selected.suites.map(planOneServer);
  issues.push(
    ...selected.issues,
    ...selected.suites.flatMap(findPromptSteps),
    ...planned.flatMap((plan) => plan.issues),
  );

  const environment = resolveServerEnvironment(options.serverEnv, context.environment, issues);
  const serverCwd = resolve(context.cwd, options.serverCwd ?? '.');
  if (!(await isDirectory(serverCwd))) {
    const message = `${JSON.stringify(options.serverCwd ?? '.')} is not a directory; it is taken relative to the working directory, so check the path and that an earlier step makes it`;
    issues.push({ input: 'server-cwd', code: 'no-directory', message });
  }
  if (issues.length > 0) throw new ConfigurationError(issues);

  return {
    suites: planned.map(({ suite }) => planSuite(suite, options.minPassRate)),
    server: {
      command: options.serverCommand,
      url: options.serverUrl,
      cwd: serverCwd,
      environment,
      secrets: listSecrets(environment, options.serverEnv),
      readyTimeoutMs: options.serverReadyTimeout,
    },
    timeoutMs: options.timeout,
    isolation: options.isolation,
    reportDir: { path: resolve(context.cwd, options.reportDir ?? '.'), label: options.reportDir ?? '.' },
    annotations: options.annotations,
    summary: options.summary,
  };
}

/** What the job passes through is often a secret of it, and what a workflow writes out only where it is called one. */
const secretName = /key|token|secret|pass|pwd|credential|auth|private|signature|cookie|dsn/i;
const urlWithPassword = /:\/\/[^/?#\s]*:[^/?#\s]+@/;

function listSecrets(environment: ReadonlyMap<string, Secret>, written: GateOptions['serverEnv']): Secret[] {
  const secrets = [...environment]
    .filter(([name, value]) => written.get(name) === null || isSecret(name, value))
    .map(([, value]) => value);
  if (secrets.length === 0) return [];
  // `failed` hides nothing, and taken out of everything it would take the verdict along.
  const vocabulary = JSON.stringify(buildReportJsonSchema());
  return secrets.filter((secret) => !vocabulary.includes(secret.reveal()));
}

function isSecret(name: string, value: Secret): boolean {
  return secretName.test(name) || urlWithPassword.test(value.reveal());
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

function planSuite(suite: Suite, override: number | null): PlannedSuite {
  if (override !== null) return { suite, minimumPassRate: override, minimumPassRateSource: 'min-pass-rate' };
  const { minimumPassRate, minimumPassRateLocation: location } = suite.policy;
  if (minimumPassRate === null) return { suite, minimumPassRate: 1, minimumPassRateSource: 'default' };
  const source = location === null ? suite.location.file : `${location.file}:${location.line}`;
  return { suite, minimumPassRate, minimumPassRateSource: source };
}

/** A gate that skipped them would judge less than the file asks for, so they are refused before anything starts. */
function findPromptSteps(suite: Suite): ConfigurationIssue[] {
  return suite.cases.flatMap((testCase) =>
    testCase.steps
      .filter(({ step }) => step.kind === 'prompt')
      .map(({ location }) => ({
        ...location,
        code: 'prompt-step-unsupported',
        message: `case "${testCase.title}" has a prompt step, and this version runs no models; leave the case out with \`cases\` or \`tags\`, or test its tools with toolCall steps`,
      })),
  );
}

function resolveServerEnvironment(
  variables: GateOptions['serverEnv'],
  jobEnvironment: PlanContext['environment'],
  issues: ConfigurationIssue[],
): Map<string, Secret> {
  const resolved = new Map<string, Secret>();
  for (const [name, value] of variables) {
    const found = value ?? jobEnvironment[name];
    if (found !== undefined) resolved.set(name, new Secret(found));
    else {
      const message = `${name} is to be passed through, but this job has no such variable; set it or write ${name}=value`;
      issues.push({ input: 'server-env', code: 'missing-variable', message });
    }
  }
  return resolved;
}
