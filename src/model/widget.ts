import { z } from 'zod';

/** The values that what is said of a widget consists of; the evals file and the wire differ in these alone. */
export interface WidgetValues {
  toolName: z.ZodType<string>;
  /** Text, selectors and keys. */
  text: z.ZodType<string>;
  /** Which of several elements, from 0. */
  index: z.ZodType<number>;
  /** How long a `wait` takes, in milliseconds. */
  wait: z.ZodType<number>;
  /** What the refinement of a locator that finds nothing says. */
  emptyLocator: string | z.core.$ZodCustomParams;
}

const waysToFind = ['role', 'text', 'css', 'testId'] as const;

/** How a widget's element is found; an element must be found in every way that is given. */
function createLocatorSchema({ text, index, emptyLocator }: WidgetValues) {
  return z
    .strictObject({
      role: z
        .strictObject({ role: text, name: z.string().exactOptional(), exact: z.boolean().exactOptional() })
        .exactOptional(),
      text: text.exactOptional(),
      css: text.exactOptional(),
      testId: text.exactOptional(),
      nth: index.exactOptional(),
    })
    .refine((locator) => waysToFind.some((way) => locator[way] !== undefined), emptyLocator)
    .meta({ anyOf: waysToFind.map((way) => ({ required: [way] })) });
}

/** What assertions on a rendered widget and actions in it consist of. */
export function createWidgetParts(values: WidgetValues) {
  return {
    ...values,
    toolName: values.toolName.meta({ description: 'Name of a tool.' }),
    target: createLocatorSchema(values),
  };
}

export type WidgetParts = ReturnType<typeof createWidgetParts>;

/** Every action that an `interact` step can do. */
export function createActionSchemas({ text, target, wait }: WidgetParts) {
  return [
    z.strictObject({
      kind: z.literal('click'),
      target,
      clickType: z.enum(['left', 'double', 'right']).exactOptional(),
    }),
    z.strictObject({ kind: z.literal('type'), target, text: z.string().max(5000) }),
    z.strictObject({ kind: z.literal('key'), key: text }),
    z.strictObject({
      kind: z.literal('scroll'),
      direction: z.enum(['up', 'down']),
      amount: z.number().exactOptional(),
    }),
    z.strictObject({ kind: z.literal('wait'), ms: wait }),
  ] as const;
}

export type InteractAction = z.infer<ReturnType<typeof createActionSchemas>[number]>;
export type Locator = Extract<InteractAction, { kind: 'click' }>['target'];

/** An element that a locator selects, as assertions see it. */
export interface ShownElement {
  isVisible: boolean;
  /** What a field holds; null where the element is none. */
  value: string | null;
  /** Such as `<input id="city">`. */
  name: string;
}

/** The element that a locator means among those it selects: the one at `nth`, else the first visible one, else the first. */
export function pickElement<Found extends ShownElement>(found: readonly Found[], { nth }: Locator): Found | undefined {
  return nth === undefined ? (found.find(({ isVisible }) => isVisible) ?? found[0]) : found[nth];
}

/** Says that a locator selects nothing, half a sentence. */
export function describeNoElement(count: number, { nth }: Locator): string {
  return nth === undefined || count === 0 ? 'no element matches' : `only ${count} elements match`;
}

/** The outcome of the app of one tool call. */
export interface WidgetObservation {
  toolName: string;
  /** `unmeasured` says that the browser established nothing. */
  status: 'rendered' | 'failed' | 'unmeasured';
  /** One sentence where it did not render. */
  reason: string | null;
  /** From the load of its document until it said that it is initialized, in milliseconds; null unless it rendered. */
  latencyMs: number | null;
  /** What it wrote to its console as errors, what its policy refused included; `dropped` counts those that were not kept. */
  consoleErrors: { entries: readonly string[]; dropped: number };
  /** The tools that it called, in order; `error` says why a call failed or was refused. */
  toolCalls: WidgetToolCall[];
}

export interface WidgetToolCall {
  toolName: string;
  /** Whether the host passed the call on to the server. */
  isForwarded: boolean;
  error: string | null;
}

const anyText = z.string();

/** Widgets as the wire has them. */
export const wireWidgetParts = createWidgetParts({
  toolName: anyText,
  text: anyText,
  index: z.int(),
  wait: z.number().min(0).max(30_000),
  emptyLocator: 'Expected at least one of role, text, css and testId',
});

export const wireActionSchemas = createActionSchemas(wireWidgetParts);
