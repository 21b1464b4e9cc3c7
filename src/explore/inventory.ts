import { isRecord, type JsonObject, listRecords } from '../base/json.ts';
import { resolveLocalReference } from '../base/json-pointer.ts';
import { listParameters, type Parameter } from './schema/parameters.ts';
import type { ListMethod, World } from './world/world.ts';

/** A tool as the server lists it. */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema: JsonObject | null;
  /** Hints that are set, true or false. */
  hints: Readonly<Record<string, boolean>>;
  /** True if the server declares that it changes nothing. */
  isReadOnly: boolean;
  /** True if it runs as a task only. */
  needsTask: boolean;
  parameters: readonly Parameter[];
}

export interface ListedPrompt {
  name: string;
  arguments: ReadonlyArray<{ name: string; description: string; isRequired: boolean }>;
}

/** A template of URIs of RFC 6570, such as `note://{id}`. */
export interface ListedTemplate {
  uri: string;
  name: string;
  description: string;
}

/** Everything that a server lists, in its order. */
export interface Inventory {
  tools: readonly ListedTool[];
  resources: readonly string[];
  templates: readonly ListedTemplate[];
  prompts: readonly ListedPrompt[];
  /** True if the server completes arguments of prompts and templates. */
  completes: boolean;
  /** True if the server runs calls of tools as tasks. */
  runsTasks: boolean;
}

/** The most resources and prompts that are requested. A server can list thousands. */
const maxListed = 10;

/** Reads the lists of a server. Lists that it does not declare are empty. */
export async function readInventory(world: World): Promise<Inventory> {
  const list = async (capability: string, method: ListMethod, key: string) =>
    world.capabilities[capability] === undefined ? [] : ((await world.list(method, key)) ?? []);
  const tools = await list('tools', 'tools/list', 'tools');
  const resources = await list('resources', 'resources/list', 'resources');
  const templates = await list('resources', 'resources/templates/list', 'resourceTemplates');
  const prompts = await list('prompts', 'prompts/list', 'prompts');
  return {
    tools: tools.flatMap(readTool),
    resources: resources.flatMap(({ uri }) => (typeof uri === 'string' ? [uri] : [])).slice(0, maxListed),
    templates: templates.flatMap(readTemplate).slice(0, maxListed),
    prompts: prompts.flatMap(readPrompt).slice(0, maxListed),
    completes: world.capabilities['completions'] !== undefined,
    runsTasks: resolveLocalReference('#/tasks/requests/tools/call', world.capabilities) !== undefined,
  };
}

function readTool(listed: JsonObject): ListedTool[] {
  const { name, description, inputSchema, outputSchema, annotations, execution } = listed;
  if (typeof name !== 'string') return [];
  const schema = isRecord(inputSchema) ? inputSchema : { type: 'object' };
  const hints = Object.entries(isRecord(annotations) ? annotations : {}).filter(
    (hint): hint is [string, boolean] => typeof hint[1] === 'boolean',
  );
  const declared = Object.fromEntries(hints);
  return [
    {
      name,
      description: typeof description === 'string' ? description : '',
      inputSchema: schema,
      outputSchema: isRecord(outputSchema) ? outputSchema : null,
      hints: declared,
      isReadOnly: declared['readOnlyHint'] === true && declared['destructiveHint'] !== true,
      needsTask: isRecord(execution) && execution['taskSupport'] === 'required',
      parameters: listParameters(schema),
    },
  ];
}

function readTemplate({ uriTemplate, name, description }: JsonObject): ListedTemplate[] {
  if (typeof uriTemplate !== 'string') return [];
  const read = (text: unknown) => (typeof text === 'string' ? text : '');
  return [{ uri: uriTemplate, name: read(name), description: read(description) }];
}

function readPrompt({ name, arguments: listed }: JsonObject): ListedPrompt[] {
  if (typeof name !== 'string') return [];
  const declared = listRecords(listed).flatMap((argument) =>
    typeof argument['name'] === 'string'
      ? [
          {
            name: argument['name'],
            description: typeof argument['description'] === 'string' ? argument['description'] : '',
            isRequired: argument['required'] === true,
          },
        ]
      : [],
  );
  return [{ name, arguments: declared }];
}
