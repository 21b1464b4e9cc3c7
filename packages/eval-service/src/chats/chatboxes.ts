import { z } from 'zod';
import { ConfigurationError } from '../../../../src/base/errors.ts';
import { tryParseJson } from '../../../../src/base/json.ts';

/** A chatbox as a file describes it. Servers are ids or names of the project's servers. */
const chatboxSchema = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  description: z.string().nullable().default(null),
  mode: z.enum(['project_members', 'invited_only', 'anyone_with_link']).default('project_members'),
  hostStyle: z.string().nullable().default(null),
  modelId: z.string().nullable().default(null),
  systemPrompt: z.string().nullable().default(null),
  temperature: z.number().nullable().default(null),
  requireToolApproval: z.boolean().default(true),
  servers: z.array(z.string()).default([]),
  link: z.strictObject({ path: z.string(), url: z.url() }).nullable().default(null),
});
export type ChatboxContent = z.infer<typeof chatboxSchema>;

const fileSchema = z.array(chatboxSchema);

/**
 * Reads a file of chatboxes: a JSON list.
 *
 * @throws {ConfigurationError} with the first invalid field
 */
export function parseChatboxes(text: string): ChatboxContent[] {
  const parsed = fileSchema.safeParse(tryParseJson(text));
  const problem = parsed.success ? findRepeated(parsed.data) : describe(parsed.error);
  if (parsed.success && problem === null) return parsed.data;
  const message = `the file of chatboxes cannot be used: ${problem ?? 'it is not valid'}`;
  throw new ConfigurationError([{ input: 'chatboxes', code: 'bad-chatboxes', message }]);
}

function describe({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? '';
  return `${path === '' ? '' : `${path}: `}${issue?.message ?? 'it is not a JSON list'}`;
}

function findRepeated(chatboxes: readonly ChatboxContent[]): string | null {
  const index = chatboxes.findIndex(({ id }, place) => chatboxes.findIndex((other) => other.id === id) < place);
  return index === -1 ? null : `${index}.id: ${JSON.stringify(chatboxes[index]?.id)} is there twice`;
}

/** The stored content of a chatbox. */
export const chatboxContentSchema = chatboxSchema;
