import { z } from 'zod';
import type { Check } from '../checks/assertion.ts';
import { argumentMatching } from '../checks/parts.ts';
import { clientOfferSchema } from '../model/client-abilities.ts';
import { protocolRevisions } from '../model/protocol.ts';
import type { Step } from './step.ts';

/**
 * How the tool calls of a turn are matched with the expected ones, in the API's public vocabulary; what is absent is left to the
 * layer below. `any`: greedy pairing; `in-order`: one forward pass with extras between; `exact`: position by position.
 */
export const matchOptionsSchema = z.strictObject({
  toolCallOrder: z.enum(['any', 'in-order', 'exact']).exactOptional(),
  extraToolCalls: z.union([z.literal('unlimited'), z.int().min(0)]).exactOptional(),
  arguments: argumentMatching.exactOptional(),
});

/** Any of the options. */
export type MatchOptionsLayer = z.infer<typeof matchOptionsSchema>;
export type MatchOptions = Required<MatchOptionsLayer>;

/** The same options in the vocabulary that inline tests alone accept. `allowExtraToolCalls` is its older spelling of a limit. */
export const internalMatchOptionsSchema = z.strictObject({
  toolCallOrder: z.enum(['ignore', 'superset', 'strict']).exactOptional(),
  maxExtraToolCalls: z.int().min(0).nullable().exactOptional(),
  allowExtraToolCalls: z.boolean().exactOptional(),
  argumentMatching: argumentMatching.exactOptional(),
});

export type InternalMatchOptions = Required<Omit<z.infer<typeof internalMatchOptionsSchema>, 'allowExtraToolCalls'>>;

export const defaultMatchOptions: MatchOptions = {
  toolCallOrder: 'any',
  extraToolCalls: 'unlimited',
  arguments: 'partial',
};

/** Which checks a case ends with: the suite's, its own instead, or both. */
export const checksMode = z.enum(['inherit', 'replace', 'extend']);

export interface ChecksEnvelope {
  mode: z.infer<typeof checksMode>;
  list: Check[];
}

const toolName = z.string().min(1);

/** What a model may call; without `allow`, every tool that `deny` does not name. */
export const toolPolicySchema = z.strictObject({
  allow: z.array(toolName).exactOptional(),
  deny: z.array(toolName).exactOptional(),
});
export type ToolPolicy = z.infer<typeof toolPolicySchema>;

export function isForbidden(name: string, { allow, deny = [] }: ToolPolicy): boolean {
  return deny.includes(name) || allow?.includes(name) === false;
}

/** A tool that is offered to a model and that no server has. */
export const decoyToolSchema = z.strictObject({
  name: toolName,
  description: z.string().exactOptional(),
  inputSchema: z.record(z.string(), z.unknown()).exactOptional(),
});
export type DecoyTool = z.infer<typeof decoyToolSchema>;

/** What inline tests alone can set. Open on the wire; the gate's own keys travel there because the API has no field for them. */
export const advancedConfigSchema = z.looseObject({
  system: z.string().exactOptional(),
  temperature: z.number().exactOptional(),
  toolChoice: z
    .union([z.enum(['auto', 'none', 'required']), z.strictObject({ type: z.literal('tool'), toolName: z.string() })])
    .exactOptional(),
  /** False lets an iteration pass although a tool answered with an error. */
  failOnToolError: z.boolean().exactOptional(),
  /** How long one iteration may take, in milliseconds; the time in which it waits for a model is not counted. */
  timeoutMs: z.number().positive().exactOptional(),
  /** Calls of the model per prompt. */
  maxSteps: z.int().min(1).exactOptional(),
  /** Of each result, as it is shown to the model; estimated. */
  maxResultTokens: z.int().min(1).exactOptional(),
  toolPolicy: toolPolicySchema.exactOptional(),
  decoys: z.array(decoyToolSchema).exactOptional(),
  /** The revision of MCP that the case is run in, where the run has servers that are spoken to in different ones. */
  protocol: z.enum(protocolRevisions).exactOptional(),
  /** Whether `{{name}}` in steps and checks stands for a value. */
  placeholders: z.boolean().exactOptional(),
  client: clientOfferSchema.exactOptional(),
});

/** Calls of the model per prompt where a case does not say. */
export const defaultMaxSteps = 10;

/** The values that a case consists of; the evals file and the wire differ in these, and in the names of the fields. */
export interface CaseValues<Steps extends z.ZodType, Options extends z.ZodType, Checks extends z.ZodType> {
  title: z.ZodType<string, string>;
  steps: Steps;
  /** How often the case runs. */
  iterations: z.ZodType<number, number>;
  matchOptions: Options;
  checks: Checks;
}

/** The fields of a case under the names that the API's case routes read and write. */
export function createCaseShape<Steps extends z.ZodType, Options extends z.ZodType, Checks extends z.ZodType>(
  values: CaseValues<Steps, Options, Checks>,
) {
  return {
    title: values.title,
    steps: values.steps,
    /** For people and judges; not compared. */
    expectedOutput: z.string().exactOptional(),
    iterations: values.iterations.exactOptional(),
    /** The model must call no tool. */
    isNegative: z.boolean().exactOptional(),
    scenario: z.string().exactOptional(),
    models: z.array(z.strictObject({ model: z.string().min(1), provider: z.string().exactOptional() })).exactOptional(),
    matchOptions: values.matchOptions.exactOptional(),
    checks: values.checks.exactOptional(),
  };
}

/** The same fields as inline tests name them: `runs`, `isNegativeTest`, `predicates`, and one model apart from its provider. */
export function createTestShape<Steps extends z.ZodType, Options extends z.ZodType, Checks extends z.ZodType>(
  values: CaseValues<Steps, Options, Checks>,
) {
  const { title, steps, expectedOutput, isNegative, scenario, matchOptions, checks } = createCaseShape(values);
  return {
    title,
    steps,
    expectedOutput,
    isNegativeTest: isNegative,
    scenario,
    matchOptions,
    predicates: checks,
    advancedConfig: advancedConfigSchema
      .extend({ setup: values.steps.exactOptional(), teardown: values.steps.exactOptional() })
      .exactOptional(),
    runs: values.iterations,
    model: z.string().min(1).exactOptional(),
    provider: z.string().min(1).exactOptional(),
  };
}

type StepsSchema = z.ZodType<Step[]>;
type ChecksSchema = z.ZodType<ChecksEnvelope>;

/** A case as the API's case routes read and write it. */
export type CaseFields = z.infer<
  z.ZodObject<ReturnType<typeof createCaseShape<z.ZodType<readonly Step[]>, z.ZodType<MatchOptions>, ChecksSchema>>>
>;

/** One case as the API's inline tests carry it: what crosses from an evals file to a service, and what the engine runs. */
export type TestCase = z.infer<
  z.ZodObject<ReturnType<typeof createTestShape<StepsSchema, z.ZodType<InternalMatchOptions>, ChecksSchema>>>
>;

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
