import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { startIterationLimit } from '../../src/engine/iteration-limit.ts';
import { isTooDeep, maxJsonDepth } from '../../src/base/json.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { checkSchema, createSchemaThread, type SchemaLimits } from '../../src/engine/schema-check.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import {
  branchingRecursion,
  branchingValue,
  doubledReferences,
  nestArrays,
  uniqueItems,
  uniqueValue,
} from '../support/servers/endless-schemas.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { answerContent, answerWith, startRawMcpServer } from '../support/servers/raw-mcp-server.ts';

const limits: SchemaLimits = { memoryMiB: 128 };
const limitMs = 60_000;

/** The time that is left for a check that never ends. The start of the thread does not count. */
const tooLittleMs = 300;

function openThread({ memoryMiB } = limits) {
  const thread = createSchemaThread({ memoryMiB });
  return {
    judge: (
      schema: object,
      value: unknown,
      { leftMs = limitMs, signal }: { leftMs?: number; signal?: AbortSignal } = {},
    ) => {
      const job = { schema: JSON.stringify(schema), value, checksFormats: false };
      return thread.judge(job, { time: { limitMs, leftMs }, signal });
    },
    [Symbol.asyncDispose]: () => thread.close(),
  };
}

describe('the thread that judges by schemas', () => {
  it.each([
    ['doubles its references', doubledReferences, {}],
    ['compares 60,000 objects with each other', uniqueItems, uniqueValue],
  ])('stops a schema that %s, and judges the next value', async (_, schema, value) => {
    await using thread = openThread();
    const [stopped, next] = await Promise.all([
      thread.judge(schema, value, { leftMs: tooLittleMs }),
      thread.judge({ type: 'object' }, {}),
    ]);
    expect(stopped).toEqual({ kind: 'stopped', reason: 'it does not end within 60 s' });
    expect(next).toEqual({ kind: 'valid' });
  });

  it('stops a schema that branches at each level of the value, by time or by memory', async () => {
    await using thread = openThread({ memoryMiB: 64 });
    expect(await thread.judge(branchingRecursion, branchingValue, { leftMs: tooLittleMs })).toMatchObject({
      kind: 'stopped',
      reason: expect.stringMatching(/^it (?:does not end within 60 s|needs more than 64 MiB of memory)$/),
    });
    expect(await thread.judge({ type: 'array' }, {})).toMatchObject({ kind: 'invalid' });
  });

  it('stops a value that does not fit into its memory, and nothing else', async () => {
    await using thread = openThread({ memoryMiB: 16 });
    const value = Array.from({ length: 400_000 }, (_, index) => ({ index, text: `item ${index}` }));
    expect(await thread.judge({ type: 'array' }, value)).toEqual({
      kind: 'stopped',
      reason: 'it needs more than 16 MiB of memory',
    });
    expect(await thread.judge({ type: 'array' }, [])).toEqual({ kind: 'valid' });
  });

  it('stops a schema that only refers to itself', async () => {
    await using thread = openThread();
    expect(await thread.judge({ $ref: '#' }, {})).toEqual({
      kind: 'stopped',
      reason: 'the schema refers to itself deeper than the stack',
    });
  });

  it('keeps a mismatch that it found before it was stopped', async () => {
    await using thread = openThread();
    const schema = { allOf: [{ type: 'array' }, doubledReferences.$defs['d0']], $defs: doubledReferences.$defs };
    // Enough for a busy machine to find the mismatch.
    expect(await thread.judge(schema, {}, { leftMs: 3000 })).toEqual({
      kind: 'invalid',
      mismatches: ['it must be array'],
    });
  });

  it('ends a check whose caller gives up, and judges the next value', async () => {
    await using thread = openThread();
    const caller = new AbortController();
    const stopped = thread.judge(doubledReferences, {}, { signal: caller.signal });
    const next = thread.judge({ type: 'object' }, {});
    caller.abort(new Error('The caller left.'));
    await expect(stopped).rejects.toThrow('The caller left.');
    expect(await next).toEqual({ kind: 'valid' });
  });

  it('starts again after it was closed', async () => {
    await using thread = openThread();
    expect(await thread.judge({ type: 'object' }, {})).toEqual({ kind: 'valid' });
    await thread[Symbol.asyncDispose]();
    expect(await thread.judge({ type: 'object' }, [])).toMatchObject({ kind: 'invalid' });
  });
});

