import type { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import { endSentence, readFirstLine } from '../base/text.ts';
import type { Ability } from '../model/client-abilities.ts';
import { createOwnCheck, type OwnCheckDefinition } from './create-own-check.ts';
import type { Evidence, FinalStates } from './evidence.ts';
import { type CheckContext, type Judgement, leaveUnmeasured } from './judgement.ts';
import type { OwnCheck } from './own-check.ts';
import { type CheckParts, type policy, wireParts } from './parts.ts';

/** A call of a trace with its answer, as far as the service recorded it. */
export interface TracedAnswer {
  toolName: string;
  /** Null if the trace does not contain it. */
  latencyMs: number | null;
  errorCode: number | null;
  output: {
    text: string;
    structuredContent: unknown;
    content: readonly unknown[] | null;
    isError: boolean;
    /** True if the answer is recorded exactly as the server sent it. */
    isVerbatim: boolean;
  };
}

/** The parts of a trace that a check of tool results needs. */
interface NeededResults<Fields> {
  /** True if only the latest result counts. A field `latest` of the check takes precedence. */
  latest?: true;
  /** Returns a clause that names the part of the answer that the check needs and the trace lacks; null if the trace has all parts. */
  findGap?(this: void, fields: Fields, answer: TracedAnswer): string | null;
}

/** An error that an assertion expects. It belongs to the latest call of `toolName`, or of any tool if that is undefined. */
export interface ExpectedError {
  /** `request` means that the latest request that is not a tool call fails. */
  of: 'tool' | 'request';
  toolName: string | undefined;
  /** True if the tool does not have to exist. */
  mayBeMissing: boolean;
}

/** A feature that a session must request or open at its start, so that a check can be judged. */
export type SessionNeed = 'log' | 'lists' | 'apps' | 'browser';

/** A short notation of a check that exists only in files. */
interface ShortForm {
  fields(this: void, parts: CheckParts): z.ZodRawShape;
  expand(this: void, written: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Reverses `expand`. */
  shorten(this: void, fields: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** The properties of a kind of check apart from its fields. */
interface KindFacts {
  /** The condition under which the check passes: its cell in the tables of docs/evals.md. */
  docs: string;
  /** `heuristic` reports facts that can have a harmless cause, so it is advisory only. */
  weight?: 'gating' | 'heuristic' | 'judge';
  /**
   * The hosted services that know the kind: `contract` for every version of the API, `newer` for versions known to be newer. Absent for
   * none.
   */
  service?: 'contract' | 'newer';
  sessionNeeds?: readonly SessionNeed[];
  /** True if the check reads the tools that a model is offered, with the decoys of its case. */
  searchesTools?: true;
  /** The client ability that a server needs before it makes the request that this check is about. */
  ability?: Ability;
  /** A short form that has more than the value of one field. */
  shortForm?: ShortForm;
  /** True if the check fails unless its tool was called. */
  requiresCall?: true;
  /** True if the check passes because the model refused. */
  expectsRefusal?: true;
}

/** The complete definition of a kind of check. */
interface CheckDefinition<Type extends string, Shape extends z.ZodRawShape> extends KindFacts {
  /** The name in an evals file, after `assert:`, and the `type` on the wire. */
  name: Type;
  /** The fields of the check. In the short form, the value belongs to the first field that is not a tool name. */
  schema(this: void, parts: CheckParts): Shape;
  /** An example that sets every field that its tests need. */
  sample: NoInfer<z.input<z.ZodObject<Shape & typeof policy>>>;
  /** Judges the evidence. The reason is one sentence with the finding, and with the expectation if it differs. */
  judge(
    this: void,
    fields: NoInfer<CheckFields<Type, Shape>>,
    evidence: Evidence,
    context: CheckContext,
  ): Judgement | Promise<Judgement>;
  /**
   * The states that a cut transcript already decides, or a function that derives them from the evidence before the cut. None by default.
   */
  final?: FinalStates | ((fields: NoInfer<CheckFields<Type, Shape>>, evidence: Evidence) => FinalStates);
  /** The part of a hosted run's trace that the check reads. Absent if no trace contains its evidence. */
  trace?: 'calls' | 'response' | NeededResults<NoInfer<CheckFields<Type, Shape>>>;
  expectError?(this: void, fields: NoInfer<CheckFields<Type, Shape>>, isNegated: boolean): ExpectedError | null;
}

export type CheckSchema<Type extends string, Shape extends z.ZodRawShape> = z.ZodObject<
  { type: z.ZodLiteral<Type> } & Shape & typeof policy
>;
export type CheckFields<Type extends string, Shape extends z.ZodRawShape> = z.infer<CheckSchema<Type, Shape>>;

/** A check with parsed fields. */
export interface ReadCheck {
  judge(evidence: Evidence, context: CheckContext): Judgement | Promise<Judgement>;
  finalStates(evidence: Evidence): FinalStates;
  expectError(isNegated: boolean): ExpectedError | null;
  trace:
    | null
    | 'calls'
    | 'response'
    | { toolName: string | undefined; latest: boolean; findGap(this: void, answer: TracedAnswer): string | null };
}

/** A kind of check without its type parameters, so that one list can hold all kinds. */
export interface CheckKind<Type extends string = string, Schema extends z.ZodObject = z.ZodObject> extends KindFacts {
  type: Type;
  weight: 'gating' | 'heuristic' | 'judge';
  sample: { type: string } & Record<string, unknown>;
  isInTrace: boolean;
  createSchema(this: void, parts: CheckParts): Schema;
  /** Reads a check in the format of the wire; `problem` is a clause. */
  read(this: void, check: unknown): ReadCheck | { problem: string };
}

/**
 * Defines a kind of check. With a JSON Schema, it is a check of your own: pass it to `runGate({ checks })`, or export it from a file that a
 * suite names as `checkModules`. With a function that makes a schema of the parts, it is a kind of the gate, and all tables of kinds derive
 * from this definition.
 *
 * @throws {ConfigurationError} if a check of your own has no usable name, schema or `judge`
 */
export function defineCheck<const Type extends string, Shape extends z.ZodRawShape>(
  definition: CheckDefinition<Type, Shape>,
): CheckKind<Type, CheckSchema<Type, Shape>>;
export function defineCheck<Fields extends object = JsonObject>(definition: OwnCheckDefinition<Fields>): OwnCheck;
export function defineCheck<Type extends string, Shape extends z.ZodRawShape>(
  definition: CheckDefinition<Type, Shape> | OwnCheckDefinition<never>,
): CheckKind<Type, CheckSchema<Type, Shape>> | OwnCheck {
  return isKindDefinition(definition) ? createKind(definition) : createOwnCheck(definition);
}

function isKindDefinition<Type extends string, Shape extends z.ZodRawShape>(
  definition: CheckDefinition<Type, Shape> | OwnCheckDefinition<never>,
): definition is CheckDefinition<Type, Shape> {
  return typeof definition.schema === 'function';
}

function createKind<const Type extends string, Shape extends z.ZodRawShape>(
  definition: CheckDefinition<Type, Shape>,
): CheckKind<Type, CheckSchema<Type, Shape>> {
  const {
    name: type,
    schema: fields,
    sample,
    judge,
    final = 'none',
    trace = null,
    expectError,
    weight = 'gating',
    ...facts
  } = definition;
  const createSchema = (parts: CheckParts): CheckSchema<Type, Shape> => parts.check(type, fields(parts));
  const schema = createSchema(wireParts);
  const bind = (check: CheckFields<Type, Shape>): ReadCheck => ({
    judge: (evidence, context) => judge(check, evidence, context),
    finalStates: (evidence) => (typeof final === 'function' ? final(check, evidence) : final),
    expectError: (isNegated) => expectError?.(check, isNegated) ?? null,
    trace: trace === null || typeof trace === 'string' ? trace : bindResults(trace, check),
  });
  return {
    ...facts,
    type,
    weight,
    sample: { type, ...sample },
    isInTrace: trace !== null,
    createSchema,
    read: (check) => {
      const parsed = schema.safeParse(check);
      return parsed.success ? bind(parsed.data) : { problem: describeMalformed(parsed.error) };
    },
  };
}

function bindResults<Fields extends object>(
  { latest, findGap }: NeededResults<Fields>,
  check: Fields,
): Exclude<ReadCheck['trace'], string | null> {
  const asked: { toolName?: unknown; latest?: unknown } = check;
  return {
    toolName: typeof asked.toolName === 'string' ? asked.toolName : undefined,
    latest: typeof asked.latest === 'boolean' ? asked.latest : latest === true,
    findGap: (answer) => findGap?.(check, answer) ?? null,
  };
}

/** Returns a clause that describes the first invalid field of a check. */
export function describeMalformed({ issues: [issue] }: z.ZodError): string {
  const field = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return `${field}${issue?.message ?? 'it is not an object'}`;
}

/** Makes a judgement of a cut transcript unmeasured, unless no continuation could change it. */
export function limitToFinal(judgement: Judgement, { cutReason }: Evidence, final: FinalStates): Judgement {
  if (cutReason === null || judgement.failsClosed === 'malformed') return judgement;
  return final === 'both' || judgement.state === final
    ? judgement
    : leaveUnmeasured(`not measured: ${endSentence(readFirstLine(cutReason))}`);
}
