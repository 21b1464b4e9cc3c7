import { isRecord, type JsonObject } from '../base/json.ts';
import { z } from 'zod';
import {
  type argumentMatching,
  combinationTypes,
  createCombinationSchema,
  createCheckSchemas,
  createNotSchema,
  isSmallSchema,
  jsonPointerPattern,
  maxNeedleLength,
  maxSchemaBytes,
} from './check-schemas.ts';
import { widgetAssertionKinds, type WidgetAssertion } from '../model/widget.ts';

export type ArgumentMatching = z.infer<typeof argumentMatching>;

const filledText = z.string().min(1);

const { api, observations, toolResult, reply, reported, app, client, provider, judged } = createCheckSchemas({
  isClosed: false,
  toolName: filledText,
  text: filledText,
  needle: filledText.max(maxNeedleLength),
  pattern: filledText,
  re2Pattern: filledText,
  pointer: z.string().regex(jsonPointerPattern, 'expected a JSON Pointer, such as /items/0/name'),
  jsonSchema: z
    .custom<JsonObject | boolean>(
      (value) => typeof value === 'boolean' || isRecord(value),
      'expected a JSON Schema: an object or a boolean',
    )
    .refine(isSmallSchema, `expected at most ${maxSchemaBytes} bytes as JSON`),
  arguments: z.custom<JsonObject>(isRecord, 'expected an object'),
  snapshot: filledText,
  ignorePattern: filledText,
  value: z.unknown().refine((value) => value !== undefined, 'expected a value'),
  count: z.int().min(1),
  milliseconds: z.number().positive(),
  model: filledText,
});

const gating = { ...api, ...toolResult, ...reply, ...reported, ...app, ...client, ...provider };
const asserting = { ...gating, ...observations, ...judged };

type AssertingByType = { [Type in keyof typeof asserting]: z.infer<(typeof asserting)[Type]> };

/** A check that gates by itself. */
export type GatingCheck = AssertingByType[keyof typeof gating];

interface Weighed {
  role?: 'gating' | 'advisory';
  severity?: 'warn';
}

export interface CombinedCheck extends Weighed {
  type: (typeof combinationTypes)[number];
  assertions: InnerCheck[];
}

/** What `not` may wrap. */
export type NegatableCheck = GatingCheck | CombinedCheck;

/** What `anyOf` and `allOf` may put together. */
export type InnerCheck = NegatableCheck | ({ type: 'not'; assertion: NegatableCheck } & Weighed);

export function isCombinationType(type: unknown): type is CombinedCheck['type'] {
  return combinationTypes.some((known) => known === type);
}

export function isCombination(check: Check | InnerCheck): check is CombinedCheck {
  return isCombinationType(check.type);
}

/** Says why a check cannot wrap a value; null where it can. */
export function findWrapProblem(wrapper: 'not' | CombinedCheck['type'], check: unknown): string | null {
  if (!isRecord(check) || typeof check['type'] !== 'string') {
    return wrapper === 'not'
      ? '`not` wraps an assertion, which has a `type`'
      : `\`${wrapper}\` wraps assertions, each of which has a \`type\``;
  }
  const { type } = check;
  if (type === 'not' && wrapper === 'not') return '`not` cannot wrap another `not`';
  if (isObservationType(type)) return `\`${type}\` is a heuristic, which \`${wrapper}\` cannot wrap`;
  if (type === 'judge') {
    const advice = wrapper === 'not' ? '; write the opposite in its rubric' : '; write what it looks for in one rubric';
    return `\`${wrapper}\` cannot wrap a \`judge\`${advice}`;
  }
  return 'role' in check || 'severity' in check ? `Write \`role\` and \`severity\` next to \`${wrapper}\`` : null;
}

