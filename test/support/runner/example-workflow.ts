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
          run: z.string().optional(),
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
  const root = path.resolve(import.meta.dirname, '../../..');
  const found = readWorkflow(readFileSync(path.join(root, 'examples/workflows', file), 'utf8'))[job];
  if (found === undefined) throw new Error(`${file} has no job ${job}.`);
  return found;
}

const ownAction = /^your-org\/mcp-eval-ci(?:\/(merge|publish))?@/;

function findOwnStep({ steps }: ExampleJob): ExampleJob['steps'][number] {
  const step = steps.find(({ uses }) => ownAction.test(uses ?? ''));
  if (step === undefined) throw new Error('No step of the job uses an action of this repository.');
  return step;
}

/** Returns the script of the job that runs this command. */
export function readExampleScript({ steps }: ExampleJob, command: string): string {
  const script = steps.find(({ run }) => run?.includes(command) === true)?.run;
  if (script === undefined) throw new Error(`No step of the job runs ${command}.`);
  return script;
}

/** Returns the directory with the action.yml of the action that the job uses. */
export function locateExampleAction(job: ExampleJob): string {
  const [, folder = ''] = ownAction.exec(findOwnStep(job).uses ?? '') ?? [];
  return path.resolve(import.meta.dirname, '../../..', folder);
}

/** Returns the inputs of the job's step for an action of this repository, with its expressions replaced. An unknown expression is an error. */
export function readExampleInputs(job: ExampleJob, values: Readonly<Record<string, string>>): Record<string, string> {
  const step = findOwnStep(job);
  return Object.fromEntries(
    Object.entries(step.with ?? {}).map(([name, text]) => [
      name,
      text.replaceAll(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (expression, key: string) => {
        const value = values[key];
        if (value === undefined) throw new Error(`The test has no value for ${expression}.`);
        return value;
      }),
    ]),
  );
}
