import { z } from 'zod';
import {
  describeNoElement,
  type Locator,
  pickElement,
  type ShownElement,
  type WidgetObservation,
  type WidgetParts,
  wireWidgetParts,
} from '../model/widget.ts';
import { printValue } from './reasons.ts';

/** An app in a browser, with the parts that assertions read. */
export interface AppView extends Pick<WidgetObservation, 'toolCalls'> {
  find(target: Locator): Promise<readonly ShownElement[]>;
  /** Returns the visible text. */
  readText(): Promise<string>;
}

type ElementSchema<Kind extends string, Shape extends z.ZodRawShape> = z.ZodObject<
  { kind: z.ZodLiteral<Kind>; toolName: WidgetParts['toolName'] } & Shape,
  z.core.$strict
>;

/** The complete definition of an assertion on a rendered widget. */
interface ElementDefinition<Kind extends string, Shape extends z.ZodRawShape> {
  /** The name in an evals file, after `assert:`, and the `kind` on the wire. */
  kind: Kind;
  /** The condition under which the assertion passes: its cell in the tables of docs/evals.md. */
  docs: string;
  /** The fields of the assertion apart from the tool. In the short form, the value belongs to the first field. */
  fields(this: void, parts: WidgetParts): Shape;
  sample: NoInfer<z.input<z.ZodObject<Shape>>>;
  /** Returns a clause that says what does not hold yet; null if the assertion holds. */
  judge(this: void, fields: z.infer<ElementSchema<Kind, Shape>>, app: AppView): Promise<string | null>;
}

/** A kind of assertion on a rendered widget without its type parameters, so that one list can hold all kinds. */
export interface ElementKind<Kind extends string = string, Schema extends z.ZodObject = z.ZodObject> {
  kind: Kind;
  docs: string;
  sample: { kind: string } & Record<string, unknown>;
  createSchema(this: void, parts: WidgetParts): Schema;
  judge(this: void, check: unknown, app: AppView): Promise<string | null>;
}

export function defineElementCheck<const Kind extends string, Shape extends z.ZodRawShape>({
  kind,
  docs,
  fields,
  sample,
  judge,
}: ElementDefinition<Kind, Shape>): ElementKind<Kind, ElementSchema<Kind, Shape>> {
  const createSchema = (parts: WidgetParts): ElementSchema<Kind, Shape> =>
    z.strictObject({ kind: z.literal(kind), toolName: parts.toolName, ...fields(parts) });
  const schema = createSchema(wireWidgetParts);
  return {
    kind,
    docs,
    sample: { kind, toolName: 'a', ...sample },
    createSchema,
    judge: async (check, app) => await judge(schema.parse(check), app),
  };
}

/**
 * Assertions on the current state of a tool's app. The browser retries until the assertion holds or the time is up. Traces do not contain
 * this state.
 */
export const elementKinds = [
  defineElementCheck({
    kind: 'textVisible',
    docs: 'the widget of `toolName` shows this text',
    fields: ({ text }) => ({ text }),
    sample: { text: 'b' },
    judge: async ({ text }, app) => {
      const found = await app.find({ text });
      if (found.some(({ isVisible }) => isVisible)) return null;
      return `the app does not show ${printValue(text)}; it shows ${printValue(await app.readText())}`;
    },
  }),
  defineElementCheck({
    kind: 'elementVisible',
    docs: 'the widget shows this element; `role`, `text`, `css` or `testId`, and `nth`, select the element',
    fields: ({ target }) => ({ target }),
    sample: { target: { css: 'a' } },
    judge: async ({ target }, app) => {
      const found = await app.find(target);
      const element = pickElement(found, target);
      if (element?.isVisible === true) return null;
      const problem =
        element === undefined ? describeNoElement(found.length, target) : `${element.name} is not visible`;
      return `${problem}: ${printValue(target)}`;
    },
  }),
  defineElementCheck({
    kind: 'elementHidden',
    docs: 'the widget does not show this element',
    fields: ({ target }) => ({ target }),
    sample: { target: { css: 'a' } },
    judge: async ({ target }, app) => {
      const found = await app.find(target);
      const element = target.nth === undefined ? found.find(({ isVisible }) => isVisible) : found[target.nth];
      return element?.isVisible === true ? `${element.name} is visible: ${printValue(target)}` : null;
    },
  }),
  defineElementCheck({
    kind: 'inputValue',
    docs: 'this element has the value `equals`',
    fields: ({ target }) => ({ target, equals: z.string() }),
    sample: { target: { css: 'a' }, equals: '' },
    judge: async ({ target, equals }, app) => {
      const found = await app.find(target);
      const element = pickElement(found, target);
      if (element === undefined) return `${describeNoElement(found.length, target)}: ${printValue(target)}`;
      const { name, value } = element;
      if (value === null) return `${name} has no value, which only fields have`;
      return value === equals ? null : `${name} has the value ${printValue(value)}, not ${printValue(equals)}`;
    },
  }),
  defineElementCheck({
    kind: 'widgetToolCalled',
    docs: 'the widget of `toolName` called this tool',
    fields: ({ toolName }) => ({ calledToolName: toolName }),
    sample: { calledToolName: 'b' },
    judge: async ({ calledToolName }, { toolCalls }) => {
      const own = toolCalls.filter(({ toolName }) => toolName === calledToolName);
      if (own.some(({ isForwarded }) => isForwarded)) return null;
      const refused = own.at(-1);
      if (refused !== undefined)
        return `the call of ${calledToolName} was refused: ${refused.error ?? 'it has no answer yet'}`;
      const names = [...new Set(toolCalls.map(({ toolName }) => toolName))].slice(0, maxNames);
      const others = names.length === 0 ? 'it called no tool' : `it called ${names.join(', ')}`;
      return `the app has not called ${calledToolName}; ${others}`;
    },
  }),
] as const;

/** Keeps the list of tools in a reason short. */
const maxNames = 10;

/** Creates the schema of all assertions on a rendered widget. */
export function createElementSchema(parts: WidgetParts) {
  const [first, ...others] = elementKinds;
  return z.discriminatedUnion('kind', [first.createSchema(parts), ...others.map((kind) => kind.createSchema(parts))]);
}

/** An assertion on a rendered widget. It needs a browser, and is unmeasured without one. */
export type ElementCheck = z.infer<ReturnType<typeof createElementSchema>>;

/** Judges an assertion on a shown widget once. Returns a clause that says what does not hold yet; null if it holds. */
export async function judgeElement(
  check: { kind: string },
  app: AppView,
  kinds: readonly ElementKind[] = elementKinds,
): Promise<string | null> {
  const found = kinds.find(({ kind }) => kind === check.kind);
  return found === undefined ? `no assertion is called ${printValue(check.kind)}` : await found.judge(check, app);
}
