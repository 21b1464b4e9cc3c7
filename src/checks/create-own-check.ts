import { ConfigurationError } from '../base/errors.ts';
import { isRecord, type JsonObject } from '../base/json.ts';
import type { Evidence, FinalStates } from './evidence.ts';
import type { Judgement } from './judgement.ts';
import type { OwnCheck, OwnCheckContext } from './own-check.ts';

/** The time that a check of one's own may take if it sets no limit, in milliseconds. */
const defaultCheckTimeoutMs = 10_000;

/** A check of one's own. */
export interface OwnCheckDefinition<Fields extends object = JsonObject> {
  /** The name in an evals file, after `assert:`. No check of the gate has it. */
  name: string;
  /** JSON Schema 2020-12 of the arguments, an object. The first property is the one that `<name>: <value>` sets. */
  schema: Readonly<JsonObject>;
  /** Judges the evidence. The reason is one sentence with the finding, and with the expectation if it differs. */
  judge(this: void, fields: Fields, evidence: Evidence, context: OwnCheckContext): Judgement | Promise<Judgement>;
  /** The states that stay the same however the conversation continues. Default: `none`. */
  final?: FinalStates;
  /** Time that a judgement may take, in milliseconds. Default: 10 seconds. */
  timeoutMs?: number;
}

/** A name that a file can write as a key. */
const usableName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Checks the definition of a check, which may come from JavaScript without types.
 *
 * @throws {ConfigurationError} that names the first unusable member
 */
export function createOwnCheck(definition: Partial<Record<keyof OwnCheckDefinition, unknown>>): OwnCheck {
  const { name, schema, judge, final = 'none', timeoutMs = defaultCheckTimeoutMs } = definition;
  if (typeof name !== 'string' || !usableName.test(name)) {
    throw fail(`The \`name\` of a check is a word such as \`imageLooksLike\`, not ${describeValue(name)}`);
  }
  const refuse = (member: string, wanted: string, value: unknown) =>
    fail(`\`${member}\` of the check ${name} must be ${wanted}, not ${describeValue(value)}`);
  if (!isRecord(schema)) throw refuse('schema', 'a JSON Schema of an object', schema);
  if (typeof judge !== 'function') throw refuse('judge', 'a function', judge);
  if (!isFinal(final)) throw refuse('final', '`none`, `passed`, `failed` or `both`', final);
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0 && timeoutMs <= maxTimeoutMs)) {
    throw refuse('timeoutMs', `a number of milliseconds up to ${maxTimeoutMs}`, timeoutMs);
  }
  return { name, schema, final, timeoutMs, judge: (...asked) => Reflect.apply(judge, undefined, asked) };
}

const fail = (message: string) => new ConfigurationError([{ code: 'bad-check', message }]);

const maxTimeoutMs = 600_000;

function isFinal(value: unknown): value is FinalStates {
  return value === 'none' || value === 'passed' || value === 'failed' || value === 'both';
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === undefined) return 'nothing';
  return value === null || typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
}
