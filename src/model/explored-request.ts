import { z } from 'zod';

const texts = z.record(z.string(), z.string());

/** A request that the explorer sends. */
export const exploredRequestSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('tool'),
      tool: z.string(),
      arguments: z.record(z.string(), z.unknown()),
      asTask: z.literal(true).exactOptional().describe('Given for a tool that runs as a task only.'),
    }),
    z.object({ kind: z.literal('resource'), uri: z.string() }),
    z.object({ kind: z.literal('prompt'), prompt: z.string(), arguments: texts }),
    z
      .object({
        kind: z.literal('completion'),
        of: z.enum(['prompt', 'resourceTemplate']),
        name: z.string(),
        argument: z.string(),
        value: z.string(),
        arguments: texts,
      })
      .describe(
        'Completes `value`, the start of an `argument` of the prompt `name`, or of the template of URIs `name`; `arguments` are the values of the others.',
      ),
  ])
  .describe('`{{workspace}}` and `{{result.0/…}}` in its values are replaced when it is sent.');
export type ExploredRequest = z.infer<typeof exploredRequestSchema>;
export type ToolRequest = Extract<ExploredRequest, { kind: 'tool' }>;

/** Names the subject of a request: a tool, the URI of a resource, or what has the argument that is completed. */
export function nameRequest(request: ExploredRequest): string {
  switch (request.kind) {
    case 'tool':
      return request.tool;
    case 'resource':
      return request.uri;
    case 'prompt':
      return request.prompt;
    case 'completion':
      return request.name;
  }
}

/** Lists the values that a request sends in addition to its subject. */
export function readArguments(request: ExploredRequest): Readonly<Record<string, unknown>> {
  if (request.kind === 'resource') return {};
  return request.kind === 'completion'
    ? { ...request.arguments, [request.argument]: request.value }
    : request.arguments;
}

/** Prints a request in short: its subject, and its values as JSON. */
export function printRequest(request: ExploredRequest): string {
  const start = request.kind === 'completion' ? `completion of ${request.name}` : nameRequest(request);
  const args = readArguments(request);
  return Object.keys(args).length === 0 ? start : `${start} ${JSON.stringify(args)}`;
}
