import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { draftCases, toAddedCase } from '../../src/init/draft-cases.ts';
import { surveyServer } from '../../src/init/survey.ts';
import { readExistingEvals, writeInitFiles } from '../../src/init/write-files.ts';
import { renderVitest } from '../../src/init/write-vitest.ts';
import { renderWorkflow, workflowPath } from '../../src/init/write-workflow.ts';
import { openSession } from '../../src/mcp/session.ts';
import { readSuite } from '../../src/suite/read.ts';
import {
  type FixtureServerOptions,
  type FixtureTool,
  startFixtureMcpServer,
  text,
} from '../support/servers/fixture-mcp-server.ts';
import { openTestServer } from '../support/servers/running-server.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const file = 'evals/tools.evals.yaml';
const readOnly = { readOnlyHint: true };

const tools: Record<string, FixtureTool> = {
  read: { annotations: readOnly, call: () => text('ok {{x}}') },
  count: {
    annotations: readOnly,
    inputSchema: { type: 'object', properties: { of: { type: 'string', examples: ['{{name}}'] } }, required: ['of'] },
    outputSchema: { $schema: 'urn:any', type: 'object', properties: { count: { type: 'integer' } } },
    call: () => ({ ...text('3'), structuredContent: { count: 3 } }),
  },
  odd: {
    annotations: readOnly,
    outputSchema: { type: 'object', properties: { when: { type: 'string', format: 'lunar' } } },
    call: () => ({ ...text('1'), structuredContent: { when: 'now' } }),
  },
  open: { annotations: readOnly, call: () => ({ ...text('No such file: example\nsecond line'), isError: true }) },
  search: {
    annotations: readOnly,
    inputSchema: { type: 'object', properties: { q: { type: 'string', pattern: '^a' } }, required: ['q'] },
    call: () => text('found'),
  },
  drop: { annotations: { destructiveHint: true }, call: () => text('dropped') },
  plain: { call: () => text('plain') },
};

/** Runs init against a fixture server without the first run; the calls that the server got come with it. */
async function init(
  workspace: Workspace,
  offered: Record<string, FixtureTool>,
  safeTools: readonly string[] = [],
  {
    surface = null,
    runner = 'workflow',
    ...options
  }: FixtureServerOptions & { surface?: string | null; runner?: 'workflow' | 'vitest' } = {},
) {
  await using server = await startFixtureMcpServer(offered, { name: 'Fixture: {{one}}', ...options });
  const { signal } = new AbortController();
  const evals = await readExistingEvals(file, workspace.path);
  const target = { url: server.url, serverName: 'fixture', protocol: 'legacy' as const };
  await using session = await openSession(target, { clock: systemClock, signal });
  const survey = await surveyServer(session, {
    clock: systemClock,
    signal,
    safeTools: new Set(safeTools),
    isKnown: (kind, name) => kind === 'tool' && evals.known.tools.has(name),
  });
  const cases = draftCases(survey, { known: evals.known, model: 'anthropic/claude-haiku-4-5' });
  const result = await writeInitFiles(
    {
      suite: survey.serverName ?? '',
      cases: cases.map(toAddedCase),
      snapshots: new Map(),
      workspace: null,
      upstream: null,
      fixture: null,
      surface,
    },
    { cwd: workspace.path, evals, server: { kind: 'url', url: server.url }, steps: [], env: [], runner },
  );
  const calls = server.events.filter((event) => event.startsWith('call ')).map((event) => event.slice(5));
  return { ...result, cases, calls };
}

