import { z } from 'zod';
import { isJsonEqual, isRecord } from '../base/json.ts';
import {
  type Assertion,
  type Check,
  findRoleProblem,
  findWrapProblem,
  type GatingCheck,
  type InnerCheck,
  isCheckType,
  isCombinationType,
  type NegatableCheck,
} from '../checks/assertion.ts';
import { policyFields } from '../checks/check-parts.ts';
import { combinationTypes, createCombinationSchema, createNotSchema } from '../checks/check-schemas.ts';
import { withIssueCode } from './scalar-schemas.ts';
import { checkSchemasOfFiles, widgetSchemas } from './assertion-values.ts';

const { api, observations, toolResult, reply, reported, app, client, provider, judged } = checkSchemasOfFiles;
const gatingSchemas = { ...api, ...toolResult, ...reply, ...reported, ...app, ...client, ...provider };

const widgetSchema = z.discriminatedUnion('kind', widgetSchemas);

/** The one short form that is more than a renamed field: `arguments` stands for the doubled `args.args`. */
const { toolName: calledTool, args, minCount, role, severity } = api.toolCalledWith.shape;
const toolCalledWithSchema = shareForm(
  z.strictObject({
    toolCalledWith: calledTool,
    arguments: args.shape.args.exactOptional(),
    argumentMatching: args.shape.argumentMatching,
    minCount,
    role,
    severity,
  }),
  'short-toolCalledWith',
);

/** Fields that name a tool, and are the main one of a kind only where it has no other. */
const toolFields: ReadonlySet<string> = new Set(['toolName', 'beforeToolName']);

/** How a file writes one kind of assertion apart from the API's shape. */
interface WrittenKind {
  discriminator: 'type' | 'kind';
  name: string;
  /** The field that the short form `{ <name>: <main field>, … }` stands for: the first that names no tool, or else the first. */
  mainField: string | undefined;
  /** Null for a kind that is written as its name, and for `toolCalledWith`. */
  shortForm: z.ZodObject | null;
  /** Whether the name alone is enough, as every field may be left out. */
  isBare: boolean;
}

const kinds = new Map(
  [...Object.values(gatingSchemas), ...Object.values(observations), judged.judge, ...widgetSchemas]
    .map((schema) => describeKind(schema))
    .map((kind) => [kind.name, kind]),
);

/** The value of the first field of a form in the API's shape. */
function readName({ shape: { type, kind } }: z.ZodObject): string {
  return String(type instanceof z.ZodLiteral ? type.value : kind instanceof z.ZodLiteral && kind.value);
}

function describeKind(schema: z.ZodObject): WrittenKind {
  const { type, kind: _kind, ...fields } = schema.shape;
  const name = readName(schema);
  const names = Object.keys(fields).filter((field) => !policyFields.includes(field));
  const mainField = names.find((field) => !toolFields.has(field)) ?? names[0];
  const { [mainField ?? '']: main, ...others } = fields;
  const required = main instanceof z.ZodExactOptional ? main.unwrap() : main;
  const hasOwnForm = Object.hasOwn(toolCalledWithSchema.shape, name);
  return {
    discriminator: type === undefined ? 'kind' : 'type',
    name,
    mainField,
    shortForm:
      required === undefined || hasOwnForm
        ? null
        : shareForm(z.strictObject({ [name]: required, ...others }), `short-${name}`),
    isBare: Object.values(fields).every((field) => field instanceof z.ZodExactOptional),
  };
}

function listForms(schemas: readonly z.ZodObject[]): [z.ZodType, ...z.ZodType[]] {
  const names = new Set(schemas.map(readName));
  const written = [...names].flatMap((name) => kinds.get(name) ?? []);
  const bareNames = z.enum(written.filter(({ isBare }) => isBare).map(({ name }) => name));
  const shortForms = written.flatMap(({ shortForm }) => shortForm ?? []);
  return [bareNames, ...schemas, toolCalledWithSchema, ...shortForms];
}

