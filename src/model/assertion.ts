/** How the arguments of a call are compared with the expected ones. */
export type ArgumentMatching = 'ignore' | 'partial' | 'exact';

export type JsonObject = Record<string, unknown>;

/** The API's thirteen predicates, named and shaped as on the wire (note the doubled `args.args`). */
export type Predicate =
  | {
      type: 'toolCalledWith';
      toolName: string;
      args: { args: JsonObject; argumentMatching?: ArgumentMatching };
      minCount?: number;
    }
  | { type: 'toolCalledAtLeastOnce'; toolName: string }
  | { type: 'toolNeverCalled'; toolName: string }
  | { type: 'firstToolWas'; toolName: string }
  | { type: 'responseContains'; needle: string; caseSensitive?: boolean }
  | { type: 'responseMatches'; pattern: string }
  | { type: 'noToolErrors' }
  | { type: 'finalAssistantMessageNonEmpty' }
  | { type: 'tokenBudgetUnder'; tokens: number }
  | { type: 'turnCountUnder'; turns: number }
  | { type: 'widgetRendered'; toolName?: string }
  | { type: 'widgetRenderLatencyUnder'; ms: number; toolName?: string }
  | { type: 'widgetNoConsoleErrors'; toolName?: string };

/**
 * Assertions on what a tool answered, which the API lacks. Each judges the latest tool result, or the latest of
 * `toolName` where it is given.
 */
export type ToolResultAssertion =
  | { type: 'toolResultContains'; text: string; caseSensitive?: boolean; toolName?: string }
  | { type: 'toolResultMatches'; pattern: string; toolName?: string }
  | { type: 'toolResultEquals'; value: unknown; path?: string; toolName?: string }
  | { type: 'toolResultSchema'; schema: JsonObject | boolean; toolName?: string }
  | { type: 'toolResultIsError'; isError: boolean; toolName?: string }
  | { type: 'toolLatencyUnder'; ms: number; toolName?: string }
  /** Of the latest call of the tool: the server does not list it, and answered the call with an error. */
  | { type: 'toolNotFound'; toolName: string };

/** How a widget's element is found; at least one of the first four is set. */
export interface Locator {
  role?: { role: string; name?: string; exact?: boolean };
  text?: string;
  css?: string;
  testId?: string;
  nth?: number;
}

/** Assertions on a rendered widget. They need a browser; where none runs they fail and say so. */
export type WidgetAssertion =
  | { kind: 'textVisible'; toolName: string; text: string }
  | { kind: 'elementVisible'; toolName: string; target: Locator }
  | { kind: 'elementHidden'; toolName: string; target: Locator }
  | { kind: 'inputValue'; toolName: string; target: Locator; equals: string }
  | { kind: 'widgetToolCalled'; toolName: string; calledToolName: string };

/** Anything with a `type`: the two groups above share the key, and no name occurs in both. */
export type Check = Predicate | ToolResultAssertion;

export type Assertion = Check | WidgetAssertion;

/** What a `widget…` predicate or assertion needs and the embedded service lacks. */
export const noBrowserReason = 'No browser runs here, so nothing about a widget can be established.';

const toolResultTypes: Record<ToolResultAssertion['type'], true> = {
  toolResultContains: true,
  toolResultMatches: true,
  toolResultEquals: true,
  toolResultSchema: true,
  toolResultIsError: true,
  toolLatencyUnder: true,
  toolNotFound: true,
};

/** Whether an assertion is one of the gate's own, on what a tool answered, and not one of the API. */
export function isToolResultAssertion(assertion: Assertion): assertion is ToolResultAssertion {
  return 'type' in assertion && Object.hasOwn(toolResultTypes, assertion.type);
}

/** Whether an assertion holds only if the call it judges has failed. */
export function expectsToolError(assertion: Assertion): boolean {
  if (!('type' in assertion)) return false;
  return assertion.type === 'toolNotFound' || (assertion.type === 'toolResultIsError' && assertion.isError);
}
