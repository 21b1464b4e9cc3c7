import { z } from 'zod';

/** Raise it when a field of a surface file is renamed or changes its meaning. */
export const surfaceFileVersion = 1;

const object = z.record(z.string(), z.unknown());
const text = z.string().exactOptional();
const meta = object.exactOptional().describe('Metadata of extensions, such as the app of a tool.');

const toolSchema = z.strictObject({
  name: z.string(),
  title: text,
  description: text,
  inputSchema: object,
  outputSchema: object.exactOptional(),
  annotations: object.exactOptional(),
  execution: object.exactOptional().describe('Says if the tool runs as a task.'),
  _meta: meta,
});

const promptSchema = z.strictObject({
  name: z.string(),
  title: text,
  description: text,
  arguments: z
    .array(z.strictObject({ name: z.string(), title: text, description: text, required: z.boolean() }))
    .describe('By name.'),
  _meta: meta,
});

const resourceShape = {
  name: z.string(),
  title: text,
  description: text,
  mimeType: text,
  annotations: object.exactOptional(),
  _meta: meta,
};
const resourceSchema = z.strictObject({ uri: z.string(), ...resourceShape });
const templateSchema = z.strictObject({ uriTemplate: z.string(), ...resourceShape });

export const surfaceSchema = z.strictObject({
  capabilities: object.describe('As the server declares them.'),
  instructions: text,
  tools: z.array(toolSchema).describe('By name.'),
  prompts: z.array(promptSchema).describe('By name.'),
  resources: z.array(resourceSchema).describe('By URI.'),
  resourceTemplates: z.array(templateSchema).describe('By URI template.'),
});

/**
 * The lists and texts that a server shows its clients, in an order that does not depend on the server, and without values that change from
 * run to run.
 */
export interface Surface extends z.infer<typeof surfaceSchema> {
  /** How the server names itself; absent where it is not compared: each release changes it, so that no file has it. */
  server?: ServerIdentity;
}

/** The name and the version with which a server introduces itself. */
export interface ServerIdentity {
  name: string;
  version: string | null;
}

export type SurfaceTool = Surface['tools'][number];
export type SurfacePrompt = Surface['prompts'][number];
export type SurfaceResource = Surface['resources'][number];
export type SurfaceTemplate = Surface['resourceTemplates'][number];

/** The name of the configuration, if a server has only one. */
export const defaultConfiguration = 'default';

/** The schema of a surface file. */
export const surfaceFileSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  version: z.literal(surfaceFileVersion),
  configurations: z
    .record(z.string().min(1), surfaceSchema)
    .describe(`The surface of the server by the name of its configuration; \`${defaultConfiguration}\` unless named.`),
});

/** The surfaces of one server, by configuration. */
export type SurfaceFile = z.infer<typeof surfaceFileSchema>;

/** Builds the JSON Schema (2020-12) that is published as `surface.schema.json`. */
export function buildSurfaceJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(surfaceFileSchema, { io: 'input' });
  return { $schema, title: 'Surface file of mcp-eval-ci', ...schema };
}
