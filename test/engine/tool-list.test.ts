import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import {
  refuse,
  startFixtureMcpServer,
  text,
  type FixtureServerOptions,
  type FixtureTool,
} from '../support/servers/fixture-mcp-server.ts';

const tools: Record<string, FixtureTool> = {
  read_note: { call: () => text('milk') },
  write_note: { call: () => text('done') },
  fail: { call: () => ({ ...text('out of order'), isError: true }) },
};

const isError = assertStep({ type: 'toolResultIsError', isError: true });
const notFound = (toolName: string) => assertStep({ type: 'toolNotFound', toolName });

interface RunOptions extends FixtureServerOptions {
  tools?: Record<string, FixtureTool>;
  overrides?: Partial<TestCase>;
}

/** Runs the case as often as asked, a session each, and says what the server saw of lists and calls. */
async function run(steps: Step[], { tools: own = tools, overrides, ...options }: RunOptions = {}, times = 1) {
  const era = options.era ?? 'legacy';
  await using server = await startFixtureMcpServer(own, options);
  const target = { url: server.url, serverName: 'notes', protocol: era === 'both' ? ('auto' as const) : era };
  const outcomes = [];
  for (let round = 0; round < times; round += 1) {
    const outcome = await runCase(createCase(steps, overrides), target, { clock: systemClock, timeoutMs: 30_000 });
    const { status, result, error } = outcome;
    outcomes.push({ status, result, error, steps: outcome.steps.map((step) => step.status) });
  }
  const requests = server.events.filter((event) => /^(?:list|call)/.test(event));
  return { ...outcomes.at(-1)!, outcomes, requests };
}

describe.each(['legacy', 'modern'] as const)('a call of a tool that the server does not list, %s era', (era) => {
  it('fails the step, names the nearest tool and calls nothing', async () => {
    const { requests, outcomes } = await run([callStep('read_nots'), callStep('write_note')], { era });
    expect(outcomes).toEqual([
      {
        status: 'completed',
        result: 'failed',
        error: 'The server lists no tool "read_nots"; did you mean "read_note"?',
        steps: ['fail', 'skipped'],
      },
    ]);
    // The second list is that of a client which offers everything.
    expect(requests).toEqual(['list', 'list']);
  });

  it('does not satisfy an assertion on errors', async () => {
    const { result, steps } = await run([callStep('renamed'), isError], { era });
    expect({ result, steps }).toEqual({ result: 'failed', steps: ['fail', 'skipped'] });
  });

  it('passes where the case asserts that the tool does not exist', async () => {
    const { result, requests } = await run([callStep('removed'), notFound('removed')], { era });
    expect({ result, requests }).toEqual({ result: 'passed', requests: ['list', 'call removed'] });
  });
});

describe('a call of a tool that the server does not list', () => {
  it.each([
    ['x', tools, 'The server lists no tool "x"; it lists "read_note", "write_note", "fail".'],
    ['x', {}, 'The server lists no tool "x": its list of tools is empty.'],
    [
      'x',
      Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`tool_${index}`, tools['fail']!])),
      'The server lists no tool "x"; it lists "tool_0", "tool_1", "tool_2", "tool_3", "tool_4" and 3 more.',
    ],
  ])('of name "%s" says what is there instead', async (toolName, own, error) => {
    expect((await run([callStep(toolName)], { tools: own })).error).toBe(error);
  });

  it('fails also where tool errors are allowed', async () => {
    const overrides = { advancedConfig: { failOnToolError: false } };
    expect((await run([callStep('nope')], { overrides })).result).toBe('failed');
  });

  it('fails where the server has no tools at all', async () => {
    expect((await run([callStep('read_note')], { capabilities: { prompts: {} } })).error).toBe(
      'The server lists no tool "read_note": it declares no tools capability.',
    );
  });

  it('is found on the last page of the list', async () => {
    const list: FixtureServerOptions['list'] = (all, cursor = '0') => {
      const page = Number(cursor);
      return { tools: all.slice(page, page + 1), ...(page + 1 < all.length && { nextCursor: String(page + 1) }) };
    };
    const { result, requests } = await run([callStep('fail'), isError], { list });
    expect({ result, requests }).toEqual({ result: 'passed', requests: ['list', 'list', 'list', 'call fail'] });
  });

  it('is found if an earlier call of the session added the tool', async () => {
    const own: Record<string, FixtureTool> = {};
    own['log_in'] = {
      call: () => {
        own['read_note'] = tools['read_note']!;
        return text('welcome');
      },
    };
    const { result, requests } = await run([callStep('log_in'), callStep('read_note')], { tools: own });
    expect({ result, requests }).toEqual({
      result: 'passed',
      requests: ['list', 'call log_in', 'list', 'call read_note'],
    });
  });

  it('stays found if a call removed the tool from the list', async () => {
    const own: Record<string, FixtureTool> = {};
    own['log_in'] = {
      call: () => {
        delete own['log_in'];
        return text('welcome');
      },
    };
    expect((await run([callStep('log_in')], { tools: own })).result).toBe('passed');
  });
});

