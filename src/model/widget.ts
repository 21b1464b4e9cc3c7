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

/** Every kind of assertion on a rendered widget, by its `kind`, which is its first field, and every action that an `interact` step can do. */
export function createWidgetSchemas(values: WidgetValues) {
  const { text } = values;
  const toolName = values.toolName.meta({ description: 'Name of a tool.' });
  const target = createLocatorSchema(values);
  return {
    assertions: [
      z.strictObject({ kind: z.literal('textVisible'), toolName, text }),
      z.strictObject({ kind: z.literal('elementVisible'), toolName, target }),
      z.strictObject({ kind: z.literal('elementHidden'), toolName, target }),
      z.strictObject({ kind: z.literal('inputValue'), toolName, target, equals: z.string() }),
      z.strictObject({ kind: z.literal('widgetToolCalled'), toolName, calledToolName: toolName }),
    ],
    actions: [
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
      z.strictObject({ kind: z.literal('wait'), ms: values.wait }),
    ],
  } as const;
}

type WidgetSchemas = ReturnType<typeof createWidgetSchemas>;

/** Assertions on a rendered widget. They need a browser, and are not measured where none is. */
export type WidgetAssertion = z.infer<WidgetSchemas['assertions'][number]>;
export type InteractAction = z.infer<WidgetSchemas['actions'][number]>;
export type Locator = Extract<InteractAction, { kind: 'click' }>['target'];

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
export const widgetSchemas = createWidgetSchemas({
  toolName: anyText,
  text: anyText,
  index: z.int(),
  wait: z.number().min(0).max(30_000),
  emptyLocator: 'Expected at least one of role, text, css and testId',
});

export const widgetAssertionKinds: readonly string[] = widgetSchemas.assertions.map(({ shape }) => shape.kind.value);
