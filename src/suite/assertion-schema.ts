import { z } from 'zod';
import { namedUnion } from './named-union.ts';
import { isJsonEqual, isRecord } from '../base/json.ts';
import {
  type Assertion,
  type Check,
  combinationTypes,
  findRoleProblem,
  findWrapProblem,
  type InnerCheck,
  isCombinationType,
  type NegatableCheck,
} from '../checks/assertion.ts';
import type { CheckKind } from '../checks/define-check.ts';
import { policy, policyFields } from '../checks/parts.ts';
import { type CheckRegistry, checkRegistry } from '../checks/registry.ts';
import { createCombinationSchema, createNotSchema } from '../checks/wrappers.ts';
import { fileParts, fileWidgetParts } from './assertion-values.ts';
import { withIssueCode } from '../model/written-values.ts';

/** Reads and writes assertions as files have them, from and to the API's shape. */
interface AssertionForms {
  /** A check as a file may write it: its bare name, the API's shape, or the short form. */
  check: z.ZodType;
  /** An `assert` step's assertion: a check, or an assertion on a rendered widget. */
  assertion: z.ZodType;
  /**
   * Turns a check that `check` accepted into the API's shape.
   * @throws {z.ZodError} if `check` would not accept it.
   */
  parseCheck(this: void, written: unknown): Check;
  /**
   * Turns an assertion that `assertion` accepted into the API's shape.
   * @throws {z.ZodError} if `assertion` would not accept it.
   */
  parseAssertion(this: void, written: unknown): Assertion;
  /**
   * Writes an assertion of the API as briefly as a file may: by its name, or by its main field. Returns it unchanged if neither form means
   * the same.
   */
  shorten(this: void, assertion: Readonly<Record<string, unknown>>): unknown;
}

/** Fields that name a tool. One of them is the main field of a kind only if the kind has no other field. */
const toolFields: ReadonlySet<string> = new Set(['toolName', 'beforeToolName']);

/** The forms in which a file may write one kind of assertion, apart from the API's shape. */
interface WrittenKind {
  discriminator: 'type' | 'kind';
  name: string;
  /** The field that the short form `{ <name>: <main field>, … }` stands for: the first that names no tool, or else the first. */
  mainField: string | undefined;
  /** Null for a kind whose name is all that a file writes. */
  shortForm: z.ZodObject | null;
  /** True if the name alone is enough because every field is optional. */
  isBare: boolean;
}

/** Reads the literal of `type` or `kind`, which names the form. */
function readName({ shape: { type, kind } }: z.ZodObject): string {
  return String(type instanceof z.ZodLiteral ? type.value : kind instanceof z.ZodLiteral && kind.value);
}

function describeKind(schema: z.ZodObject, ownForm: CheckKind['shortForm']): WrittenKind {
  const { type, kind: _kind, ...fields } = schema.shape;
  const name = readName(schema);
  const names = Object.keys(fields).filter((field) => !policyFields.includes(field));
  const mainField = names.find((field) => !toolFields.has(field)) ?? names[0];
  const { [mainField ?? '']: main, ...others } = fields;
  const required = main instanceof z.ZodExactOptional ? main.unwrap() : main;
  const shape = ownForm === undefined ? { [name]: required, ...others } : { ...ownForm.fields(fileParts), ...policy };
  return {
    discriminator: type === undefined ? 'kind' : 'type',
    name,
    mainField,
    shortForm: required === undefined ? null : shareForm(z.strictObject(shape), `short-${name}`),
    isBare: Object.values(fields).every((field) => field instanceof z.ZodExactOptional),
  };
}

/** Gives a form an id, so that the JSON Schema defines it once however many alternatives refer to it. */
function shareForm<Form extends z.ZodObject>(form: Form, id: string): Form {
  return form.meta({ ...form.meta(), id });
}