/** A form with an id is written once into the JSON Schema, however many alternatives it is among. */
function shareForm<Form extends z.ZodObject>(form: Form, id: string): Form {
  return form.meta({ ...form.meta(), id });
}

const plainChecks: readonly z.ZodObject[] = [
  ...Object.values(gatingSchemas),
  ...Object.values(observations),
  judged.judge,
].map((schema) => shareForm(schema, readName(schema)));

/** What `anyOf` and `allOf` put together. Late, since a part may be one of these itself. */
const parts = z
  .array(z.lazy((): z.ZodType => partSchema))
  .refine((list) => list.length > 0, withIssueCode('no-assertions', 'Write at least one assertion'))
  .meta({ minItems: 1 });

const combinationForms = [
  shareForm(createCombinationSchema(parts).superRefine(refuseBadParts), 'combination'),
  ...combinationTypes.map((type) =>
    shareForm(z.strictObject({ [type]: parts, role, severity }).superRefine(refuseBadParts), `short-${type}`),
  ),
];

function refuseBadParts(written: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  const type = combinationTypes.find((type) => type in written || written['type'] === type);
  const key = type !== undefined && type in written ? type : 'assertions';
  const list = written[key];
  if (type === undefined || !Array.isArray(list)) return;
  for (const [index, part] of list.entries()) {
    const message = findWrapProblem(type, expandShortForm(part));
    if (message === null) continue;
    context.addIssue({ code: 'custom', path: [key, index], message, params: { code: 'bad-combination' } });
  }
}

/** What no file may write, which only gets a message of its own. */
const nestedNot = z.strictObject({ not: z.unknown() }).meta({ not: {} });

/** What `not` wraps; heuristics, judges and another `not` are among it so that they get a message of their own. */
const negatedSchema = z
  .union([...listForms(plainChecks), ...combinationForms, nestedNot])
  .superRefine((written, context) => {
    const message = findWrapProblem('not', expandShortForm(written));
    if (message !== null) context.addIssue({ code: 'custom', message, params: { code: 'bad-negation' } });
  })
  .meta({ id: 'negated', title: 'assertion', description: 'What must not hold.' });

const wrappingForms = [
  shareForm(createNotSchema(negatedSchema), 'not'),
  shareForm(z.strictObject({ not: negatedSchema, role, severity }), 'short-not'),
  ...combinationForms,
];

/** One of the parts; heuristics and judges are among it in the same way. */
const partSchema: z.ZodType = z
  .union([...listForms(plainChecks), ...wrappingForms])
  .meta({ id: 'part', title: 'assertion', description: 'One of several assertions.' });

function refuseBadRole(written: unknown, context: z.RefinementCtx): void {
  const problem = findRoleProblem(expandShortForm(written));
  if (problem !== null) {
    context.addIssue({ code: 'custom', message: problem.message, params: { code: 'bad-role' } });
  }
}

/** A check as a file may write it: its bare name, the API's shape, or the short form. */
export const writtenCheckSchema = z
  .union([...listForms(plainChecks), ...wrappingForms])
  .superRefine(refuseBadRole)
  .meta({ id: 'check', title: 'check', description: 'What must hold at the end of an iteration.' });

/** What an `assert` step may write: a check, or an assertion on a rendered widget. */
export const writtenAssertionSchema = z
  .union([...listForms([...plainChecks, ...widgetSchemas]), ...wrappingForms])
  .superRefine(refuseBadRole)
  .meta({ id: 'assertion', title: 'assertion', description: 'What must hold at this point of the case.' });

const wrappedSchema = z.looseObject({ type: z.custom<Check['type']>(isCheckType) });

/** Reads what a check wraps, which `writtenCheckSchema` has accepted. */
function parsePart(part: unknown): InnerCheck {
  const { type } = wrappedSchema.parse(part);
  if (type === 'not') return checkSchemas.not.parse(part);
  return parseNegated(part);
}

