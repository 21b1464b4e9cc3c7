import { McpServer as NewMcpServer } from '@modelcontextprotocol/server';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ConfigurationError } from '../../src/base/errors.ts';
import { defineCheck, leaveUnmeasured } from '../../src/entries/checks.ts';
import { runGate } from '../../src/library/functions.ts';
import type { FinishedIteration } from '../../src/library/run-gate.ts';
import type { SuiteInput } from '../../src/suite/suite-schema.ts';
import { compareText } from '../../src/suite/findings.ts';
import { expectAllEnded, expectNothingLeft } from '../support/process/active-resources.ts';
import { memoryServerPath, plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const cases = [
  { title: 'Counts', steps: [{ toolCall: 'count' }, { assert: { toolResultContains: '1' } }] },
  { title: 'Counts to two', steps: [{ toolCall: 'count' }, { assert: { toolResultContains: '2' } }] },
];

async function listIssues(options: object): Promise<string[]> {
  try {
    await runGate(options);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(({ input, message }) => `${input} ${message}`);
  }
}

// Whether a gate passes, fails, is refused or is aborted, or its server closes.
expectNothingLeft();

describe('runGate', () => {
  it('returns a report with both verdicts, and calls for each iteration', async () => {
    await using workspace = await createWorkspace({});
    const iterations: FinishedIteration[] = [];
    const steps: string[] = [];
    const gate = { serverCommand: plainServerCommand, tests: cases, cwd: workspace.path, reportTo: 'none' };
    const failed = await runGate({
      ...gate,
      runs: 2,
      timeout: 120_000,
      onIteration: (iteration) => iterations.push(iteration),
      onProgress: ({ kind }) => steps.push(kind),
    });
    expect(failed.verdict.outcome).toBe('failed');
    expect(failed.cases.map(({ title, passed, total }) => [title, passed, total])).toEqual([
      ['Counts to two', 0, 2],
      ['Counts', 2, 2],
    ]);
    expect(iterations.map(({ outcome, error }) => `${outcome}: ${error === null}`).toSorted(compareText)).toEqual([
      ...Array.from({ length: 2 }, () => 'failed: false'),
      ...Array.from({ length: 2 }, () => 'passed: true'),
    ]);
    expect(steps).toEqual(expect.arrayContaining(['server-ready', 'run-finished']));
    const passed = await runGate({ ...gate, minPassRate: 0.5 });
    expect(passed.verdict.outcome).toBe('passed');
    expect((await runGate({ ...gate, policy: { minimumPassRate: '50%' } })).verdict.outcome).toBe('passed');
  });

  it('runs two gates at once, and writes nothing to the streams', async () => {
    await using workspace = await createWorkspace({});
    const listeners = process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const written: unknown[] = [];
    const spies = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((text: unknown) => written.push(text) > 0),
    );
    try {
      const [counting, remembering] = await Promise.all([
        runGate({ serverCommand: plainServerCommand, tests: cases.slice(0, 1), cwd: workspace.path, reportDir: 'one' }),
        runGate({
          serverCommand: `${process.execPath} ${memoryServerPath}`,
          serverEnv: { MEMORY_FILE_PATH: `${workspace.path}/memory.json` },
          tests: [{ title: 'Reads', steps: [{ toolCall: 'read_graph' }] }],
          cwd: workspace.path,
          reportDir: 'two',
        }),
      ]);
      expect([counting.verdict.outcome, remembering.verdict.outcome]).toEqual(['passed', 'passed']);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(written).toEqual([]);
    expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(listeners);
  });

  it.each(['before', 'during'])('ends in an inconclusive report if its signal aborts %s the gate', async (when) => {
    await using workspace = await createWorkspace({});
    const controller = new AbortController();
    const hang = [{ title: 'Hangs', steps: [{ toolCall: 'hang' }], timeout: '5m' }];
    if (when === 'before') controller.abort();
    const report = await expectAllEnded(() =>
      runGate({
        serverCommand: plainServerCommand,
        tests: hang,
        cwd: workspace.path,
        signal: controller.signal,
        onProgress: ({ kind }) => kind === 'run-started' && controller.abort(),
      }),
    );
    expect(report.verdict.outcome).toBe('inconclusive');
  });
});

/** Adds two numbers, and leaves its session. */
function createServer(): McpServer {
  const server = new McpServer({ name: 'adder', version: '1.0.0' });
  const numbers = { a: z.number(), b: z.number() };
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema: numbers }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  server.registerTool('leave', { description: 'Closes the session.' }, async () => {
    await server.close();
    return { content: [] };
  });
  return server;
}

