import { describe, expect, it } from 'vitest';

import type { CaseReport } from '../../src/model/case-report.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import type { EmbeddedGate } from '../support/gate/embedded-gate.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { crashingServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

/** The transports, and the state that iterations share. */
const modes = {
  'stdio, a process per iteration': { isolation: 'iteration' },
  'stdio, one process': { isolation: 'run' },
  'stdio, one process without sessions': { isolation: 'run', ERA: 'modern' },
  'HTTP, one process': { isolation: 'iteration', PORT: 'free' },
  'HTTP, one process without sessions': { isolation: 'iteration', PORT: 'free', ERA: 'modern' },
} as const;
type Mode = keyof typeof modes;
const modeNames = Object.keys(modes) as Mode[];

const [perIteration, oneProcess, , overHttp] = modeNames as [Mode, Mode, Mode, Mode];
const withSessions = [perIteration, oneProcess, overHttp];

/**
 * Processes end alike with a sandbox, if the machine has one, and without. The sandbox does not depend on how iterations share a process,
 * so that one mode of each transport uses it.
 */
const hasSandbox = (mode: Mode) => mode === perIteration || mode === overHttp;
const sandboxesOf = (mode: Mode) => [...(hasSandbox(mode) ? ['auto'] : []), ...(mode === overHttp ? [] : ['off'])];

interface Shape {
  /** The action of the process in the case. Other cases run at the same time. */
  what: string;
  steps: string[];
  outcome: 'passed' | 'failed';
  /** The first line of the reason. */
  says?: string;
  /** The modes. Default: all of them. */
  modes?: readonly Mode[];
}

const end = (withWhat: string, when: string, more = '') =>
  `{ toolCall: end, arguments: { with: '${withWhat}', when: ${when}${more} } }`;
const echo = "{ toolCall: echo, arguments: { value: 'hello', delayMs: 40 } }";
const fails = (withWhat: string, how: string, { when, ...more }: { when: string; modes?: readonly Mode[] }): Shape => ({
  ...more,
  what: `${how} ${when} the answer`,
  steps: [end(withWhat, when)],
  outcome: 'failed',
  says: `The server ${how} before it answered end.`,
});

/** The verdicts on a process that ends, by the time and way of its end. */
const shapes: Shape[] = [
  fails('0', 'exited with code 0', { when: 'before' }),
  fails('1', 'exited with code 1', { when: 'before', modes: withSessions }),
  fails('137', 'exited with code 137', { when: 'before', modes: withSessions }),
  fails('SIGKILL', 'was ended by SIGKILL', { when: 'before', modes: withSessions }),
  fails('SIGSEGV', 'was ended by SIGSEGV', { when: 'before' }),
  fails('SIGABRT', 'was ended by SIGABRT', { when: 'before', modes: withSessions }),
  fails('1', 'exited with code 1', { when: 'during' }),
  fails('SIGSEGV', 'was ended by SIGSEGV', { when: 'during', modes: withSessions }),
  { what: 'exits with 0 after the answer', steps: [end('0', 'after')], outcome: 'passed' },
  { what: 'exits with 0 a moment after the answer', steps: [end('0', 'later')], outcome: 'passed' },
  {
    what: 'crashes with code 1 after the last answer',
    steps: [end('1', 'after')],
    outcome: 'passed',
    modes: [perIteration],
  },
  {
    what: 'crashes with SIGSEGV a moment after the last answer',
    steps: [end('SIGSEGV', 'later')],
    outcome: 'passed',
    modes: [perIteration],
  },
  {
    what: 'exits with 0 after an answer that is not the last',
    steps: [end('0', 'after'), echo],
    outcome: 'failed',
    says: 'The server exited with code 0 before it answered echo.',
    modes: [perIteration, oneProcess],
  },
  {
    what: 'crashes while calls of other cases are open',
    steps: [end('3', 'before', ', delayMs: 20')],
    outcome: 'failed',
    says: 'The server exited with code 3 before it answered end.',
  },
  {
    what: 'lives and claims that it has exited',
    steps: ['{ toolCall: refuse }'],
    outcome: 'failed',
    says: 'refuse failed with JSON-RPC error -32000: "gone".',
  },
];

async function run(mode: Mode, cases: readonly string[], environment: Record<string, string> = {}, sandbox = 'off') {
  const { isolation, ...fixed } = modes[mode];
  const port = 'PORT' in fixed ? String(await findFreePort()) : null;
  const variables = { ...fixed, ...(port === null ? {} : { PORT: port }), ...environment };
  await using workspace = await createWorkspace({
    'x.evals.yaml': `suite: Crashes\ntimeout: 20s\ncases:\n${cases.join('')}`,
  });
  return await runEmbeddedGate(workspace, {
    'server-command': `${process.execPath} ${crashingServerPath}`,
    isolation,
    sandbox,
    'server-env': Object.entries({ ...variables, STARTS: `${workspace.path}/starts` })
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
    ...(port === null ? {} : { 'server-url': `http://127.0.0.1:${port}/mcp` }),
  });
}

function writeCase(title: string, steps: readonly string[], runs = 1): string {
  return `  - title: ${title}\n    runs: ${runs}\n    steps:\n${steps.map((step) => `      - ${step}\n`).join('')}`;
}

const bystander = writeCase('Goes on', [echo], 3);

function findCase({ report }: EmbeddedGate, title: string): CaseReport | undefined {
  return report.cases.find((member) => member.title === title);
}

/** Returns the lines of the reason of a case. The last lines of the process's output follow the first line. */
function readReason(result: EmbeddedGate, title: string): string[] {
  return findCase(result, title)?.failures[0]?.reasons[0]?.split('\n') ?? [];
}

const listFirstReasons = ({ report }: EmbeddedGate) => report.verdict.reasons.map(({ message }) => message).join(' | ');

describe.each(modeNames)('a server over %s', (mode) => {
  it.each(sandboxesOf(mode))(
    'fails the cases that its process ends under, and no other (sandbox: %s)',
    async (sandbox) => {
      const tried = shapes.filter((shape) => shape.modes?.includes(mode) ?? true);
      const cases = tried.map(({ what, steps }) => writeCase(what, steps));
      const result = await run(mode, [...cases, bystander], {}, sandbox);
      const outcomes = tried.map(({ what }) => [what, findCase(result, what)?.outcome, readReason(result, what)[0]]);
      expect(outcomes).toEqual(tried.map(({ what, outcome, says }) => [what, outcome, says]));
      expect(findCase(result, 'Goes on')).toMatchObject({ outcome: 'passed', passed: 3, total: 3 });
      expect([result.report.verdict.outcome, result.exitCode]).toEqual(['failed', 1]);
      const reason = readReason(result, 'was ended by SIGSEGV before the answer');
      expect(reason[1]).toBe('Its last lines on stderr:');
      expect(reason.at(-1)).toBe('about to end with SIGSEGV');
    },
  );

  it('fails every case of a server that crashes in tools/list', async () => {
    const result = await run(mode, [writeCase('Calls', [echo], 2)], { END_AT: 'tools/list', END_WITH: 'SIGABRT' });
    expect(readReason(result, 'Calls')[0]).toBe('The server was ended by SIGABRT before it answered tools/list.');
    expect(findCase(result, 'Calls')).toMatchObject({ outcome: 'failed', failed: 2 });
    expect(result.exitCode).toBe(1);
  });

  it('is inconclusive if it crashes at the start', async () => {
    const result = await run(mode, [bystander], {
      END_AT: mode.includes('without') ? 'server/discover' : 'initialize',
    });
    expect(result.exitCode).toBe(3);
    expect(listFirstReasons(result)).toMatch(/^The server under test exited with code 1 before it was ready\./);
  });

  it('is inconclusive if it cannot start again', async () => {
    const at = mode.includes('without') ? 'server/discover' : 'initialize';
    const cases = [writeCase('Crashes', [end('1', 'before')]), writeCase('Goes on', [echo], 16)];
    const result = await run(mode, cases, { END_AT: at, END_FROM: '2', END_WITH: '4' });
    expect([result.exitCode, result.report.verdict.outcome]).toEqual([3, 'inconclusive']);
    expect(findCase(result, 'Goes on')?.failed).toBe(0);
  });
});

it('fails every iteration of a case that always crashes, however many they are', async () => {
  const result = await run(perIteration, [writeCase('Crashes', [end('1', 'before')], 12), bystander], {}, 'off');
  expect(findCase(result, 'Crashes')).toMatchObject({ outcome: 'failed', failed: 12, total: 12 });
  expect(findCase(result, 'Goes on')).toMatchObject({ outcome: 'passed', passed: 3 });
});

describe('a crash that a shared process shows once', () => {
  it.each(modeNames.slice(1))('fails no case over %s', async (mode) => {
    // The process does not crash from the next start on, so that the gate cannot identify the call at fault.
    const cases = [writeCase('First', [echo]), writeCase('Crashes once', [end('9', 'once')]), bystander];
    const result = await run(mode, cases);
    expect(result.report.totals.failed).toBe(0);
    expect(findCase(result, 'Crashes once')).toMatchObject({ outcome: 'inconclusive', total: 0 });
    expect(readReason(result, 'Crashes once')[0]).toMatch(
      /^The server exited with code 9 under this iteration and did not/,
    );
    expect(result.exitCode).toBe(3);
  });
});
