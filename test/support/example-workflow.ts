import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const workflowSchema = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.union([z.string(), z.number()]))) }).optional(),
      steps: z.array(
        z.object({
          uses: z.string().optional(),
          with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
        }),
      ),
    }),
  ),
});

export type ExampleJob = z.infer<typeof workflowSchema>['jobs'][string];

/** Reads the jobs of a workflow. */
export function readWorkflow(text: string): Record<string, ExampleJob> {
  return workflowSchema.parse(parse(text)).jobs;
}

/** Reads a job of a workflow in examples/workflows. */
export function readExampleJob(file: string, job: string): ExampleJob {
  const root = path.resolve(import.meta.dirname, '../..');
  const found = readWorkflow(readFileSync(path.join(root, 'examples/workflows', file), 'utf8'))[job];
  if (found === undefined) throw new Error(`${file} has no job ${job}.`);
  return found;
}

/** The inputs of the job's step that uses this action, with the values of its expressions put in; an unknown one is an error. */
export function readExampleInputs(
  { steps }: ExampleJob,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const step = steps.find(({ uses }) => uses?.startsWith('your-org/mcp-eval-ci@'));
  if (step === undefined) throw new Error('No step of the job uses this action.');
  return Object.fromEntries(
    Object.entries(step.with ?? {}).map(([name, text]) => [
      name,
      text.replaceAll(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (expression, key: string) => {
        const value = values[key];
        if (value === undefined) throw new Error(`Nobody says what ${expression} is.`);
        return value;
      }),
    ]),
  );
}