function createNewServer(): NewMcpServer {
  const server = new NewMcpServer({ name: 'new-adder', version: '1.0.0' });
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema }, ({ a, b }) => ({
    content: [{ type: 'text' as const, text: String(a + b) }],
  }));
  return server;
}

const adds: SuiteInput['cases'][number] = {
  title: 'Adds',
  steps: [{ toolCall: 'add', arguments: { a: 1, b: 2 } }, { assert: { toolResultContains: '3' } }],
};

describe('a server in this process', () => {
  it.each([
    ['1', 'adder', createServer],
    ['2', 'new-adder', createNewServer],
  ])('of version %s of the SDK gets a session of its own for each iteration', async (_, name, create) => {
    await using workspace = await createWorkspace({ 'more.evals.yaml': 'suite: More\ncases:\n' + addsAsYaml });
    let made = 0;
    let closed = 0;
    const report = await runGate({
      server: () => {
        const server = create();
        const close = server.close.bind(server);
        made += 1;
        server.close = async () => {
          closed += 1;
          await close();
        };
        return server;
      },
      evals: [{ suite: 'Adding', cases: [adds] }, 'more.evals.yaml'],
      tests: [adds],
      runs: 2,
      cwd: workspace.path,
    });
    expect(report.verdict.outcome).toBe('passed');
    expect(report.server).toMatchObject({ transport: 'in-process', name, isolation: 'session per iteration' });
    expect(report.suites.map(({ id }) => id)).toEqual(['more', 'inline-tests', 'adding']);
    // Suites probe the server before their iterations.
    expect(made).toBeGreaterThanOrEqual(1 + report.totals.iterations);
    expect(closed).toBe(made);
  });

  it('fails the case in which it closes its session, and no other one', async () => {
    await using workspace = await createWorkspace({});
    const leaves = { title: 'Leaves', steps: [{ toolCall: 'leave' }] };
    const report = await runGate({ server: createServer, tests: [leaves, adds], cwd: workspace.path });
    expect(report.cases.map(({ title, passed, failures }) => [title, passed, failures[0]?.reasons])).toEqual([
      ['Leaves', 0, [expect.stringContaining('closed its session before it answered')]],
      ['Adds', 1, undefined],
    ]);
  });

  it('has a report if a case has no result', async () => {
    await using workspace = await createWorkspace({});
    const unmeasured = defineCheck({
      name: 'unmeasured',
      schema: { type: 'object' },
      judge: () => leaveUnmeasured('there is no network'),
    });
    const tests = [{ title: 'Adds', steps: [...adds.steps, { assert: 'unmeasured' }] }];
    const options = { server: createServer, tests, checks: [unmeasured], cwd: workspace.path };
    const report = await expectAllEnded(() => runGate(options));
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(report.cases[0]?.failures[0]?.reasons).toEqual(['unmeasured: there is no network.']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no database');
      },
      'The function `server` threw: no database',
    ],
    ['returns no server', () => ({}) as McpServer, 'returned no server of an official MCP SDK'],
    ['never returns', () => new Promise<McpServer>(() => {}), 'did not answer initialize within 100 ms'],
  ])('makes the gate inconclusive if its function %s', async (_, server, message) => {
    await using workspace = await createWorkspace({});
    const report = await runGate({ server, tests: [adds], cwd: workspace.path, serverReadyTimeout: 100 });
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(report.verdict.reasons[0]?.message).toContain(message);
  });

  it('excludes what needs a process', async () => {
    const suite = { suite: 'Adding', cases: [adds], workspace: 'empty' };
    expect(await listIssues({ server: createServer, evals: suite, base: 'git', sandbox: 'required' })).toEqual([
      expect.stringMatching(/^base is for a server with a process or a URL of its own/),
      expect.stringMatching(/^sandbox is for a server with a process or a URL of its own/),
    ]);
    expect(await listIssues({ server: createServer, evals: suite })).toEqual([
      expect.stringContaining('the server is in this process, which has one directory'),
    ]);
  });
});

