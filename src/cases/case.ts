import { z } from 'zod';
import type { Check } from '../checks/assertion.ts';
import { argumentMatching } from '../checks/parts.ts';
import { clientOfferSchema } from '../model/client-abilities.ts';
import { hostIdentitySchema } from '../model/host-identity.ts';
import { protocolRevisions } from '../model/protocol.ts';
import type { Step } from './step.ts';

/**
 * Defines how the tool calls of a turn are matched with the expected ones, in the API's public vocabulary. An absent option falls back to
 * the layer below (the suite, then the defaults). `any`: greedy pairing; `in-order`: one forward pass with extras between; `exact`:
 * position by position.
 */
export const matchOptionsSchema = z.strictObject({
  toolCallOrder: z.enum(['any', 'in-order', 'exact']).exactOptional(),
  extraToolCalls: z.union([z.literal('unlimited'), z.int().min(0)]).exactOptional(),
  arguments: argumentMatching.exactOptional(),
});

/** Match options of one layer, which may set any of them. */
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

/** Selects the checks that run at the end of a case: the suite's, the case's own instead, or both. */
export const checksMode = z.enum(['inherit', 'replace', 'extend']);

export type ChecksEnvelope = {
  mode: z.infer<typeof checksMode>;
  list: Check[];
};

const toolName = z.string().min(1);

/** The tools that a model may call. Without `allow`, it may call every tool that `deny` does not name. */
export const toolPolicySchema = z.strictObject({
  allow: z.array(toolName).exactOptional(),
  deny: z.array(toolName).exactOptional(),
});
export type ToolPolicy = z.infer<typeof toolPolicySchema>;

export function isForbidden(name: string, { allow, deny = [] }: ToolPolicy): boolean {
  return deny.includes(name) || allow?.includes(name) === false;
}

/** A tool that is offered to a model although no server has it. */
export const decoyToolSchema = z.strictObject({
  name: toolName,
  description: z.string().exactOptional(),
  inputSchema: z.record(z.string(), z.unknown()).exactOptional(),
});
export type DecoyTool = z.infer<typeof decoyToolSchema>;

/** The amounts of reasoning, from none to the most. No provider has all of them. */
const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Parameters of every call of a model. The provider decides about those that are absent. */
export const modelParametersSchema = z.strictObject({
  reasoningEffort: z.enum(reasoningEfforts).exactOptional(),
  /** The largest size of one answer, in tokens. */
  maxOutputTokens: z.int().min(1).exactOptional(),
  topP: z.number().min(0).max(1).exactOptional(),
  seed: z.int().exactOptional(),
});
export type ModelParameters = z.infer<typeof modelParametersSchema>;

/** How the program of a host runs. */
export const hostProgramSchema = z.strictObject({
  builtIns: z.enum(['on', 'off']),
  /** True if the host may use the network of the machine. */
  allowsNetwork: z.boolean(),
});
export type HostProgramSettings = z.infer<typeof hostProgramSchema>;

/**
 * Settings that only inline tests can carry. The object is open on the wire: the API has no field for the gate's own keys, so they travel
 * here.
 */
export const advancedConfigSchema = z.looseObject({
  system: z.string().exactOptional(),
  temperature: z.number().exactOptional(),
  toolChoice: z
    .union([z.enum(['auto', 'none', 'required']), z.strictObject({ type: z.literal('tool'), toolName: z.string() })])
    .exactOptional(),
  /** False lets an iteration pass although a tool answered with an error. */
  failOnToolError: z.boolean().exactOptional(),
  /** The time limit of one iteration, in milliseconds. The time in which it waits for a model does not count. */
  timeoutMs: z.number().positive().exactOptional(),
  /** The largest number of model calls per prompt. */
  maxSteps: z.int().min(1).exactOptional(),
  /** The largest size of each result that the model gets, in estimated tokens. */
  maxResultTokens: z.int().min(1).exactOptional(),
  modelParameters: modelParametersSchema.exactOptional(),
  /** The time limit of one call of the model with its repetitions, in milliseconds. */
  modelTimeoutMs: z.number().positive().exactOptional(),
  toolPolicy: toolPolicySchema.exactOptional(),
  decoys: z.array(decoyToolSchema).exactOptional(),
  /** The host whose treatment of the server the model sees; absent for the gate's own loop. */
  host: hostIdentitySchema.exactOptional(),
  /** Set if the program of the host holds the conversation, instead of the gate's own loop in its profile. */
  hostProgram: hostProgramSchema.exactOptional(),
  /** The revision of MCP for this case, if the servers of the run speak different revisions. */
  protocol: z.enum(protocolRevisions).exactOptional(),
  /** True if `{{name}}` in steps and checks is replaced by a value. */
  placeholders: z.boolean().exactOptional(),
  client: clientOfferSchema.exactOptional(),
});

/** The largest number of model calls per prompt, if a case sets no limit. */
export const defaultMaxSteps = 10;

/** The schemas of the values of a case. The evals file and the wire differ in these schemas and in the names of the fields. */
export interface CaseValues<Steps extends z.ZodType, Options extends z.ZodType, Checks extends z.ZodType> {
  title: z.ZodType<string, string>;
  steps: Steps;
  /** The number of iterations. */
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
    /** For people and judges; the gate does not compare it. */
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

/**
 * The same fields under the names of inline tests: `runs`, `isNegativeTest`, `predicates`, and one model, with its provider in a field of
 * its own.
 */
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

/** A case in the format of the API's case routes. */
export type CaseFields = z.infer<
  z.ZodObject<ReturnType<typeof createCaseShape<z.ZodType<readonly Step[]>, z.ZodType<MatchOptions>, ChecksSchema>>>
>;

/** A case in the format of the API's inline tests. It carries the case from an evals file to a service, and the engine runs it. */
export type TestCase = z.infer<
  z.ZodObject<ReturnType<typeof createTestShape<StepsSchema, z.ZodType<InternalMatchOptions>, ChecksSchema>>>
>;

/** Changes to a stored case. Null clears checks or match options; absent fields stay unchanged. */
export type CaseChanges = Partial<Omit<CaseFields, 'checks' | 'matchOptions'>> & {
  checks?: ChecksEnvelope | null;
  matchOptions?: MatchOptions | null;
};

/** A case as a service returned it. Fields may be missing. The gate compares their contents and never executes them. */
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
