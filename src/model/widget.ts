import { z } from 'zod';

/** The schemas of the values in widget assertions and actions. The evals file and the wire differ only in these. */
export interface WidgetValues {
  toolName: z.ZodType<string>;
  /** The schema of texts, selectors and keys. */
  text: z.ZodType<string>;
  /** The index of an element among several, from 0. */
  index: z.ZodType<number>;
  /** The duration of a `wait`, in milliseconds. */
  wait: z.ZodType<number>;
  /** The message for a locator that sets no way to find an element. */
  emptyLocator: string | z.core.$ZodCustomParams;
}

const waysToFind = ['role', 'text', 'css', 'testId'] as const;

/** Creates the schema of a locator. An element must match every way that is given. */
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

/** Creates the parts that widget assertions and actions share. */
export function createWidgetParts(values: WidgetValues) {
  return {
    ...values,
    toolName: values.toolName.meta({ description: 'Name of a tool.' }),
    target: createLocatorSchema(values),
  };
}

export type WidgetParts = ReturnType<typeof createWidgetParts>;

/** Creates the schemas of all actions that an `interact` step can do. */
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

/** An element that a locator selects, in the form that assertions read. */
export interface ShownElement {
  isVisible: boolean;
  /** The value of an input field; null if the element is not a field. */
  value: string | null;
  /** For example `<input id="city">`. */
  name: string;
}

/** Picks one of the elements that a locator selects: the one at `nth`, else the first visible one, else the first. */
export function pickElement<Found extends ShownElement>(found: readonly Found[], { nth }: Locator): Found | undefined {
  return nth === undefined ? (found.find(({ isVisible }) => isVisible) ?? found[0]) : found[nth];
}

/** Returns a clause which says that a locator selects nothing. */
export function describeNoElement(count: number, { nth }: Locator): string {
  return nth === undefined || count === 0 ? 'no element matches' : `only ${count} elements match`;
}

/** The outcome of rendering the app of one tool call. */
export interface WidgetObservation {
  toolName: string;
  /** `unmeasured` means that the browser could not decide. */
  status: 'rendered' | 'failed' | 'unmeasured';
  /** One sentence if the app did not render; else null. */
  reason: string | null;
  /** The time from loading the document to the app's `initialized` notification, in milliseconds; null unless the app rendered. */
  latencyMs: number | null;
  /** Errors in the app's console, including violations of its policy. `dropped` counts the entries that were not kept. */
  consoleErrors: { entries: readonly string[]; dropped: number };
  /** The tool calls of the app, in order. `error` says why a call failed or was refused. */
  toolCalls: WidgetToolCall[];
}

export interface WidgetToolCall {
  toolName: string;
  /** True if the host forwarded the call to the server. */
  isForwarded: boolean;
  error: string | null;
}

const anyText = z.string();

/** The widget schemas of the wire. */
export const wireWidgetParts = createWidgetParts({
  toolName: anyText,
  text: anyText,
  index: z.int(),
  wait: z.number().min(0).max(30_000),
  emptyLocator: 'Expected at least one of role, text, css and testId',
});

export const wireActionSchemas = createActionSchemas(wireWidgetParts);
