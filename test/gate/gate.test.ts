import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { gate, type GateResult } from '../../src/gate/gate.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import type { Report } from '../../src/model/report.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { filesystemServerPath, memoryServerPath, plainServerCommand } from '../support/servers/bundled-servers.ts';
import { listMarkedPids } from '../support/process/processes.ts';
import { createWorkspace, everythingOverHttp, type Workspace } from '../support/workspace.ts';

// Real servers, started as users start them. After every gate, no process with its marker may be left.

async function run(workspace: Workspace, inputs: Record<string, string>): Promise<GateResult & { log: string[] }> {
  const environment = process.env;
  const plan = await planGate(parseGateOptions({ evals: 'x.evals.yaml', ...inputs }), {
    cwd: workspace.path,
    environment,
  });
  const processMarker = `gate-${Math.random()}`;
  const log: string[] = [];
  const result = await gate(plan, {
    clock: systemClock,
    logger: { ...silentLogger, group: (_title, lines) => void log.push(...lines) },
    redactor: createRedactor(),
    signal: new AbortController().signal,
    environment,
    processMarker,
  });
  expect(listMarkedPids(processMarker)).toEqual([]);
  return { ...result, log };
}

function listOutcomes({ cases }: Report): Record<string, string> {
  return Object.fromEntries(cases.map(({ title, outcome }) => [title, outcome]));
}

const countingEvals = `suite: Counting
cases:
  - title: Starts at one
    runs: 3
    steps:
      - toolCall: count
      - assert: { toolResultContains: "1", caseSensitive: true }
      - toolCall: count
      - assert: { toolResultContains: "2" }
`;

describe('isolation', () => {
  it("hides earlier iterations' changes of the server", async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': countingEvals });
    const { report, exitCode } = await run(workspace, { 'server-command': plainServerCommand });
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ totals: { passed: 3 }, server: { isolation: 'process per iteration' } });
  });

  it('by run shares one process, in turns', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': countingEvals });
    const { report, exitCode } = await run(workspace, { 'server-command': plainServerCommand, isolation: 'run' });
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({
      totals: { passed: 1, failed: 2 },
      server: { isolation: 'one process for the run' },
    });
  });
});

describe('real servers', () => {
  it('keep in a file what an earlier case stored in server-memory', async () => {
    await using workspace = await createWorkspace({
      'x.evals.yaml': `suite: Memory
cases:
  - title: Takes note
    steps:
      - toolCall: create_entities
        arguments: { entities: [{ name: Ann, entityType: person, observations: [likes tea] }] }
      - toolCall: search_nodes
        arguments: { query: tea }
      - assert: { toolResultEquals: Ann, path: /entities/0/name }
      - assert: { firstToolWas: create_entities }
  - title: Refuses a relation without an end
    steps:
      - toolCall: create_relations
        arguments: { relations: [{ from: Ann }] }
      - assert: { toolResultIsError: true }
`,
    });
    const { report } = await run(workspace, {
      'server-command': `${process.execPath} ${memoryServerPath}`,
      'server-env': `MEMORY_FILE_PATH=${workspace.path}/memory.json`,
    });
    expect(listOutcomes(report)).toEqual({ 'Takes note': 'passed', 'Refuses a relation without an end': 'passed' });
    expect(await workspace.read('memory.json')).toContain('likes tea');
  });

  it('write and read through server-filesystem in the directory they are given, and nowhere else', async () => {
    await using workspace = await createWorkspace({ 'files/note.txt': 'buy milk' });
    const tests = `
  - title: Reads
    steps:
      - toolCall: read_text_file
        arguments: { path: ${workspace.path}/files/note.txt }
      - assert: { toolResultContains: buy milk }
  - title: Writes
    steps:
      - toolCall: write_file
        arguments: { path: ${workspace.path}/files/new.txt, content: hello }
  - title: Reads what is not its own
    steps:
      - toolCall: read_text_file
        arguments: { path: /etc/passwd }
`;
    const { report, exitCode } = await run(workspace, {
      evals: '',
      tests,
      'server-command': `${process.execPath} ${filesystemServerPath} files`,
    });
    expect(exitCode).toBe(1);
    expect(listOutcomes(report)).toEqual({ Reads: 'passed', Writes: 'passed', 'Reads what is not its own': 'failed' });
    expect(await workspace.read('files/new.txt')).toBe('hello');
  });

  it('are reached over HTTP when the URL of what the command serves is given', async () => {
    const port = await findFreePort();
    await using workspace = await createWorkspace({
      'x.evals.yaml': `suite: HTTP
cases:
  - title: Adds
    runs: 3
    steps:
      - toolCall: get-sum
        arguments: { a: 2, b: 3 }
      - assert: { toolResultContains: "5" }
      - assert: { toolLatencyUnder: 30000 }
`,
    });
    const { report, exitCode } = await run(workspace, {
      'server-command': everythingOverHttp,
      'server-url': `http://127.0.0.1:${port}/mcp`,
      'server-env': `PORT=${port}`,
    });
    expect(exitCode).toBe(0);
    expect(report.server).toMatchObject({ transport: 'http', isolation: 'session per iteration' });
  });
});

/** Only the provoking case can time out: the other case must pass on a slow machine too. */
const faultyEvals = (tool: string, args: string, timeout = '60s') => `suite: Faults
cases:
  - title: Provokes
    runs: 2
    timeout: ${timeout}
    steps:
      - toolCall: ${tool}
        arguments: ${args}
  - title: Goes on
    runs: 2
    steps:
      - toolCall: count
`;

describe('a server that', () => {
  it('starts more slowly than its cases may take still becomes ready', async () => {
    await using workspace = await createWorkspace({
      'x.evals.yaml': countingEvals.replace('cases:', 'timeout: 900ms\ncases:'),
    });
    const command = `bash -c 'sleep 1; exec ${plainServerCommand}'`;
    const { report, exitCode } = await run(workspace, { 'server-command': command });
    expect([exitCode, report.totals.passed]).toEqual([0, 3]);
  });
});

describe('a tool that', () => {
  it.each(['iteration', 'run'])('hangs fails its case alone, isolated by %s', async (isolation) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': faultyEvals('hang', '{}', '1s') });
    const { report, exitCode } = await run(workspace, { 'server-command': plainServerCommand, isolation });
    expect(exitCode).toBe(1);
    expect(listOutcomes(report)).toEqual({ Provokes: 'failed', 'Goes on': 'passed' });
    expect(report.totals).toMatchObject({ passed: 2, failed: 2 });
  });

  it.each(['iteration', 'run'])('kills its server fails its case alone, isolated by %s', async (isolation) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': faultyEvals('crash', '{ code: 9 }') });
    const { report, exitCode, log } = await run(workspace, { 'server-command': plainServerCommand, isolation });
    expect(exitCode).toBe(1);
    expect(listOutcomes(report)).toEqual({ Provokes: 'failed', 'Goes on': 'passed' });
    const [failure] = report.cases.find(({ title }) => title === 'Provokes')?.failures ?? [];
    expect(failure?.reasons[0]).toMatch(/^The server exited with code 9 before it answered crash\.\n.*\n.* is up$/);
    expect(log).toContainEqual(expect.stringContaining('is up'));
  });
});