/** Derives from a registry the forms in which a file may write its assertions. */
export function createAssertionForms(registry: CheckRegistry): AssertionForms {
  const checkSchemas = registry.checks.map((kind) => kind.createSchema(fileParts));
  const elementSchemas = registry.elements.map((kind) => kind.createSchema(fileWidgetParts));
  const schemas = new Map([...checkSchemas, ...elementSchemas].map((schema) => [readName(schema), schema]));
  const kinds = new Map(
    [...schemas.values()]
      .map((schema) => describeKind(schema, registry.find(readName(schema))?.shortForm))
      .map((kind) => [kind.name, kind]),
  );

  const listForms = (listed: readonly z.ZodObject[]): [z.ZodType, ...z.ZodType[]] => {
    const written = [...new Set(listed.map(readName))].flatMap((name) => kinds.get(name) ?? []);
    const bareNames = z.enum(written.filter(({ isBare }) => isBare).map(({ name }) => name));
    return [bareNames, ...listed, ...written.flatMap(({ shortForm }) => shortForm ?? [])];
  };

  /** Writes a short form out in the API's shape, with all parts of a `not` or a combination. */
  const expandShortForm = (written: unknown): unknown => {
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
    const own = registry.checks.find(
      ({ type, shortForm }) => shortForm !== undefined && kinds.get(type)?.shortForm?.safeParse(written).success,
    );
    if (own?.shortForm !== undefined) return { type: own.type, ...own.shortForm.expand(written) };
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
  };

  const refuseBadParts = (written: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    const type = combinationTypes.find((type) => type in written || written['type'] === type);
    const key = type !== undefined && type in written ? type : 'assertions';
    const list = written[key];
    if (type === undefined || !Array.isArray(list)) return;
    for (const [index, part] of list.entries()) {
      const message = findWrapProblem(type, expandShortForm(part), registry);
      if (message === null) continue;
      context.addIssue({ code: 'custom', path: [key, index], message, params: { code: 'bad-combination' } });
    }
  };
  const refuseBadRole = (written: unknown, context: z.RefinementCtx): void => {
    const problem = findRoleProblem(expandShortForm(written), registry);
    if (problem === null) return;
    context.addIssue({ code: 'custom', message: problem.message, params: { code: 'bad-role' } });
  };

  const plainChecks: readonly z.ZodObject[] = checkSchemas.map((schema) => shareForm(schema, readName(schema)));

  /** The assertions that `anyOf` and `allOf` combine. The schema is lazy because a part may be a combination itself. */
  const parts = z
    .array(z.lazy((): z.ZodType => partSchema))
    .refine((list) => list.length > 0, withIssueCode('no-assertions', 'Write at least one assertion'))
    .meta({ minItems: 1 });

  const combinationForms = [
    shareForm(createCombinationSchema(parts).superRefine(refuseBadParts), 'combination'),
    ...combinationTypes.map((type) =>
      shareForm(z.strictObject({ [type]: parts, ...policy }).superRefine(refuseBadParts), `short-${type}`),
    ),
  ];

  /** The assertions that `not` may wrap. Heuristics, judges and another `not` are included so that each gets its own message. */
  const negatedSchema = namedUnion([...listForms(plainChecks), ...combinationForms, nestedNot])
    .superRefine((written, context) => {
      const message = findWrapProblem('not', expandShortForm(written), registry);
      if (message !== null) context.addIssue({ code: 'custom', message, params: { code: 'bad-negation' } });
    })
    .meta({ id: 'negated', title: 'assertion', description: 'The assertion that must not hold.' });

  const wrappingForms = [
    shareForm(createNotSchema(negatedSchema), 'not'),
    shareForm(z.strictObject({ not: negatedSchema, ...policy }), 'short-not'),
    ...combinationForms,
  ];

  /** One assertion of a combination. Heuristics and judges are included so that each gets its own message. */
  const partSchema: z.ZodType = namedUnion([...listForms(plainChecks), ...wrappingForms]).meta({
    id: 'part',
    title: 'assertion',
    description: 'One of several assertions.',
  });

  const check = namedUnion([...listForms(plainChecks), ...wrappingForms])
    .superRefine(refuseBadRole)
    .meta({ id: 'check', title: 'check', description: 'An assertion that must hold at the end of an iteration.' });
  const assertion = namedUnion([...listForms([...plainChecks, ...elementSchemas]), ...wrappingForms])
    .superRefine(refuseBadRole)
    .meta({
      id: 'assertion',
      title: 'assertion',
      description: 'An assertion that must hold at this point of the case.',
    });

  /** Parses a check that `check` accepted and that is already expanded into the API's shape, inside and out. */
  const parseExpanded = (expanded: unknown): Check => {
    const { type } = named.parse(expanded);
    if (type === 'not') return notSchema.parse(expanded);
    if (isCombinationType(type)) return combinationSchema.parse(expanded);
    const schema = registry.find(type) === null ? undefined : schemas.get(type);
    if (schema === undefined) {
      const message = `There is no check ${type}.`;
      throw new z.ZodError([{ code: 'custom', path: ['type'], input: type, message }]);
    }
    return ofKind.parse(schema.parse(expanded));
  };
  const notSchema = createNotSchema(
    z.unknown().transform((part) => z.custom<NegatableCheck>().parse(parseExpanded(part))),
  );
  const combinationSchema = createCombinationSchema(
    z.array(z.unknown().transform((part) => z.custom<InnerCheck>().parse(parseExpanded(part)))),
  );

  const parseCheck = (written: unknown): Check => parseExpanded(expandShortForm(written));
  const parseAssertion = (written: unknown): Assertion => {
    const expanded = expandShortForm(written);
    const kind = isRecord(expanded) ? expanded['kind'] : undefined;
    const schema = elementSchemas.find((each) => readName(each) === kind);
    return schema === undefined ? parseCheck(written) : z.custom<Assertion>().parse(schema.parse(expanded));
  };

  const shortenKind = ({ type, kind, ...fields }: Readonly<Record<string, unknown>>): unknown => {
    const name = String(type ?? kind);
    const shortForm = registry.find(type)?.shortForm;
    if (shortForm !== undefined) return shortForm.shorten(fields);
    if (Object.keys(fields).length === 0) return name;
    const { mainField } = kinds.get(name) ?? {};
    if (mainField === undefined) return { type, kind, ...fields };
    const { [mainField]: main, ...others } = fields;
    return { [name]: main, ...others };
  };
  return {
    check,
    assertion,
    parseCheck,
    parseAssertion,
    shorten: (written) => {
      const short = shortenKind(written);
      return assertion.safeParse(short).success && isJsonEqual(parseAssertion(short), written) ? short : written;
    },
  };
}

const named = z.looseObject({ type: z.string() });

/** Types a check that the schema of its kind has accepted. */
const ofKind = z.custom<Check>();

/** Accepts a nested `not`, which no file may write, so that it gets its own message. */
const nestedNot = z.strictObject({ not: z.unknown() }).meta({ not: {} });

export const {
  check: writtenCheckSchema,
  assertion: writtenAssertionSchema,
  parseCheck,
  parseAssertion,
  shorten: shortenAssertion,
} = createAssertionForms(checkRegistry);