const negatable = z.custom<NegatableCheck>().superRefine((check, context) => {
  const problem = findWrapProblem('not', check);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const combined = createCombinationSchema(z.array(z.custom<InnerCheck>()).min(1)).superRefine(
  ({ type, assertions }, context) => {
    for (const [index, check] of assertions.entries()) {
      const message = findWrapProblem(type, check);
      if (message !== null) context.addIssue({ code: 'custom', path: ['assertions', index], message });
    }
  },
);

/** Checks as the wire has them, which is how they are judged: any value that can be judged at all. */
export const checkSchemas = { ...asserting, not: createNotSchema(negatable), anyOf: combined, allOf: combined };

/** Every check by its type. */
export type CheckByType = { [Type in keyof typeof checkSchemas]: z.infer<(typeof checkSchemas)[Type]> };

export type ApiType = keyof typeof api;
export type ObservationType = keyof typeof observations;
export type ToolResultType = keyof typeof toolResult;
export type ReplyType = keyof typeof reply;
export type ReportedType = keyof typeof reported;
export type AppType = keyof typeof app;
export type ClientType = keyof typeof client;
export type ProviderType = keyof typeof provider;
export type JudgedType = keyof typeof judged;
export type JudgeCheck = CheckByType['judge'];

/** Anything with a `type`. */
export type Check = CheckByType[keyof CheckByType];
export type ToolResultAssertion = CheckByType[ToolResultType];
export type Assertion = Check | WidgetAssertion;

const checkTypes: ReadonlySet<string> = new Set(Object.keys(checkSchemas));

export function isCheckType(type: unknown): type is Check['type'] {
  return typeof type === 'string' && checkTypes.has(type);
}

function isObservationType(type: unknown): type is ObservationType {
  return typeof type === 'string' && Object.hasOwn(observations, type);
}

/** The names of all assertions: the types of checks and the kinds of assertions on a rendered widget. */
export const assertionNames: readonly string[] = [...checkTypes, ...widgetAssertionKinds];

/** What a `widget…` predicate or assertion needs and the embedded service lacks. */
export const noBrowserReason = 'No browser runs here, so nothing about a widget can be established.';

/** Says why the weight of a check cannot be what it says, one sentence; null where it can. */
export function findRoleProblem(check: unknown): { field: 'role' | 'severity'; message: string } | null {
  if (!isRecord(check) || isAdvisory(check)) return null;
  const { type, severity } = check;
  if (isObservationType(type)) {
    return { field: 'role', message: `\`${type}\` is a heuristic and cannot gate; write \`role: advisory\`` };
  }
  return severity === undefined ? null : { field: 'severity', message: '`severity` needs `role: advisory`' };
}

/** Whether a check is reported alone, and never changes a result. A judge only gates where it says so. */
export function isAdvisory(check: unknown): boolean {
  if (!isRecord(check)) return false;
  return check['type'] === 'judge' ? check['role'] !== 'gating' : check['role'] === 'advisory';
}

/** Whether a model judges an assertion. */
export function isJudge(assertion: Assertion): assertion is JudgeCheck {
  return 'type' in assertion && assertion.type === 'judge';
}

/** A call that an assertion expects to go wrong: the latest one of `toolName`, or of any tool where that is undefined. */
export interface ExpectedError {
  /** Of another request, the latest one is expected to. */
  of: 'tool' | 'request';
  toolName: string | undefined;
  /** Whether the tool need not exist. */
  mayBeMissing: boolean;
}

/** Lists the errors without which an assertion, or a part of it, does not hold. An advisory one need not hold. */
export function listExpectedErrors(assertion: Assertion, isNegated = false): ExpectedError[] {
  if (!('type' in assertion) || isAdvisory(assertion)) return [];
  switch (assertion.type) {
    case 'not':
      return listExpectedErrors(assertion.assertion, !isNegated);
    case 'anyOf':
    case 'allOf':
      return assertion.assertions.flatMap((part) => listExpectedErrors(part, isNegated));
    case 'toolResultIsError':
      return assertion.isError === isNegated ? [] : [{ of: 'tool', toolName: assertion.toolName, mayBeMissing: false }];
    case 'toolError':
    case 'toolNotFound':
      return isNegated
        ? []
        : [{ of: 'tool', toolName: assertion.toolName, mayBeMissing: assertion.type === 'toolNotFound' }];
    case 'requestError':
      return isNegated ? [] : [{ of: 'request', toolName: undefined, mayBeMissing: false }];
    default:
      return [];
  }
}

/** Whether an assertion, or a part of it, asks if the model refused. Advice does not. */
export function asksForRefusal(assertion: Assertion): boolean {
  if (!('type' in assertion) || isAdvisory(assertion)) return false;
  if (assertion.type === 'not') return asksForRefusal(assertion.assertion);
  if (isCombination(assertion)) return assertion.assertions.some(asksForRefusal);
  return assertion.type === 'modelRefused';
}

export function expectsToolError(assertion: Assertion): boolean {
  return listExpectedErrors(assertion).some(({ of }) => of === 'tool');
}