describe('the list of tools', () => {
  it('is requested once, not once per session, as long as it has the tools', async () => {
    const { requests } = await run([callStep('read_note'), callStep('write_note')], {}, 3);
    expect(requests.filter((request) => request === 'list')).toHaveLength(1);
  });

  it('is asked for by each session that expects the error of a tool', async () => {
    let sessions = 0;
    const list: FixtureServerOptions['list'] = (all) => {
      sessions += 1;
      return { tools: sessions === 1 ? all : all.filter(({ name }) => name !== 'fail') };
    };
    const { outcomes } = await run([callStep('fail'), isError], { list }, 2);
    expect(outcomes.map(({ result, error }) => [result, error])).toEqual([
      ['passed', null],
      ['failed', 'The server lists no tool "fail"; it lists "read_note", "write_note".'],
    ]);
  });

  it.each([
    [() => refuse(-32603, 'boom'), 'The server answered tools/list with JSON-RPC error -32603: "boom".'],
    [
      () => ({ tools: 'none' }) as never,
      /^The server answered tools\/list with a result that is not valid MCP: \/tools: expected array, received string\.$/,
    ],
  ])('fails the iteration where the server cannot give it', async (list, error) => {
    const outcome = await run([callStep('read_note'), isError], { list });
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed', steps: ['fail', 'skipped'] });
    expect(outcome.error).toEqual(typeof error === 'string' ? error : expect.stringMatching(error));
  });
});

describe('toolNotFound', () => {
  it.each([
    [notFound('read_note'), 'toolNotFound: the server lists read_note.'],
    [notFound('never'), 'toolNotFound: never has not answered.'],
  ])('fails on a tool that exists or was not called', async (assertion, error) => {
    expect((await run([callStep('read_note'), assertion])).error).toBe(error);
  });

  it('fails where the server does not list the tool and answers its call all the same', async () => {
    const list: FixtureServerOptions['list'] = (all) => ({ tools: all.filter(({ name }) => name !== 'read_note') });
    expect((await run([callStep('read_note'), notFound('read_note')], { list })).error).toBe(
      'toolNotFound: read_note answered the call without an error.',
    );
  });

  it('excuses only calls of the tool that it names', async () => {
    const { result, steps } = await run([callStep('other'), callStep('removed'), notFound('removed')]);
    expect({ result, steps }).toEqual({ result: 'failed', steps: ['fail', 'skipped', 'skipped'] });
  });

  it('holds as a check at the end', async () => {
    const check: Assertion & { type: 'toolNotFound' } = { type: 'toolNotFound', toolName: 'removed' };
    const overrides = { predicates: { mode: 'replace' as const, list: [check] } };
    expect((await run([callStep('removed'), callStep('read_note')], { overrides })).result).toBe('passed');
  });
});
