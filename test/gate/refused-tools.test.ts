import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { refuseTools, type RulingProvider } from '../support/models/provider-rules.ts';
import { openScriptedProvider, type ProviderRequest } from '../support/models/scripted-provider.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const longName = `read_${'every_'.repeat(14)}page`;

let server: FixtureMcpServer;

beforeAll(async () => {
  server = await startFixtureMcpServer({
    'pages.read': { call: () => text('A page.') },
    '1st-page': { call: () => text('The first page.') },
    [longName]: { call: () => text('All pages.') },
    find: {
      description: 'Finds a page.',
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'number' }, title: { $ref: '#/$defs/title' } },
        anyOf: [{ required: ['id'] }, { required: ['title'] }],
        $defs: { title: { type: 'string', minLength: 2 } },
      },
      call: ({ args }) => text(`Found ${JSON.stringify(args)}.`),
    },
  });
});

afterAll(async () => await server[Symbol.asyncDispose]());

const providers = {
  anthropic: { format: 'anthropic', prefix: 'ANTHROPIC' },
  openai: { format: 'compatible', prefix: 'OPENAI' },
  google: { format: 'compatible', prefix: 'GEMINI' },
} as const;

const writeEvals = (provider: RulingProvider, title: string) => `suite: Pages
id: pages
model: ${provider}/test
cases:
  - id: reads
    title: Reads pages
    steps:
      - prompt: Read the pages.
      - assert: { toolCalledWith: pages.read, arguments: {} }
      - assert: { toolCalledAtLeastOnce: 1st-page }
      - assert: { toolCalledAtLeastOnce: ${longName} }
      - assert: { toolCalledWith: find, arguments: { title: ${title} } }
      - assert: { toolResultContains: 'Found {"title":"Milk"}' }
      - prompt: And once more.
      - assert: { responseContains: Read }
`;

/** Calls every offered tool, in the form of the request. */
function readAll({ body, turn, userText }: ProviderRequest) {
  const { tools = [] } = body as { tools?: Array<Record<string, unknown>> };
  const offered = tools.map((tool) => (tool['function'] ?? tool) as { name: string; [key: string]: unknown });
  const toolCalls = offered.map(({ name, parameters, input_schema: schema = parameters }) => {
    const { properties = {} } = schema as { properties?: Record<string, unknown> };
    const args = { title: 'Milk' };
    return { name, arguments: 'input' in properties ? { input: args } : 'title' in properties ? args : {} };
  });
  return turn === 1 && userText.startsWith('Read') ? { toolCalls } : { text: 'Read.' };
}

describe.each(Object.keys(providers) as RulingProvider[])('tools that %s refuses', (name) => {
  const { format, prefix } = providers[name];
  const run = async (workspace: Workspace, title: string, recordings = 'record') => {
    await using provider = await openScriptedProvider({
      format,
      answers: (request) => refuseTools(request, name) ?? readAll(request),
    });
    await workspace.write('a.evals.yaml', writeEvals(name, title));
    const result = await runEmbeddedGate(
      workspace,
      { 'server-url': server.url, 'report-dir': 'report', recordings },
      { environment: { [`${prefix}_API_KEY`]: 'sk-canary', [`${prefix}_BASE_URL`]: provider.baseUrl } },
    );
    const reasons = result.report.cases.flatMap(({ failures }) => failures.flatMap((failure) => failure.reasons));
    return { ...result, reasons: reasons.join('\n'), asked: provider.requests.length };
  };

  it('are called under other names, and judged, recorded and replayed under their own', async () => {
    await using workspace = await createWorkspace();
    const green = await run(workspace, 'Milk');
    expect(green.reasons).toBe('');
    expect(green.exitCode).toBe(0);
    const recording = await workspace.read(`recordings/pages/reads.${name}-test.jsonl`);
    expect(recording).toContain('"toolName":"pages.read"');
    expect(recording).not.toContain('pages_read');
    expect(recording).not.toContain('"input":{"title"');
    const replayed = await run(workspace, 'Milk', 'replay');
    expect(replayed).toMatchObject({ reasons: '', exitCode: 0, asked: 0 });
    const red = await run(workspace, 'Bread');
    expect(red.exitCode).toBe(1);
    expect(red.reasons).toContain('expected a call of find with {"title":"Bread"}');
  });

  it('are named in a warning and in the report', async () => {
    await using workspace = await createWorkspace();
    const { report, warnings } = await run(workspace, 'Milk');
    const said = [
      /^Models are offered tools under names that all providers take: .*"pages\.read" as "pages_read"/,
      /^Models pass the arguments of tools in one parameter `input`, because .*: "find" \(`anyOf`\)\.$/,
    ];
    for (const pattern of said) {
      expect(warnings).toContainEqual(expect.stringMatching(pattern));
      expect(report.notes).toContainEqual(expect.stringMatching(pattern));
    }
  });
});