function parseNegated(part: unknown): NegatableCheck {
  const { type } = wrappedSchema.parse(part);
  if (isCombinationType(type)) return checkSchemas[type].parse(part);
  if (!isGatingType(type)) throw new TypeError(`A check cannot wrap ${type}.`);
  return gatingSchemas[type].parse(part);
}

const combinationSchema = createCombinationSchema(z.array(z.unknown().transform(parsePart)));

/** Checks in the API's shape, inside and out. */
const checkSchemas = {
  ...gatingSchemas,
  ...observations,
  ...judged,
  not: createNotSchema(z.unknown().transform(parseNegated)),
  anyOf: combinationSchema,
  allOf: combinationSchema,
};

function isGatingType(type: string): type is GatingCheck['type'] {
  return Object.hasOwn(gatingSchemas, type);
}

/**
 * Turns a check that `writtenCheckSchema` accepted into the API's shape.
 * @throws {z.ZodError} for anything it would not accept.
 */
export function parseCheck(written: unknown): Check {
  const expanded = expandShortForm(written);
  const { type } = z.looseObject({ type: z.custom<Check['type']>(isCheckType) }).parse(expanded);
  return checkSchemas[type].parse(expanded);
}

/**
 * Turns an assertion that `writtenAssertionSchema` accepted into the API's shape.
 * @throws {z.ZodError} for anything it would not accept.
 */
export function parseAssertion(written: unknown): Assertion {
  const widget = widgetSchema.safeParse(expandShortForm(written));
  return widget.success ? widget.data : parseCheck(written);
}

/** Writes out a short form. */
function expandShortForm(written: unknown): unknown {
  if (typeof written === 'string') return { type: written };
  if (!isRecord(written)) return written;
  if ('not' in written || written['type'] === 'not') {
    const { type: _not, not, assertion = not, ...others } = written;
    return { type: 'not', assertion: expandShortForm(assertion), ...others };
  }
  const combination = combinationTypes.find((type) => type in written || written['type'] === type);
  if (combination !== undefined) {
    const { type: _type, [combination]: list, assertions = list, ...others } = written;
    const expanded = Array.isArray(assertions) ? assertions.map(expandShortForm) : assertions;
    return { type: combination, assertions: expanded, ...others };
  }
  const withArguments = toolCalledWithSchema.safeParse(written);
  if (withArguments.success) {
    const { toolCalledWith, arguments: args = {}, argumentMatching, ...others } = withArguments.data;
    return {
      type: 'toolCalledWith',
      toolName: toolCalledWith,
      args: { args, ...(argumentMatching !== undefined && { argumentMatching }) },
      ...others,
    };
  }
  if ('type' in written || 'kind' in written) return written;
  const entries = Object.entries(written).map(([key, value]) => {
    const { discriminator, mainField } = kinds.get(key) ?? {};
    return discriminator === undefined || mainField === undefined
      ? [[key, value]]
      : [
          [discriminator, key],
          [mainField, value],
        ];
  });
  return Object.fromEntries(entries.flat());
}

/** Writes an assertion of the API as briefly as a file may: by its name, or by its main field; as it is where neither means the same. */
export function shortenAssertion(assertion: Readonly<Record<string, unknown>>): unknown {
  const short = shorten(assertion);
  const isValid = writtenAssertionSchema.safeParse(short).success;
  return isValid && isJsonEqual(parseAssertion(short), assertion) ? short : assertion;
}

function shorten({ type, kind, ...fields }: Readonly<Record<string, unknown>>): unknown {
  const name = String(type ?? kind);
  const { args, toolName: tool, ...rest } = fields;
  if (type === 'toolCalledWith' && isRecord(args)) {
    const { args: values, ...matching } = args;
    return { toolCalledWith: tool, arguments: values, ...matching, ...rest };
  }
  if (Object.keys(fields).length === 0) return name;
  const { mainField } = kinds.get(name) ?? {};
  if (mainField === undefined) return { type, kind, ...fields };
  const { [mainField]: main, ...others } = fields;
  return { [name]: main, ...others };
}