describe('isTooDeep', () => {
  it('takes the limit and nothing deeper, whatever holds the values', () => {
    const nest = (depth: number, [open, close]: [string, string]): unknown =>
      JSON.parse(`${open.repeat(depth - 1)}[]${close.repeat(depth - 1)}`);
    for (const pair of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[1,', ',2]'],
    ] satisfies Array<[string, string]>) {
      expect(isTooDeep(nest(maxJsonDepth, pair))).toBe(false);
      expect(isTooDeep(nest(maxJsonDepth + 1, pair))).toBe(true);
    }
    expect(isTooDeep(nest(200_000, ['[', ']']))).toBe(true);
    expect([1, 'a', null, undefined].some(isTooDeep)).toBe(false);
  });

  it('runs before a schema is printed', async () => {
    const deep: object = JSON.parse(`${'{"not":'.repeat(20_000)}true${'}'.repeat(20_000)}`);
    expect(await checkSchema({ ...deep }, {})).toEqual({
      kind: 'stopped',
      reason: 'the schema is nested deeper than 1000 levels',
    });
  });
});

describe('the time of an iteration', () => {
  it('does not pass while it is held', async () => {
    const clock = new ManualClock();
    using limit = startIterationLimit(clock, 1000, undefined);
    await clock.advance(600);
    const held = limit.hold();
    await clock.advance(5000);
    expect(limit.stoppedBy()).toBe(null);
    held[Symbol.dispose]();
    await clock.advance(399);
    expect(limit.stoppedBy()).toBe(null);
    await clock.advance(1);
    expect(limit.stoppedBy()).toBe('timeout');
  });

  it('stands still once while it is held twice, until both are over', async () => {
    const clock = new ManualClock();
    using limit = startIterationLimit(clock, 1000, undefined);
    const [first, second] = [limit.hold(), limit.hold()];
    await clock.advance(5000);
    first[Symbol.dispose]();
    await clock.advance(5000);
    expect(limit.stoppedBy()).toBe(null);
    second[Symbol.dispose]();
    await clock.advance(999);
    expect(limit.stoppedBy()).toBe(null);
    await clock.advance(1);
    expect(limit.stoppedBy()).toBe('timeout');
  });
});

describe('runCase on results that cannot be checked', () => {
  const options = { clock: systemClock, timeoutMs: 30_000 };

  it('fails a result nested 10,000 levels deep, also where the case expects an error, and takes one of 900', async () => {
    await using server = await startRawMcpServer({
      deep: { call: answerContent(nestArrays(10_000)) },
      nested: { call: answerContent(nestArrays(900)) },
    });
    const target = { url: server.url, serverName: 'raw', protocol: 'legacy' as const };
    const isError = assertStep({ type: 'toolResultIsError', isError: true });
    const deep = await runCase(createCase([callStep('deep'), isError]), target, options);
    expect(deep).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'The server sent JSON that is nested deeper than 1000 levels, the limit for one iteration.',
      steps: [{ status: 'fail' }, { status: 'skipped' }],
    });
    expect((await runCase(createCase([callStep('nested')]), target, options)).result).toBe('passed');
  });

  it('fails a text of JSON nested 10,000 levels deep that is to be a document', async () => {
    const content = JSON.stringify([{ type: 'text', text: nestArrays(10_000) }]);
    await using server = await startRawMcpServer({ text: { call: answerWith(`{"content":${content}}`) } });
    const target = { url: server.url, serverName: 'raw', protocol: 'legacy' as const };
    const steps = [callStep('text'), assertStep({ type: 'toolResultMatchesSchema', schema: { type: 'object' } })];
    const outcome = await runCase(createCase(steps), target, options);
    expect(outcome).toMatchObject({
      result: 'failed',
      error: 'toolResultMatchesSchema: the result of text is JSON that is nested deeper than 1000 levels.',
    });
  });
});
