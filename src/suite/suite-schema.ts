import { z } from 'zod';
import {
  advancedConfigSchema,
  checksMode,
  createCaseShape,
  defaultMaxSteps,
  modelParametersSchema,
  matchOptionsSchema,
} from '../cases/case.ts';
import { maxConcurrency } from '../model/concurrency.ts';
import { writtenCheckSchema } from './assertion-schema.ts';
import { ignorePattern } from './assertion-values.ts';
import { writtenOfferSchema } from './client-offer.ts';
import { policyFileSchema, suitePolicySchema } from './policy-schema.ts';
import { hostChoice, hostId, id, modelId, protocol, runs, runsOrRange } from './scalar-schemas.ts';
import { withIssueCode, text, timeout } from '../model/written-values.ts';
import { fixtureStepsSchema, stepsSchema } from './step-schema.ts';

/** A tool that no server has, in an evals file. */
const decoySchema = z
  .strictObject({
    name: text,
    description: text.exactOptional(),
    inputSchema: z.record(z.string(), z.unknown()).exactOptional(),
  })
  .meta({ id: 'decoy', title: 'decoy', description: 'A tool that is offered to the model and that no server has.' });

export const decoyListSchema = z.array(decoySchema);

const matchSchema = matchOptionsSchema.meta({
  id: 'match',
  description: "The way in which the tool calls of a model's turn are matched with the expected ones.",
});

const checkList = z.array(writtenCheckSchema);

const caseChecksSchema = z
  .union([checkList, z.strictObject({ mode: checksMode, list: checkList.exactOptional() })])
  .meta({
    description: "Asserted at the end of every iteration. A list alone extends the suite's; `mode` says otherwise.",
  });

const caseTimeout = timeout.meta({
  description: "Time that one iteration may take, at most the gate's `timeout`. Default: the suite's.",
});

/** Model settings of a suite and of each of its cases. A case overrides its suite, key by key. */
const modelShape = {
  model: modelId.exactOptional(),
  models: z
    .array(modelId)
    .min(1)
    .refine(
      (models) => new Set(models).size === models.length,
      withIssueCode('duplicate-model', 'A model is named twice; name each once'),
    )
    .exactOptional()
    .meta({ description: 'Models for prompt steps; every case with a prompt runs with each of them.' }),
  host: hostChoice.exactOptional(),
  hosts: z
    .array(hostId)
    .min(1)
    .refine(
      (hosts) => new Set(hosts).size === hosts.length,
      withIssueCode('duplicate-host', 'A host is named twice; name each once'),
    )
    .exactOptional()
    .meta({ description: 'Hosts for prompt steps; every case with a prompt runs with each of them.' }),
  system: text.exactOptional().meta({ description: 'Instructions that the model gets before the first prompt.' }),
  temperature: z.number().min(0).max(2).exactOptional().meta({
    description: "The variation of the model's answers, 0 to 2. Default: the provider's.",
  }),
  maxSteps: z.int().min(1).max(100).exactOptional().meta({
    default: defaultMaxSteps,
    description: 'The most calls of the model for one prompt. A model that is not done by then fails the case.',
  }),
  maxResultTokens: z.int().min(1).max(1_000_000).exactOptional().meta({
    description:
      'How many tokens a result may have for the model, estimated as one for every four bytes of its text. A larger one fails the case.',
  }),
  reasoningEffort: modelParametersSchema.shape.reasoningEffort.meta({
    description: "How much the model reasons. Default: the provider's.",
  }),
  maxOutputTokens: modelParametersSchema.shape.maxOutputTokens.meta({
    description: 'How many tokens one answer of the model may have. A model that is not done by then fails the case.',
  }),
  topP: modelParametersSchema.shape.topP.meta({
    description: "The share of likely words from which the model draws, 0 to 1. Default: the provider's.",
  }),
  seed: modelParametersSchema.shape.seed.meta({
    description: "The seed of the model's draws, as far as the provider keeps to it.",
  }),
  modelTimeout: timeout.exactOptional().meta({
    description: "Time that one call of the model may take, with its repetitions. Default: the gate's `model-timeout`.",
  }),
  toolPolicy: z
    .strictObject({ allow: z.array(text).exactOptional(), deny: z.array(text).exactOptional() })
    .exactOptional()
    .meta({
      description:
        'Tools that the model may call (`allow`), or is not offered (`deny`). It gets a refusal for any other call, and the call does not count.',
    }),
  decoys: z.union([text, decoyListSchema]).exactOptional().meta({
    description:
      'Tools that are offered to the model and that no server has: a list, or the path of a JSON file with one.',
  }),
};

