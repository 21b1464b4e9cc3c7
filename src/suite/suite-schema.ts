import { z } from 'zod';
import { writtenCheckSchema } from './assertion-schema.ts';
import { advancedConfigSchema, checksMode, createCaseShape, matchOptionsSchema } from '../model/case.ts';
import { maxConcurrency } from '../model/concurrency.ts';
import { suitePolicySchema } from './policy-schema.ts';
import { demand, id, modelId, protocol, runs, text, timeout } from './scalar-schemas.ts';
import { stepsSchema } from './step-schema.ts';

const matchSchema = matchOptionsSchema.meta({
  id: 'match',
  description: "How the tool calls of a model's turn are matched with the expected ones.",
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

const fields = createCaseShape({
  title: text,
  steps: stepsSchema,
  iterations: runs,
  matchOptions: matchSchema,
  checks: caseChecksSchema,
});

/** A case under the file's own names, with what the API has no field for. */
const caseSchema = z
  .strictObject({
    title: fields.title.meta({ description: 'What the case shows, in a few words.' }),
    id: id.exactOptional().meta({ description: 'Unique in the suite and stable; defaults to a slug of the title.' }),
    tags: z.array(text).exactOptional().meta({ description: 'Words by which cases are selected.' }),
    required: z.boolean().exactOptional().meta({ description: 'This case must pass whatever the pass rate.' }),
    negative: fields.isNegative.meta({ description: 'The model must call no tool.' }),
    runs: fields.iterations,
    timeout: caseTimeout.exactOptional(),
    model: modelId.exactOptional(),
    match: fields.matchOptions,
    checks: fields.checks,
    failOnToolError: advancedConfigSchema.shape.failOnToolError.meta({
      description: 'False lets an iteration pass although a tool answered with an error.',
    }),
    expectedOutput: fields.expectedOutput.meta({ description: 'For people and judges; not compared.' }),
    scenario: fields.scenario,
    steps: fields.steps,
  })
  .meta({ id: 'case' });

/** As upstream's suite file. */
const maxCases = 500;

/** The evals file as written. The published JSON Schema is generated from it. */
export const suiteSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  suite: text.meta({ description: 'Name of the suite.' }),
  id: id.exactOptional().meta({ description: 'Stable id; defaults to a slug of the name.' }),
  model: modelId.exactOptional(),
  protocol: protocol.exactOptional(),
  runs: runs.exactOptional().meta({ default: 1 }),
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
  match: matchSchema.exactOptional(),
  checks: checkList.exactOptional().meta({ description: 'Asserted at the end of every iteration of every case.' }),
  policy: suitePolicySchema
    .exactOptional()
    .meta({ description: 'What is demanded of the results; options of the command override it.' }),
  cases: z
    .array(caseSchema)
    .refine((cases) => cases.length > 0, demand('no-cases', 'A suite has at least one case'))
    .refine((cases) => cases.length <= maxCases, demand('too-many-cases', `A suite has at most ${maxCases} cases`))
    .meta({ minItems: 1, maxItems: maxCases }),
});

export type WrittenSuite = z.output<typeof suiteSchema>;
export type WrittenCase = WrittenSuite['cases'][number];