const addsAsYaml = `  - title: Adds
    steps:
      - { toolCall: add, arguments: { a: 1, b: 2 } }
      - assert: { toolResultContains: '3' }
`;

describe('options that are wrong', () => {
  it('are all named, with what each of them takes', async () => {
    expect(
      await listIssues({
        serverComand: 'node server.js',
        onIterations: () => {},
        evals: ['a.evals.yaml', 5],
        timeout: [],
        dryRun: 'yes please',
        runs: null,
        serverEnv: { A: 'b', B: undefined, C: null, 'D=': 'e' },
        modelApiKeys: { openai: 'sk-1\nanthropic=sk-2' },
        serverHeaders: { 'X-A': {} },
        tags: ['a\nb'],
        tests: [{ title: 'A', steps: [() => {}] }],
        policy: null,
        minPassRate: 90,
      }),
    ).toEqual([
      'serverComand is no option; did you mean `serverCommand`?',
      'onIterations is no option; did you mean `onIteration`?',
      'evals has an entry 2 that is a number; give texts of one line',
      'timeout cannot be a list; give a number of milliseconds or a text',
      'runs cannot be null; give a number, an object or a text',
      'serverEnv has the name "D="; give names and texts of one line',
      'modelApiKeys has a value of openai with a line break; give names and texts of one line',
      'serverHeaders has a value of X-A that is no text; give names and texts of one line',
      'tags has an entry 1 that has a line break; give texts of one line',
      'tests is no value of JSON: 0 is a function',
      'policy cannot be null; give a text',
      'dryRun "yes please" is not a boolean; write true or false',
      'minPassRate 9000% is more than 100%',
    ]);
  });

  it.each([undefined, null, 5, []])('are refused if they are no object: %j', async (given) => {
    const refused = [expect.stringMatching(/^options (?:are missing|cannot be .*); give an object$/)];
    expect(await listIssues(given as never)).toEqual(refused);
  });

  it('are refused if they are no functions, signals, suites or made by no function of the library', async () => {
    const check = { name: 'mine', schema: {}, judge: () => {} };
    const wrong = {
      server: {},
      signal: 5,
      onIteration: 'log',
      evals: [{ suite: 'A', cases: [adds] }, 5],
      checks: [check],
      models: { name: 'a/b' },
      reporters: [undefined],
      logger: console,
    };
    expect(await listIssues(wrong)).toEqual([
      'evals has an entry 2 that is a number; give texts of one line',
      'server cannot be an object; give a function',
      'checks has an entry 1 that is an object; give checks that `defineCheck` made',
      'models cannot be an object; give a list of models that `defineModel` made',
      'reporters has an entry 1 that is undefined; give reporters that `defineReporter` made',
      'onIteration cannot be a string; give a function',
      'signal cannot be a number; give an AbortSignal',
      'logger has no method warning; give an object with the methods debug, info, warning, error, group',
    ]);
    const circular: Record<string, unknown> = { suite: 'A', cases: [adds] };
    circular['self'] = circular;
    for (const evals of [circular, { suite: 'A', cases: [{ title: 'B', steps: [1n] }] }]) {
      const refused = [expect.stringMatching(/^evals\[1\] is no value of JSON: /)];
      expect(await listIssues({ server: createServer, evals: ['a.yaml', evals] })).toEqual(refused);
    }
  });

  it('are checked by the rules of the command', async () => {
    await using workspace = await createWorkspace({});
    const given = { cwd: workspace.path, evals: 'none.yaml', minPassRate: 1.5, dryRun: 'yes' };
    expect(await listIssues(given)).toEqual([
      'dryRun "yes" is not a boolean; write true or false',
      'minPassRate 150% is more than 100%',
      expect.stringMatching(/^evals No file matches "none.yaml"/),
    ]);
    expect(await listIssues({ cwd: workspace.path, tests: cases })).toEqual([
      expect.stringMatching(/^serverCommand .* give `serverCommand` to start one, `serverUrl` /),
    ]);
  });
});
