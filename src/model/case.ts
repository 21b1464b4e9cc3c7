import type { ArgumentMatching, Assertion, Check, JsonObject, Locator } from './assertion.ts';

/** One step of a case, in the API's own shape. Ids are unique within the case. */
export type Step =
  | { id: string; kind: 'prompt'; prompt: string }
  | {
      id: string;
      kind: 'toolCall';
      serverName: string;
      serverId?: string;
      toolName: string;
      arguments: JsonObject;
      renderTimeoutMs?: number;
    }
  | { id: string; kind: 'interact'; toolName: string; action: InteractAction }
  | { id: string; kind: 'assert'; assertion: Assertion };

export type InteractAction =
  | { kind: 'click'; target: Locator; clickType?: 'left' | 'double' | 'right' }
  | { kind: 'type'; target: Locator; text: string }
  | { kind: 'key'; key: string }
  | { kind: 'scroll'; direction: 'up' | 'down'; amount?: number }
  | { kind: 'wait'; ms: number };

/** How the tool calls of a turn are matched with the expected ones, in the API's public vocabulary. */
export interface MatchOptions {
  /** `any`: greedy pairing; `in-order`: one forward pass with extras between; `exact`: position by position. */
  toolCallOrder: 'any' | 'in-order' | 'exact';
  extraToolCalls: 'unlimited' | number;
  arguments: ArgumentMatching;
}

export const defaultMatchOptions: MatchOptions = {
  toolCallOrder: 'any',
  extraToolCalls: 'unlimited',
  arguments: 'partial',
};

/** Which checks a case ends with: the suite's, its own instead, or both. */
export interface ChecksEnvelope {
  mode: 'inherit' | 'replace' | 'extend';
  list: Check[];
}

/** The same options in the vocabulary that the API's inline tests alone accept. */
export interface InternalMatchOptions {
  toolCallOrder: 'ignore' | 'superset' | 'strict';
  maxExtraToolCalls: number | null;
  argumentMatching: ArgumentMatching;
}

/**
 * One case as the API's inline tests carry it: what crosses from an evals file to a service, and what the engine runs.
 * `advancedConfig` is open on the wire; the gate's two keys travel there because the API has no field for them.
 */
export interface TestCase {
  title: string;
  steps: Step[];
  runs: number;
  model?: string;
  provider?: string;
  expectedOutput?: string;
  isNegativeTest?: boolean;
  scenario?: string;
  matchOptions?: InternalMatchOptions;
  predicates?: ChecksEnvelope;
  advancedConfig?: {
    system?: string;
    temperature?: number;
    toolChoice?: 'auto' | 'none' | 'required' | { type: 'tool'; toolName: string };
    /** False lets an iteration pass although a tool answered with an error. */
    failOnToolError?: boolean;
    /** How long one iteration may take, in milliseconds. */
    timeoutMs?: number;
  };
}

/**
 * A case as the API's case routes read and write it. Their vocabulary is not that of inline tests, which is `TestCase`:
 * they say `iterations`, `isNegative` and `checks`, and name match options in the public words.
 */
export interface CaseFields {
  title: string;
  steps: readonly Step[];
  expectedOutput?: string;
  iterations?: number;
  isNegative?: boolean;
  scenario?: string;
  models?: ReadonlyArray<{ model: string; provider?: string }>;
  matchOptions?: MatchOptions;
  checks?: ChecksEnvelope;
}

/** What a case is to say from now on; null clears checks or match options, and absent fields stay as they are. */
export type CaseChanges = Partial<Omit<CaseFields, 'checks' | 'matchOptions'>> & {
  checks?: ChecksEnvelope | null;
  matchOptions?: MatchOptions | null;
};

/** A case as a service gave it. Fields may be missing, and what they hold is compared, never executed. */
export interface StoredCase {
  id: string;
  title?: string | null | undefined;
  steps?: readonly unknown[] | null | undefined;
  expectedOutput?: string | null | undefined;
  iterations?: number | null | undefined;
  isNegative?: boolean | null | undefined;
  scenario?: string | null | undefined;
  models?: ReadonlyArray<{ model: string; provider?: string | null | undefined }> | null | undefined;
  matchOptions?: Record<string, unknown> | null | undefined;
  checks?: Record<string, unknown> | null | undefined;
}

const internalOrder = { any: 'ignore', 'in-order': 'superset', exact: 'strict' } as const;
const publicOrder = { ignore: 'any', superset: 'in-order', strict: 'exact' } as const;

export function toInternalMatchOptions(options: MatchOptions): InternalMatchOptions {
  return {
    toolCallOrder: internalOrder[options.toolCallOrder],
    maxExtraToolCalls: options.extraToolCalls === 'unlimited' ? null : options.extraToolCalls,
    argumentMatching: options.arguments,
  };
}

export function toPublicMatchOptions(options: InternalMatchOptions): MatchOptions {
  return {
    toolCallOrder: publicOrder[options.toolCallOrder],
    extraToolCalls: options.maxExtraToolCalls ?? 'unlimited',
    arguments: options.argumentMatching,
  };
}