const fields = createCaseShape({
  title: text,
  steps: stepsSchema,
  iterations: runs,
  matchOptions: matchSchema,
  checks: caseChecksSchema,
});

/** A case with the file's own names, including fields that the API does not have. */
const caseSchema = z
  .strictObject({
    title: fields.title.meta({ description: 'A few words that say what the case shows.' }),
    id: id.exactOptional().meta({ description: 'Unique in the suite and stable; defaults to a slug of the title.' }),
    tags: z.array(text).exactOptional().meta({ description: 'Words by which cases are selected.' }),
    required: z.boolean().exactOptional().meta({ description: 'This case must pass whatever the pass rate.' }),
    negative: fields.isNegative.meta({ description: 'The model must call no tool.' }),
    runs: runsOrRange.exactOptional(),
    deterministic: z
      .boolean()
      .exactOptional()
      .meta({ description: 'True says that it gives the same result every time: it runs once and counts as known.' }),
    timeout: caseTimeout.exactOptional(),
    ...modelShape,
    client: writtenOfferSchema,
    match: fields.matchOptions,
    checks: fields.checks,
    failOnToolError: advancedConfigSchema.shape.failOnToolError.meta({
      description: 'False lets an iteration pass although a tool answered with an error.',
    }),
    expectedOutput: fields.expectedOutput.meta({ description: 'For people and judges; not compared.' }),
    scenario: fields.scenario,
    setup: fixtureStepsSchema.exactOptional().meta({
      description: "Steps before those of the case, after the suite's. One that fails leaves the iteration unscored.",
    }),
    each: z
      .array(z.record(z.string(), z.unknown()))
      .refine((rows) => rows.length > 0, withIssueCode('no-rows', 'A table has at least one row'))
      .exactOptional()
      .meta({ minItems: 1, description: 'Rows of values; the case runs once for each row, as a case of its own.' }),
    steps: fields.steps,
    teardown: fixtureStepsSchema.exactOptional().meta({
      description: "Steps after those of the case, before the suite's, whatever happened. A failure is a warning.",
    }),
  })
  .meta({ id: 'case' });

const names = z.array(text);

