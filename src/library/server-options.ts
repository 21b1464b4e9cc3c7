import { CancelledError, ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import { createRedactor, type Redactor } from '../base/redaction.ts';
import { parseDuration, systemClock } from '../base/time.ts';
import { isOwnCheck } from '../checks/own-check.ts';
import { listKnownSecrets, parseDoctorOptions } from '../gate/options.ts';
import type { GateOptions } from '../gate/options/schema.ts';
import { isReporter } from '../gate/publish/reporters.ts';
import type { ReachContext } from '../gate/reach-server.ts';
import { describeType, type GivenOptions, refuseType, throwWithOwnNames, writeOptionTexts } from './option-texts.ts';

/** How a program takes part in what a function does. */
export interface Surroundings {
  /** The directory that paths are relative to. Default: that of this process. */
  cwd?: string | undefined;
  /** The environment of the job. The server gets only an allow-listed part of it. Default: that of this process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Aborting stops everything that was started, and the function throws a `CancelledError`. */
  signal?: AbortSignal | undefined;
  /** Gets what a command would log. Default: no log. */
  logger?: Logger | undefined;
}

/** The options that start a process or reach a URL. */
const startKeys = [
  'serverCommand',
  'serverUrl',
  'mcpConfig',
  'serverCwd',
  'serverEnv',
  'serverHeaders',
  'serverOauth',
  'serverOauthSecret',
] as const;

const serverKeys = [...startKeys, 'serverReadyTimeout', 'protocol'] as const satisfies ReadonlyArray<
  keyof GivenOptions
>;

/** The options of a gate that say how a server is started or reached. */
export type ServerOptions = Pick<GivenOptions, (typeof serverKeys)[number]>;

/** The options of a function that uses a server and runs no gate, read and checked. */
interface ReadOptions {
  options: GateOptions;
  cwd: string;
  context: ReachContext & { redactor: Redactor };
}

/**
 * Reads the options of a server and those that `more` names. All other keys of `given` have to be in `own`, which the caller checks.
 *
 * @throws {ConfigurationError} with every problem of every option
 * @throws {CancelledError} if the signal has aborted
 */
export function readServerOptions(
  given: ServerOptions & Surroundings & Readonly<Record<string, unknown>>,
  {
    more = [],
    own = [],
    issues = [],
  }: {
    more?: readonly string[];
    own?: readonly string[];
    issues?: readonly ConfigurationIssue[];
  },
): ReadOptions {
  const { cwd = process.cwd(), env = process.env, signal = new AbortController().signal, logger, ...others } = given;
  const { policy } = others;
  const isPolicyValue = more.includes('policy') && typeof policy === 'object' && policy !== null;
  const texts = Object.fromEntries(
    Object.entries(others).filter(([key]) => !own.includes(key) && !(isPolicyValue && key === 'policy')),
  );
  const written = writeOptionTexts(texts, { names: [...serverKeys, ...more], others: [...own, ...surroundings] });
  const found = [...written.issues, ...checkParticipants(given), ...findProcessOptions(given), ...issues];
  if (found.length > 0) throw new ConfigurationError(found);
  if (signal.aborted) throw new CancelledError(undefined, { cause: signal.reason });
  const redactor = createRedactor();
  for (const secret of listKnownSecrets(written.texts, env)) redactor.add(secret);
  let options: GateOptions;
  try {
    const hasServer = given['server'] !== undefined;
    options = parseDoctorOptions({ ...written.texts, ...(hasServer && inProcessStand) });
    if (hasServer) options = { ...options, serverCommand: null };
  } catch (error) {
    return throwWithOwnNames(error);
  }
  return {
    options: isPolicyValue ? { ...options, policy } : options,
    cwd,
    context: { clock: systemClock, logger: logger ?? silentLogger, redactor, signal, environment: env },
  };
}

const surroundings = ['cwd', 'env', 'signal', 'logger'] as const;

/** The names of what a program gives a gate next to its options. */
export const participants: readonly string[] = [
  ...surroundings,
  'server',
  'checks',
  'models',
  'reporters',
  'onIteration',
  'onProgress',
];

/** Checks the values by which a program takes part. */
export function checkParticipants(options: Readonly<Record<string, unknown>>): ConfigurationIssue[] {
  const expect = (key: string, isRight: (value: unknown) => boolean, what: string): ConfigurationIssue[] => {
    const value = options[key];
    if (value === undefined || isRight(value)) return [];
    return [{ input: key, code: 'bad-option-type', message: refuseType(value, what) }];
  };
  const expectEach = (key: string, isRight: (value: unknown) => boolean, what: string): ConfigurationIssue[] => {
    const value = options[key];
    if (!Array.isArray(value)) return expect(key, Array.isArray, `a list of ${what}`);
    const wrong: unknown = value.find((each) => !isRight(each));
    if (wrong === undefined && value.every(isRight)) return [];
    const message = `has an entry ${value.indexOf(wrong) + 1} that is ${describeType(wrong)}; give ${what}`;
    return [{ input: key, code: 'bad-option-type', message }];
  };
  const isFunction = (value: unknown) => typeof value === 'function';
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  const isModel = (value: unknown) =>
    isRecord(value) &&
    /^[^/]+\/./.test(String(value['name'])) &&
    isRecord(value['model']) &&
    isFunction(value['model']['doGenerate']);
  const { logger } = options;
  const missing = isRecord(logger) ? loggerMethods.find((name) => !isFunction(logger[name])) : undefined;
  return [
    ...expect('server', isFunction, 'a function'),
    ...expectEach('checks', isOwnCheck, 'checks that `defineCheck` made'),
    ...expectEach('models', isModel, 'models that `defineModel` made'),
    ...expectEach('reporters', isReporter, 'reporters that `defineReporter` made'),
    ...expect('onIteration', isFunction, 'a function'),
    ...expect('onProgress', isFunction, 'a function'),
    ...expect('signal', (value) => value instanceof AbortSignal, 'an AbortSignal'),
    ...expect('cwd', (value) => typeof value === 'string', 'the path of a directory'),
    ...expect('env', isObject, 'an object'),
    ...expect('logger', isObject, wantedLogger),
    ...(missing === undefined
      ? []
      : [{ input: 'logger', code: 'bad-option-type', message: `has no method ${missing}; give ${wantedLogger}` }]),
  ];
}

const loggerMethods = Object.keys(silentLogger);
const wantedLogger = `an object with the methods ${loggerMethods.join(', ')}`;

/** Satisfies the rules of the options, which know commands and URLs only. */
export const inProcessStand = { 'server-command': 'in-process' };

/** The options that only concern a server in a process of its own, or at a URL. */
const processOptions: ReadonlySet<string> = new Set([
  ...startKeys,
  'base',
  'baseServerCommand',
  'baseServerCwd',
  'baseSetup',
  'behaviour',
  'isolation',
  'sandbox',
  'sandboxNetwork',
  'sandboxWrite',
  'enableSandbox',
  'workspace',
  'service',
  'tunnel',
]);

/** Finds options that have no effect next to `server`. */
export function findProcessOptions(options: object): ConfigurationIssue[] {
  const given = new Map(Object.entries(options));
  if (given.get('server') === undefined) return [];
  return [...given.keys()]
    .filter((key) => given.get(key) !== undefined && processOptions.has(key))
    .map((input) => ({
      input,
      code: 'option-and-server',
      message:
        'is for a server with a process or a URL of its own, and `server` makes it in this process; remove it, or give `serverCommand` instead of `server`',
    }));
}

/** Checks a text that no option of the gate has. */
export function checkText(input: string, value: unknown, wanted: string): ConfigurationIssue[] {
  if (value === undefined || (typeof value === 'string' && /\S/.test(value))) return [];
  const message = typeof value === 'string' ? `is blank; give ${wanted}` : refuseType(value, wanted);
  return [{ input, code: 'bad-option-type', message }];
}

/** Checks a number that no option of the gate has. */
export function checkWhole(input: string, value: unknown, least: number): ConfigurationIssue[] {
  if (value === undefined || (Number.isInteger(value) && Number(value) >= least && Number(value) < 2 ** 32)) return [];
  const whole = `whole number from ${least} on`;
  const isNumber = typeof value === 'number';
  const message = isNumber ? `${value} is no ${whole}` : refuseType(value, `a ${whole}`);
  return [{ input, code: 'invalid-value', message }];
}

/** Reads a duration in milliseconds, or as a text such as `2m`. */
export function readDuration(
  input: string,
  value: unknown,
  otherwise: number,
): { ms: number; issues: ConfigurationIssue[] } {
  if (value === undefined) return { ms: otherwise, issues: [] };
  const ms = typeof value === 'string' ? parseDuration(value) : value;
  if (typeof ms === 'number' && ms > 0 && Number.isFinite(ms)) return { ms, issues: [] };
  const shown = typeof value === 'object' ? describeType(value) : JSON.stringify(value);
  const message = `${shown} is no duration; give a number of milliseconds, or a text such as 2m`;
  return { ms: otherwise, issues: [{ input, code: 'invalid-value', message }] };
}

/** Runs a function whose errors are typed, also if the signal stops it. @throws {CancelledError} once the signal aborts */
export async function cancelWith<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (signal.aborted) throw new CancelledError(undefined, { cause: error });
    return throwWithOwnNames(error);
  }
}
