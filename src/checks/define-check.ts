import type { z } from 'zod';
import type { Ability } from '../model/client-abilities.ts';
import type { Evidence } from './evidence.ts';
import type { CheckAids, Judgement } from './judgement.ts';
import { type CheckParts, type policy, wireParts } from './parts.ts';

/** The states that no continuation of a cut transcript changes. */
export type FinalStates = 'none' | 'passed' | 'failed' | 'both';

/** A call of a trace with its answer, as far as a service has kept it. */
export interface TracedAnswer {
  toolName: string;
  /** Null where the trace does not tell. */
  latencyMs: number | null;
  errorCode: number | null;
  output: {
    text: string;
    structuredContent: unknown;
    content: readonly unknown[] | null;
    isError: boolean;
    /** Whether it is the answer as the server sent it. */
    isVerbatim: boolean;
  };
}

/** What a check of the results of tools needs of a trace. */
interface NeededResults<Fields> {
  /** Whether the latest result decides. A field `latest` of the check takes precedence. */
  latest?: true;
  /** Says what the check asks about and the trace does not have of an answer, half a sentence; null where it has all. */
  findGap?(this: void, fields: Fields, answer: TracedAnswer): string | null;
}

/** An error that an assertion expects: of the latest call of `toolName`, or of any tool where that is undefined. */
export interface ExpectedError {
  /** Of another request, the latest one is expected to fail. */
  of: 'tool' | 'request';
  toolName: string | undefined;
  /** Whether the tool need not exist. */
  mayBeMissing: boolean;
}

/** What has to be asked for at the start of a session, or opened for it, so that a check can be judged. */
export type SessionNeed = 'log' | 'lists' | 'apps' | 'browser';

/** A form in which only files write a kind. */
interface ShortForm {
  fields(this: void, parts: CheckParts): z.ZodRawShape;
  expand(this: void, written: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** The opposite. */
  shorten(this: void, fields: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** What a kind is apart from its fields. */
interface KindFacts {
  /** When it passes: its cell in the tables of docs/evals.md. */
  docs: string;
  /** `heuristic` can be right about what it saw and wrong about what that means, so that it is advisory only. */
  weight?: 'gating' | 'heuristic' | 'judge';
  /** Which hosted services know it: `contract` for every version of the API, `newer` for versions known to be newer. None unless given. */
  service?: 'contract' | 'newer';
  sessionNeeds?: readonly SessionNeed[];
  /** The ability without which no server makes the request that it asks for. */
  ability?: Ability;
  /** A short form that is more than the name and the value of one field. */
  shortForm?: ShortForm;
  /** Whether it fails unless the tool that it names was called. */
  requiresCall?: true;
  /** Whether it passes because the model refused. */
  expectsRefusal?: true;
}

/** Everything that a kind of check is. */
interface CheckDefinition<Type extends string, Shape extends z.ZodRawShape> extends KindFacts {
  /** Its name in an evals file, after `assert:`, and its `type` on the wire. */
  type: Type;
  /** What it asks for. In the short form, the first field that names no tool is the value of the name. */
  fields(this: void, parts: CheckParts): Shape;
  /** An example with every field that its tests need. */
  sample: NoInfer<z.input<z.ZodObject<Shape & typeof policy>>>;
  /** Judges what happened; the reason is one sentence of what was found, and of what was expected where that differs. */
  judge(
    this: void,
    fields: NoInfer<CheckFields<Type, Shape>>,
    evidence: Evidence,
    aids: CheckAids,
  ): Judgement | Promise<Judgement>;
  /** What a cut transcript still decides, or how that follows from what came before the cut. Nothing unless given. */
  final?: FinalStates | ((fields: NoInfer<CheckFields<Type, Shape>>, evidence: Evidence) => FinalStates);
  /** What of a hosted run's trace it is judged on. Absent where no trace has what it is about. */
  trace?: 'calls' | 'response' | NeededResults<NoInfer<CheckFields<Type, Shape>>>;
  expectError?(this: void, fields: NoInfer<CheckFields<Type, Shape>>, isNegated: boolean): ExpectedError | null;
}

export type CheckSchema<Type extends string, Shape extends z.ZodRawShape> = z.ZodObject<
  { type: z.ZodLiteral<Type> } & Shape & typeof policy
>;
export type CheckFields<Type extends string, Shape extends z.ZodRawShape> = z.infer<CheckSchema<Type, Shape>>;

/** A check whose fields have been read. */
export interface ReadCheck {
  judge(evidence: Evidence, aids: CheckAids): Judgement | Promise<Judgement>;
  finalStates(evidence: Evidence): FinalStates;
  expectError(isNegated: boolean): ExpectedError | null;
  trace:
    | null
    | 'calls'
    | 'response'
    | { toolName: string | undefined; latest: boolean; findGap(this: void, answer: TracedAnswer): string | null };
}

/** A kind of check, in a form in which all kinds stand in one list. */
export interface CheckKind<Type extends string = string, Schema extends z.ZodObject = z.ZodObject> extends KindFacts {
  type: Type;
  weight: 'gating' | 'heuristic' | 'judge';
  sample: { type: string } & Record<string, unknown>;
  isInTrace: boolean;
  createSchema(this: void, parts: CheckParts): Schema;
  /** Reads a check as the wire has it; the problem is half a sentence. */
  read(this: void, check: unknown): ReadCheck | { problem: string };
}

/** Defines a kind of check. Every table of kinds is derived from what is said here. */
export function defineCheck<const Type extends string, Shape extends z.ZodRawShape>(
  definition: CheckDefinition<Type, Shape>,
): CheckKind<Type, CheckSchema<Type, Shape>> {
  const {
    type,
    fields,
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
    judge: (evidence, aids) => judge(check, evidence, aids),
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

/** Says what is wrong with the fields of a check, half a sentence. */
export function describeMalformed({ issues: [issue] }: z.ZodError): string {
  const field = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return `${field}${issue?.message ?? 'it is not an object'}`;
}