describe('init', () => {
  it('writes the surface file next to the evals once, and names it in the workflow', async () => {
    await using workspace = await createWorkspace();
    const first = await init(workspace, tools, [], { surface: 'first' });
    expect(first.files[1]).toEqual({ path: 'evals/surface.json', state: 'created' });
    expect(await workspace.read(workflowPath)).toContain('          surface: evals/surface.json\n');
    const second = await init(workspace, tools, [], { surface: 'second' });
    expect(second.files[1]).toEqual({ path: 'evals/surface.json', state: 'unchanged' });
    expect(await workspace.read('evals/surface.json')).toBe('first');
  });

  it('writes a test file of vitest instead of the workflow, and leaves one that exists as it is', async () => {
    await using workspace = await createWorkspace();
    const { files } = await init(workspace, tools, [], { surface: '{}', runner: 'vitest' });
    expect(files.at(-1)).toEqual({ path: 'evals/evals.test.ts', state: 'created' });
    expect(await workspace.read('evals/evals.test.ts')).toMatch(
      /describeEvals\("evals\/\*\.evals\.yaml", \{\n {2}serverUrl: "http:[^"]+",\n {2}surface: "evals\/surface\.json",\n\}\);\n$/,
    );
    await expect(workspace.read(workflowPath)).rejects.toThrow('ENOENT');
    await workspace.write('evals/evals.test.ts', '// own');
    const again = await init(workspace, tools, [], { runner: 'vitest' });
    expect(again.files.at(-1)).toEqual({ path: 'evals/evals.test.ts', state: 'unchanged' });
    expect(await workspace.read('evals/evals.test.ts')).toBe('// own');
  });

  it('calls read-only tools alone, and writes a case for each that answered', async () => {
    await using workspace = await createWorkspace();
    const { calls, cases, files } = await init(workspace, tools);
    expect(calls).toEqual(['read', 'count', 'odd', 'open']);
    expect(files).toEqual([
      { path: file, state: 'created' },
      { path: workflowPath, state: 'created' },
    ]);
    const reasons = cases.map(({ subject, reason }) => [subject, reason]);
    expect(reasons.filter(([subject]) => !String(subject).startsWith('a prompt for'))).toEqual([
      ['the list of tools', null],
      ['tool read', null],
      ['tool count', null],
      ['tool odd', null],
      ['tool open', 'the server refused the sampled arguments: No such file: example second line'],
      ['tool search', '`q` has a `pattern` and no example'],
      ['tool drop', 'the server declares it as destructive'],
      ['tool plain', 'the server does not declare it as read-only'],
    ]);
  });

  it('writes a file that is valid, with output schemas asserted and drafts in comments', async () => {
    await using workspace = await createWorkspace();
    await init(workspace, tools);
    const written = await workspace.read(file);
    const { suite, findings } = readSuite(written, { file });
    expect(findings).toEqual([]);
    expect(suite?.name).toBe('Fixture: {{one}}');
    expect(suite?.cases.map(({ id }) => id)).toEqual(['lists-tools', 'read', 'count', 'odd']);
    expect(suite?.cases[2]?.steps.map(({ step }) => step)).toMatchObject([
      { kind: 'toolCall', arguments: { of: '{{name}}' } },
      { assertion: { type: 'toolResultMatchesSchema', schema: { type: 'object' } } },
    ]);
    expect(written).not.toContain('urn:any');
    expect(written).toMatch(/# Its output schema is not asserted: .*lunar.*\n {2}- id: odd/);
    expect(written).toContain('  # Not run: the server declares it as destructive.\n  # - id: drop\n');
    expect(written).toMatch(/# {3}model: anthropic\/claude-haiku-4-5\n/);
    // A draft without its marks is a case.
    const drafts = written.replaceAll(/^ {2}# (?=- |  )/gm, '  ');
    expect(readSuite(drafts, { file })).toMatchObject({ findings: [] });
    expect(readSuite(drafts, { file }).suite?.cases.length).toBe(11);
  });

  it('goes on with the other tools after one that ended the server, which is started again', async () => {
    await using running = await openTestServer();
    const { signal } = new AbortController();
    const { url, protocol } = running;
    await using session = await openSession({ url, serverName: 'test', protocol }, { clock: systemClock, signal });
    const names = [...((await session.listTools({ signal }))?.keys() ?? [])];
    const [before = '', after] = [names[names.indexOf('crash') - 1], 'cancelled'];
    const survey = await surveyServer(session, {
      clock: systemClock,
      signal,
      safeTools: new Set(['pid', 'crash', after]),
      isKnown: (_kind, name) => ![before, 'pid', 'crash', after].includes(name),
    });
    expect(survey.tools?.map(({ name, trial }) => [name, trial.kind])).toEqual([
      ['pid', 'answered'],
      [before, 'unsafe'],
      ['crash', 'refused'],
      [after, 'answered'],
    ]);
  });

  it('gets a prompt without arguments alone, because a prompt can run commands', async () => {
    await using workspace = await createWorkspace();
    const asked: string[] = [];
    const prompts = [{ name: 'help' }, { name: 'shell', arguments: [{ name: 'command', required: true }] }];
    const { cases } = await init(workspace, {}, [], {
      capabilities: { tools: {}, prompts: {} },
      prepare: (server) => {
        server.setRequestHandler('prompts/list', () => ({ prompts }));
        server.setRequestHandler('prompts/get', ({ params: { name } }) => {
          asked.push(name);
          return { messages: [] };
        });
      },
    });
    expect(asked).toEqual(['help']);
    expect(cases.map(({ subject, reason }) => [subject, reason])).toEqual([
      ['the list of tools', null],
      ['prompt help', null],
      ['prompt shell', expect.stringContaining('the prompt takes arguments')],
    ]);
  });

  it('calls a tool that the user says is safe', async () => {
    await using workspace = await createWorkspace();
    const { calls, cases } = await init(workspace, { plain: { call: () => text('plain') } }, ['plain']);
    expect(calls).toEqual(['plain']);
    expect(cases.find(({ subject }) => subject === 'tool plain')).toMatchObject({ reason: null });
  });

  it('refuses a safe tool that the server does not list, with the nearest one', async () => {
    await using workspace = await createWorkspace();
    const ran = init(workspace, { plain: { call: () => text('plain') } }, ['plane']);
    await expect(ran).rejects.toThrow('the server lists no tool `plane`; did you mean `plain`?');
  });

  it('run again, changes nothing', async () => {
    await using workspace = await createWorkspace();
    await init(workspace, tools);
    const before = await workspace.read(file);
    const again = await init(workspace, tools);
    expect(again).toMatchObject({ calls: [], cases: [], manual: null });
    expect(again.files.map(({ state }) => state)).toEqual(['unchanged', 'unchanged']);
    expect(await workspace.read(file)).toBe(before);
  });

  it('adds a case for a new tool behind what the user wrote, and keeps all of that', async () => {
    const own = `suite: Mine # a name of my own
cases:
  - title: Reads   # odd spaces stay
    steps: [{ toolCall: read }, listTools]
  # - toolCall: drop
`;
    await using workspace = await createWorkspace({ [file]: own, [workflowPath]: 'name: mine\n' });
    const offered = { read: tools['read'], drop: tools['drop'], count: tools['count'] };
    const { calls, files } = await init(
      workspace,
      Object.fromEntries(Object.entries(offered).flatMap(([name, tool]) => (tool === undefined ? [] : [[name, tool]]))),
    );
    expect(calls).toEqual(['count']);
    expect(files.map(({ state }) => state)).toEqual(['extended', 'unchanged']);
    const written = await workspace.read(file);
    expect(written.startsWith(own)).toBe(true);
    expect(readSuite(written, { file }).suite?.cases.map(({ title }) => title)).toEqual(['Reads', 'Calls count']);
    expect(await workspace.read(workflowPath)).toBe('name: mine\n');
  });

  it('hands over the cases where the list is not in block style, and leaves the file as it is', async () => {
    const own = '{"suite": "Mine", "cases": [{"title": "Lists", "steps": ["listTools"]}]}';
    await using workspace = await createWorkspace({ [file]: own });
    const { manual } = await init(workspace, { read: { annotations: readOnly, call: () => text('ok') } });
    expect(manual).toContain('- toolCall: read');
    expect(await workspace.read(file)).toBe(own);
  });

  it('refuses to extend a file with mistakes, with their lines', async () => {
    await using workspace = await createWorkspace({ [file]: 'suite: Mine\ncase: []\n' });
    await expect(readExistingEvals(file, workspace.path)).rejects.toThrow(`${file}:2:1`);
  });
});

it('writes a test file that names a command and its variables as values of TypeScript', () => {
  const text = renderVitest({
    server: { kind: 'command', command: 'node "build/index.js" {{workspace}}' },
    env: ['DATA={{workspace}}/a=b'],
    evals: 'evals/*.evals.yaml',
    surface: null,
  });
  expect(text).toContain('  serverCommand: "node \\"build/index.js\\" {{workspace}}",\n');
  expect(text).toContain('  serverEnv: {"DATA":"{{workspace}}/a=b"},\n');
});

describe('the workflow of init', () => {
  const step = { ecosystem: 'node', run: 'npm ci' } as const;

  it('builds the server and names it as the options did', () => {
    const workflow = renderWorkflow({
      server: { kind: 'command', command: "node -e 'run()' # now" },
      steps: [step],
      evals: 'evals/*.evals.yaml',
      surface: 'evals/surface.json',
    });
    expect(workflow).toContain("          server-command: 'node -e ''run()'' # now'\n");
    expect(workflow).toContain('          surface: evals/surface.json\n');
    expect(workflow).toMatch(/uses: actions\/setup-node@[0-9a-f]{40} # v7\.0\.0\n[^]*- run: npm ci\n/);
  });

  it('sets up no language for a server that runs elsewhere, or in a file of clients', () => {
    const url = renderWorkflow({
      server: { kind: 'url', url: 'https://example.com/mcp' },
      steps: [],
      evals: 'a.yaml',
      surface: null,
    });
    expect(url).toContain('          server-url: https://example.com/mcp\n');
    expect(url).not.toContain('setup-node');
    const config = '.mcp.json#own';
    const clients = renderWorkflow({ server: { kind: 'config', config }, steps: [], evals: 'a.yaml', surface: null });
    expect(clients).toContain('          mcp-config: .mcp.json#own\n');
  });
});
