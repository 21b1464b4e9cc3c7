/**
 * An MCP server with everything that the official conformance suite requires, over stdio (no PORT) or HTTP (PORT). Run by Node itself:
 * `node test/support/servers/conformance-server.ts`.
 */
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
} from '@modelcontextprotocol/node';
import { isInitializeRequest, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, ContentBlock, GetPromptResult, ServerContext } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

type Arguments = Record<string, unknown>;
type Tool = (args: Arguments, context: ServerContext) => ContentBlock[] | Promise<ContentBlock[]>;
type Elicited = Parameters<ServerContext['mcpReq']['elicitInput']>[0];

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const image: ContentBlock = { type: 'image', data: png, mimeType: 'image/png' };
const embed = (uri: string, mimeType: string, value: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
});

async function elicit(context: ServerContext, message: string, properties: object, required: string[] = []) {
  const requestedSchema = { type: 'object', properties, required };
  const params = { mode: 'form', message, requestedSchema } as Elicited;
  // `elicitInput` and `requestSampling` use the stream that a client opens after its handshake, which may not be open yet.
  const answer = await context.mcpReq.send({ method: 'elicitation/create', params });
  return [text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`)];
}

const tools: Record<string, Tool> = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [
    embed('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    embed('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_tool_with_logging: async (_args, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(50);
    }
    return [text('Logged three times.')];
  },
  test_tool_with_progress: async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return [text(String(progressToken))];
  },
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_reconnection: async () => {
    await sleep(100);
    return [text('Reconnection test completed successfully.')];
  },
  test_sampling: async ({ prompt }, { mcpReq }) => {
    const message = { role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } };
    const params = { messages: [message], maxTokens: 100 };
    const sampled = await mcpReq.send({ method: 'sampling/createMessage', params });
    return [text(`LLM response: ${JSON.stringify(sampled.content)}`)];
  },
  test_elicitation: ({ message }, context) =>
    elicit(
      context,
      String(message),
      { username: { type: 'string', description: 'User name' }, email: { type: 'string', description: 'Email' } },
      ['username', 'email'],
    ),
  test_elicitation_sep1034_defaults: (_args, context) =>
    elicit(context, 'Please review the defaults', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  test_elicitation_sep1330_enums: (_args, context) =>
    elicit(context, 'Please select options', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: {
        type: 'string',
        oneOf: [
          { const: 'value1', title: 'First Option' },
          { const: 'value2', title: 'Second Option' },
        ],
      },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'value1', title: 'First Choice' },
            { const: 'value2', title: 'Second Choice' },
          ],
        },
      },
    }),
  json_schema_2020_12_tool: (args) => [text(JSON.stringify(args))],
};

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

const resources: Record<string, { mimeType: string } & ({ text: string } | { blob: string })> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: png },
  'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
};

const prompts: Record<string, { arguments: string[]; render: (args: Arguments) => ContentBlock[] }> = {
  test_simple_prompt: { arguments: [], render: () => [text('This is a simple prompt for testing.')] },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    render: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`)],
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    render: ({ resourceUri }) => [
      embed(String(resourceUri), 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: { arguments: [], render: () => [image, text('Please analyze the image above.')] },
};

async function callTool(name: string, args: Arguments, context: ServerContext): Promise<CallToolResult> {
  try {
    return { content: (await tools[name]?.(args, context)) ?? [] };
  } catch (error) {
    return { content: [text(String(error))], isError: true };
  }
}

function createConformanceServer(): Server {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new Server({ name: 'conformance-server', version: '1.0.0' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `Tool ${name}`,
      inputSchema: name === 'json_schema_2020_12_tool' ? schema2020 : { type: 'object' as const },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(params.name, params.arguments ?? {}, context),
  );
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const id = /^test:\/\/template\/(.*)\/data$/.exec(uri)?.[1];
    const templated = {
      mimeType: 'application/json',
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    };
    const found = resources[uri] ?? templated;
    return { contents: [{ uri, ...found }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: `Prompt ${name}`,
      arguments: prompt.arguments.map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }): GetPromptResult => {
    const content = prompts[params.name]?.render(params.arguments ?? {}) ?? [];
    return { messages: content.map((block) => ({ role: 'user', content: block })) };
  });
  server.setRequestHandler('logging/setLevel', () => ({}));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return server;
}

function listen(port: number): void {
  const transports = new Map<string, NodeStreamableHTTPServerTransport>();
  const isHostValid = localhostHostValidation();
  const isOriginValid = localhostOriginValidation();
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        transports.set(id, transport);
      },
    });
    await createConformanceServer().connect(transport);
    return transport;
  };
  const httpServer = createServer((request, response) => {
    if (!isHostValid(request, response) || !isOriginValid(request, response)) return;
    void (async () => {
      const body: unknown = request.method === 'POST' ? await json(request) : undefined;
      const known = transports.get(String(request.headers['mcp-session-id']));
      const transport = known ?? (isInitializeRequest(body) ? await open() : undefined);
      if (transport === undefined) response.writeHead(404).end();
      else await transport.handleRequest(request, response, body);
    })();
  });
  httpServer.listen(port, '127.0.0.1');
}

const port = process.env['PORT'];
if (port === undefined) await createConformanceServer().connect(new StdioServerTransport());
else listen(Number(port));
