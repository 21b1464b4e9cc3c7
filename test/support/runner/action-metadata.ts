import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const inputSchema = z.looseObject({ default: z.coerce.string().optional(), required: z.boolean().optional() });

const metadataSchema = z.looseObject({
  name: z.string(),
  inputs: z.record(z.string(), inputSchema).default({}),
  outputs: z.record(z.string(), z.looseObject({})).default({}),
  runs: z.looseObject({
    using: z.literal('node24'),
    main: z.string(),
    post: z.string().optional(),
    'post-if': z.string().default('always()'),
  }),
});

/** An action as the runner loads it from its directory. */
export interface ActionMetadata {
  directory: string;
  /** The default of every declared input; empty if there is none, as on the runner. */
  inputDefaults: Record<string, string>;
  outputs: string[];
  main: string;
  post: string | null;
  postIf: string;
}

/** Reads `action.yml` in `directory`. Throws if the runner would not load it either. */
export async function readActionMetadata(directory: string): Promise<ActionMetadata> {
  const metadata = metadataSchema.parse(parse(await readFile(path.join(directory, 'action.yml'), 'utf8')));
  return {
    directory,
    inputDefaults: Object.fromEntries(
      Object.entries(metadata.inputs).map(([name, input]) => [name, evaluateDefault(input.default ?? '')]),
    ),
    outputs: Object.keys(metadata.outputs),
    main: metadata.runs.main,
    post: metadata.runs.post ?? null,
    postIf: metadata.runs['post-if'],
  };
}

/** Evaluates two of the runner's expressions for a job without a matrix and without a token. */
function evaluateDefault(text: string): string {
  return text.replaceAll('${{ strategy.job-index }}', '0').replaceAll('${{ github.token }}', '');
}

/** Returns the inputs as environment variables: upper case, spaces to `_`, hyphens kept. Includes undeclared inputs. */
export function listInputVariables(
  { inputDefaults }: Pick<ActionMetadata, 'inputDefaults'>,
  inputs: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...inputDefaults, ...inputs }).map(([name, value]) => [
      `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
      value,
    ]),
  );
}

export type JobStatus = 'success' | 'failure' | 'cancelled';

/** Evaluates `post-if`: the four status functions, alone or negated. Throws for any other expression. */
export function isPostDue(postIf: string, status: JobStatus): boolean {
  const match = /^\s*(!?)\s*(always|success|failure|cancelled)\(\)\s*$/.exec(postIf);
  if (match === null) throw new Error(`The harness cannot evaluate post-if: ${JSON.stringify(postIf)}.`);
  const holds = match[2] === 'always' || match[2] === status;
  return match[1] === '!' ? !holds : holds;
}
