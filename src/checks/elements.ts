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

/** An app in a browser, as far as assertions see it. */
export interface AppView extends Pick<WidgetObservation, 'toolCalls'> {
  find(target: Locator): Promise<readonly ShownElement[]>;
  /** The text that a user sees. */
  readText(): Promise<string>;
}

type ElementSchema<Kind extends string, Shape extends z.ZodRawShape> = z.ZodObject<
  { kind: z.ZodLiteral<Kind>; toolName: WidgetParts['toolName'] } & Shape,
  z.core.$strict
>;

/** Everything that a kind of assertion on a rendered widget is. */
interface ElementDefinition<Kind extends string, Shape extends z.ZodRawShape> {
  /** Its name in an evals file, after `assert:`, and its `kind` on the wire. */
  kind: Kind;
  /** When it passes: its cell in the tables of docs/evals.md. */
  docs: string;
  /** What it asks for in addition to the tool. In the short form, the first field is the value of the name. */
  fields(this: void, parts: WidgetParts): Shape;
  sample: NoInfer<z.input<z.ZodObject<Shape>>>;
  /** Says what is not so yet, half a sentence; null where it holds. */
  judge(this: void, fields: z.infer<ElementSchema<Kind, Shape>>, app: AppView): Promise<string | null>;
}

/** A kind of assertion on a rendered widget, in a form in which all kinds stand in one list. */
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

/** What the app of a tool shows at this moment. A browser tries again until it holds or the time is over; no trace has any of it. */
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

/** A list in a reason is short. */
const maxNames = 10;

/** Assertions on a rendered widget of any kind. */
export function createElementSchema(parts: WidgetParts) {
  const [first, ...others] = elementKinds;
  return z.discriminatedUnion('kind', [first.createSchema(parts), ...others.map((kind) => kind.createSchema(parts))]);
}

/** An assertion on a rendered widget. It needs a browser, and is not measured where none is. */
export type ElementCheck = z.infer<ReturnType<typeof createElementSchema>>;

/** Judges an assertion on a shown widget once; the problem is half a sentence about what is not so yet. */
export async function judgeElement(
  check: { kind: string },
  app: AppView,
  kinds: readonly ElementKind[] = elementKinds,
): Promise<string | null> {
  const found = kinds.find(({ kind }) => kind === check.kind);
  return found === undefined ? `no assertion is called ${printValue(check.kind)}` : await found.judge(check, app);
}