const upstreamSchema = z
  .union([
    text,
    z.strictObject({
      path: text.meta({ description: 'The directory of the recordings, relative to this file.' }),
      headers: names.exactOptional().meta({
        description: 'Request headers that decide if a recorded answer fits. No other request header is recorded.',
        examples: [['accept-language']],
      }),
      ignore: z
        .strictObject({
          query: names.exactOptional().meta({ description: 'Query parameters that differ each time.' }),
          body: z
            .array(z.string().regex(/^\//))
            .exactOptional()
            .meta({ description: 'JSON Pointers to parts of bodies that differ each time; `*` is any segment.' }),
        })
        .exactOptional()
        .meta({ description: 'Parts of requests that are neither recorded nor compared.' }),
      secrets: names.exactOptional().meta({
        description: 'Further names of headers, query parameters and JSON members whose values are secrets.',
      }),
      block: names.exactOptional().meta({
        description: 'Hosts that the server cannot reach, such as those of telemetry; `*.example.com` names all below.',
      }),
    }),
  ])
  .meta({
    description:
      "A directory, relative to this file, with recorded answers of the APIs that the server uses. The server's HTTP requests get these answers and no network.",
    examples: ['upstream'],
  });

/** The same limit as in upstream's suite file. */
export const maxCases = 500;

/** The evals file. The published JSON Schema is generated from it. */
export const suiteSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  suite: text.meta({ description: 'Name of the suite.' }),
  id: id.exactOptional().meta({ description: 'Stable id; defaults to a slug of the name.' }),
  ...modelShape,
  client: writtenOfferSchema,
  judgeModel: modelId.exactOptional().meta({
    description: 'Model of every `judge` that names none, as `provider/name`.',
    examples: ['openai/gpt-5-mini'],
  }),
  recordings: z
    .strictObject({
      ignore: z.array(ignorePattern).exactOptional(),
      reuse: z.literal('uncalled').exactOptional().meta({
        description:
          '`uncalled` also uses a recording where only tools differ that its case never calls. The report names them.',
      }),
    })
    .exactOptional()
    .meta({ description: 'The comparison of requests with those that recorded model answers belong to.' }),
  protocol: protocol.exactOptional(),
  runs: runsOrRange.exactOptional().meta({ default: 1 }),
  timeout: timeout.exactOptional().meta({
    description: "Time that one iteration may take, at most the gate's `timeout`. Default: 60s.",
  }),
  concurrency: z
    .union([z.literal('auto'), z.int().min(1).max(maxConcurrency)])
    .exactOptional()
    .meta({
      description: `Iterations that may run at the same time, 1 to ${maxConcurrency}. \`auto\`, the default, runs them side by side where every tool that is called is declared read-only.`,
    }),
  independent: z
    .boolean()
    .exactOptional()
    .meta({ description: 'True says that iterations share no state, so that they may run side by side.' }),
  workspace: text.exactOptional().meta({
    description:
      'A directory, relative to this file: every iteration gets a copy of it as `{{workspace}}`. `empty` is an empty directory.',
    examples: ['fixtures/notes', 'empty'],
  }),
  upstream: upstreamSchema.exactOptional(),
  match: matchSchema.exactOptional(),
  setup: fixtureStepsSchema.exactOptional().meta({
    description: 'Steps before every iteration of every case. One that fails leaves the iteration unscored.',
  }),
  teardown: fixtureStepsSchema.exactOptional().meta({
    description: 'Steps after every iteration of every case, whatever happened. A failure is a warning.',
  }),
  checks: checkList.exactOptional().meta({ description: 'Asserted at the end of every iteration of every case.' }),
  checkModules: z
    .union([text, z.array(text).min(1)])
    .exactOptional()
    .meta({
      description:
        'A TypeScript or JavaScript file, relative to this file, that exports checks of your own; or a list of such files.',
      examples: ['./my-checks.ts'],
    }),
  policy: suitePolicySchema
    .exactOptional()
    .meta({ description: 'Requirements on the results; options of the command override them.' }),
  cases: z
    .array(caseSchema)
    .refine((cases) => cases.length > 0, withIssueCode('no-cases', 'A suite has at least one case; add one'))
    .refine(
      (cases) => cases.length <= maxCases,
      withIssueCode('too-many-cases', `A suite has at most ${maxCases} cases`),
    )
    .meta({ minItems: 1, maxItems: maxCases }),
});

/** A suite as an evals file has it. */
export type SuiteInput = z.input<typeof suiteSchema>;
export type WrittenSuite = z.output<typeof suiteSchema>;
export type WrittenCase = WrittenSuite['cases'][number];

/** Builds the JSON Schema 2020-12 of the evals file, for editors. It is generated from the schema that `readSuite` uses. */
export function buildEvalsJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(suiteSchema, { io: 'input', target: 'draft-2020-12' });
  return {
    $schema,
    $id: 'urn:mcp-eval-ci:evals:1',
    title: 'Evals of an MCP server',
    description: 'A suite of cases that mcp-eval-ci runs against an MCP server.',
    ...schema,
  };
}

/** Builds the JSON Schema 2020-12 of the policy file, for editors. It is generated from the schema that `readPolicy` uses. */
export function buildPolicyJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(policyFileSchema, { io: 'input', target: 'draft-2020-12' });
  return {
    $schema,
    $id: 'urn:mcp-eval-ci:policy:1',
    title: 'Policy of an eval gate',
    description: 'Requirements on the results of one or several suites.',
    ...schema,
  };
}
