import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Target } from '../../src/mcp/session.ts';
import type { Assertion, Check, NegatableCheck } from '../../src/checks/assertion.ts';
import { noBrowserReason } from '../../src/checks/widgets.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { refuse, startFixtureMcpServer, text, type FixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let target: Target;

beforeAll(async () => {
  server = await startFixtureMcpServer({
    'get-sum': { call: ({ args }) => text(`The sum is ${Number(args['a']) + Number(args['b'])}.`) },
    weather: { call: () => ({ ...text('4 degrees'), structuredContent: { degrees: 4 } }) },
    fail: { call: () => ({ ...text('out of order'), isError: true }) },
    refuse: { call: () => refuse(-32602, 'a must be a number') },
  });
  target = { url: server.url, serverName: 'math', protocol: 'legacy' };
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const sum = callStep('get-sum', { a: 2, b: 3 });
const sumIs5 = assertStep({ type: 'toolResultContains', needle: '5' });

async function run(steps: Step[], overrides: Partial<TestCase> = {}): Promise<CaseOutcome> {
  return await runCase(createCase(steps, overrides), target, { clock: systemClock, timeoutMs: 30_000 });
}

function summarize({ status, result, error, steps }: CaseOutcome): unknown {
  return { status, result, error, steps: steps.map((step) => step.status) };
}

describe('runCase', () => {
  it('passes a case whose steps all do', async () => {
    const outcome = await run([sum, sumIs5]);
    expect(summarize(outcome)).toEqual({ status: 'completed', result: 'passed', error: null, steps: ['ok', 'ok'] });
    expect(outcome.actualToolCalls).toEqual([{ toolName: 'get-sum', arguments: { a: 2, b: 3 } }]);
    expect(outcome.steps).toEqual([
      {
        stepId: 'get-sum',
        stepIndex: 0,
        kind: 'toolCall',
        status: 'ok',
        reason: null,
        evidence: { toolCalls: [{ name: 'get-sum', args: { a: 2, b: 3 }, ok: true }] },
      },
      { stepId: 'toolResultContains', stepIndex: 1, kind: 'assert', status: 'ok', reason: null },
    ]);
  });

  it('ends at a failed assert and skips what follows', async () => {
    const outcome = await run([sum, assertStep({ type: 'toolResultContains', needle: '6' }), callStep('weather')]);
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'toolResultContains: the result of get-sum is "The sum is 5." and does not contain "6".',
      steps: ['ok', 'fail', 'skipped'],
    });
    expect(outcome.actualToolCalls).toHaveLength(1);
  });

  it('judges an assert on everything so far and on nothing that comes later', async () => {
    const calledWeather = assertStep({ type: 'toolCalledAtLeastOnce', toolName: 'weather' });
    expect((await run([callStep('weather'), sum, calledWeather])).result).toBe('passed');
    expect((await run([sum, calledWeather, callStep('weather')])).result).toBe('failed');
  });

  it('fails on an error that a tool reports, and goes on', async () => {
    const outcome = await run([callStep('fail'), sum, sumIs5]);
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'fail answered with an error: "out of order".',
      steps: ['fail', 'ok', 'ok'],
    });
    expect(outcome.steps[0]?.evidence).toEqual({
      toolCalls: [{ name: 'fail', args: {}, ok: false, error: 'fail answered with an error: "out of order".' }],
    });
  });

  it('fails on an error of a tool, although a later assert cannot be measured', async () => {
    const unmeasured = assertStep({ type: 'noDestructiveToolCalled' });
    expect(summarize(await run([callStep('fail'), unmeasured]))).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'fail answered with an error: "out of order".',
      steps: ['fail', 'skipped'],
    });
    expect(summarize(await run([sum, unmeasured]))).toMatchObject({ status: 'failed', result: null });
  });

  it('fails on a JSON-RPC error from a live server', async () => {
    expect(summarize(await run([callStep('refuse')]))).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'refuse failed with JSON-RPC error -32602: "a must be a number".',
      steps: ['fail'],
    });
  });

  it.each(['fail', 'refuse'])('passes in spite of an error of %s when failOnToolError is false', async (toolName) => {
    const outcome = await run([callStep(toolName)], { advancedConfig: { failOnToolError: false } });
    expect(summarize(outcome)).toEqual({ status: 'completed', result: 'passed', error: null, steps: ['ok'] });
    expect(outcome.steps[0]?.evidence?.toolCalls?.[0]?.ok).toBe(false);
  });

  it('still fails an explicit noToolErrors when failOnToolError is false', async () => {
    const steps = [callStep('fail'), assertStep({ type: 'noToolErrors' })];
    expect((await run(steps, { advancedConfig: { failOnToolError: false } })).error).toBe(
      'noToolErrors: fail answered with an error: "out of order".',
    );
  });

  it('passes a case that asserts what an error is like, and fails one whose error is another', async () => {
    const expected = (code: number) => assertStep({ type: 'toolError', error: { code, contains: 'must be' } });
    expect((await run([callStep('refuse'), expected(-32_602)])).error).toBeNull();
    expect((await run([callStep('refuse'), expected(-32_603)])).error).toBe(
      'toolError: refuse answered with JSON-RPC error -32602: "a must be a number"; expected code -32603.',
    );
    expect((await run([callStep('fail'), callStep('refuse'), expected(-32_602)])).error).toBe(
      'fail answered with an error: "out of order".',
    );
  });

  it('excuses an error that one of several assertions expects', async () => {
    const anyOf = assertStep({
      type: 'anyOf',
      assertions: [
        { type: 'toolResultContains', needle: 'sum' },
        { type: 'toolError', error: { contains: 'out of order' } },
      ],
    });
    expect((await run([callStep('fail'), anyOf])).error).toBeNull();
    expect((await run([sum, anyOf])).error).toBeNull();
    expect((await run([callStep('refuse'), anyOf])).error).toMatch(
      /^anyOf: none holds: toolResultContains: .*; toolError: /,
    );
  });

  it.each(['fail', 'refuse'])('passes a case that asserts the error of %s', async (toolName) => {
    const isError: Check = { type: 'toolResultIsError', isError: true };
    expect((await run([callStep(toolName), assertStep(isError)])).result).toBe('passed');
    expect((await run([callStep(toolName)], { predicates: { mode: 'replace', list: [isError] } })).result).toBe(
      'passed',
    );
  });

  it('excuses only the call that an assertion on errors judges', async () => {
    const isError = assertStep({ type: 'toolResultIsError', isError: true });
    const early = { ...callStep('refuse'), id: 'early' };
    const outcome = await run([early, callStep('fail'), isError]);
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'failed',
      error: 'refuse failed with JSON-RPC error -32602: "a must be a number".',
      steps: ['fail', 'ok', 'ok'],
    });
    expect(summarize(await run([callStep('fail'), isError, callStep('refuse')]))).toMatchObject({
      result: 'failed',
      steps: ['ok', 'ok', 'fail'],
    });
    const both = [early, { ...isError, id: 'first' }, callStep('fail'), isError];
    expect((await run(both)).result).toBe('passed');
  });

  it('excuses the latest call of the tool that an assertion on errors names', async () => {
    const isError: Check = { type: 'toolResultIsError', isError: true, toolName: 'fail' };
    expect((await run([callStep('fail'), sum, assertStep(isError)])).result).toBe('passed');
    const again = { ...callStep('fail'), id: 'again' };
    expect(summarize(await run([callStep('fail'), again, sum, assertStep(isError)]))).toMatchObject({
      result: 'failed',
      steps: ['fail', 'ok', 'ok', 'ok'],
    });
    const predicates = { mode: 'replace' as const, list: [isError] };
    expect(summarize(await run([callStep('fail'), callStep('refuse')], { predicates }))).toMatchObject({
      result: 'failed',
      steps: ['ok', 'fail'],
    });
  });

  it('excuses nothing for an assertion that a tool has not failed', async () => {
    const isFine = assertStep({ type: 'toolResultIsError', isError: false });
    expect((await run([callStep('fail'), sum, isFine])).error).toBe('fail answered with an error: "out of order".');
  });

  it('lets an assert read the message of a JSON-RPC error', async () => {
    const steps = [
      callStep('refuse'),
      assertStep({ type: 'toolResultIsError', isError: true }),
      assertStep({ type: 'toolResultContains', needle: 'must be a number' }),
    ];
    expect((await run(steps)).result).toBe('passed');
  });

  it('judges the checks on the whole transcript, after the steps', async () => {
    const list: Check[] = [
      { type: 'toolCalledAtLeastOnce', toolName: 'weather' },
      { type: 'toolNeverCalled', toolName: 'get-sum' },
    ];
    const outcome = await run([sum, callStep('weather')], { predicates: { mode: 'extend', list } });
    expect(outcome.predicates).toEqual([
      {
        predicate: list[0],
        passed: true,
        state: 'passed',
        reason: 'toolCalledAtLeastOnce: weather was called once; tools called: get-sum, weather.',
      },
      { predicate: list[1], passed: false, state: 'failed', reason: 'toolNeverCalled: get-sum was called once.' },
    ]);
    expect(outcome.trace.metadata).toEqual({ predicates: outcome.predicates });
    expect(outcome.result).toBe('failed');
    expect(outcome.error).toBe('toolNeverCalled: get-sum was called once.');
  });

  it('reports every failed step and check', async () => {
    const list: Check[] = [
      { type: 'toolNeverCalled', toolName: 'get-sum' },
      { type: 'toolCalledAtLeastOnce', toolName: 'get-sum' },
      { type: 'toolCalledAtLeastOnce', toolName: 'weather' },
    ];
    const steps = [callStep('fail'), callStep('refuse'), sum];
    expect((await run(steps, { predicates: { mode: 'replace', list } })).error).toMatchInlineSnapshot(`
      "fail answered with an error: "out of order".
      refuse failed with JSON-RPC error -32602: "a must be a number".
      toolNeverCalled: get-sum was called once.
      toolCalledAtLeastOnce: weather was never called; tools called: fail, refuse, get-sum."
    `);
  });

  it('counts the failed checks that it has no room for', async () => {
    const list = Array.from({ length: 40 }, (_, index): Check => ({ type: 'firstToolWas', toolName: `tool-${index}` }));
    const { error } = await run([sum], { predicates: { mode: 'replace', list } });
    expect(error?.split('\n').at(0)).toBe('firstToolWas: the first tool was get-sum, expected tool-0.');
    expect(error?.split('\n').at(-1)).toBe('+25 more');
  });

  it.each([
    ['a check', [], [{ type: 'noToolErrors' }]],
    ['the assertion that a case of one call gets', [assertStep({ type: 'noToolErrors' })], []],
  ] as Array<[string, Step[], Check[]]>)(
    'gives the error of a call once, next to noToolErrors as %s',
    async (_, steps, list) => {
      const predicates = { mode: 'replace' as const, list };
      expect((await run([callStep('fail'), ...steps], { predicates })).error).toBe(
        'fail answered with an error: "out of order".',
      );
      expect((await run([callStep('gone'), ...steps], { predicates })).error).toMatch(/^[^\n]*"gone"[^\n]*$/);
      const allowed = { predicates, advancedConfig: { failOnToolError: false } };
      expect((await run([callStep('fail'), ...steps], allowed)).error).toBe(
        'noToolErrors: fail answered with an error: "out of order".',
      );
    },
  );

  it('reports advice, and lets it change nothing', async () => {
    const six = { type: 'toolResultContains', needle: '6', role: 'advisory' } as const;
    const steps = [sum, assertStep(six), callStep('weather')];
    const outcome = await run(steps, { predicates: { mode: 'replace', list: [six] } });
    expect(summarize(outcome)).toEqual({
      status: 'completed',
      result: 'passed',
      error: null,
      steps: ['ok', 'ok', 'ok'],
    });
    const reason = 'toolResultContains: the result of get-sum is "The sum is 5." and does not contain "6".';
    expect(outcome.steps[1]?.reason).toBe(`Advisory: ${reason}`);
    expect(outcome.predicates).toMatchObject([{ predicate: six, passed: false, state: 'failed' }]);
    const unmeasured: Check = { type: 'noDestructiveToolCalled', role: 'advisory' };
    expect((await run([sum], { predicates: { mode: 'replace', list: [unmeasured] } })).result).toBe('passed');
    const expected = assertStep({ type: 'toolResultIsError', isError: true, role: 'advisory' });
    expect((await run([callStep('fail'), expected])).result).toBe('failed');
  });

  it('gives an iteration no result for a check that was not measured, unless something fails it', async () => {
    const unmeasured: Check = { type: 'noDestructiveToolCalled' };
    const why =
      'noDestructiveToolCalled: no tool carries annotations, so the server does not say which tools are destructive.';
    expect(summarize(await run([sum], { predicates: { mode: 'replace', list: [unmeasured] } }))).toEqual({
      status: 'failed',
      result: null,
      error: why,
      steps: ['ok'],
    });
    const list: Check[] = [unmeasured, { type: 'toolNeverCalled', toolName: 'get-sum' }];
    expect(summarize(await run([sum], { predicates: { mode: 'replace', list } }))).toMatchObject({
      result: 'failed',
      error: 'toolNeverCalled: get-sum was called once.',
    });
    expect(await run([sum, assertStep(unmeasured)])).toMatchObject({ status: 'failed', result: null, error: why });
  });

  it('judges arguments by the list of tools that the server gave', async () => {
    const list: Check[] = [{ type: 'argumentsMatchToolSchema' }];
    const outcome = await run([sum], { predicates: { mode: 'replace', list } });
    expect(outcome.predicates).toMatchObject([{ state: 'passed' }]);
  });

  it('passes a negated assertion that does not hold, and expects the error that it calls for', async () => {
    const not = (assertion: NegatableCheck) => assertStep({ type: 'not', assertion });
    expect((await run([sum, not({ type: 'toolResultContains', needle: '6' })])).result).toBe('passed');
    expect((await run([sum, not({ type: 'toolResultContains', needle: '5' })])).result).toBe('failed');
    expect((await run([callStep('fail'), not({ type: 'toolResultIsError', isError: false })])).result).toBe('passed');
  });

  it('has no checks to inherit', async () => {
    const list: Check[] = [{ type: 'toolNeverCalled', toolName: 'get-sum' }];
    const outcome = await run([sum], { predicates: { mode: 'inherit', list } });
    expect(outcome.result).toBe('passed');
    expect(outcome.predicates).toEqual([]);
  });

  it('fails a check of an unknown type', async () => {
    const list = [{ type: 'looksNice' }] as unknown as Check[];
    expect((await run([sum], { predicates: { mode: 'replace', list } })).error).toBe(
      'unknown predicate type "looksNice": nothing can be judged by it.',
    );
  });

  it('has no final message without a model', async () => {
    const steps = [sum, assertStep({ type: 'responseContains', needle: '5' })];
    expect((await run(steps)).error).toBe(
      'responseContains: the final assistant message is empty and does not contain "5".',
    );
  });

  it('does not fail a negative case for its pinned calls', async () => {
    expect((await run([sum, sumIs5], { isNegativeTest: true })).result).toBe('passed');
  });

  it.each<Assertion>([
    { type: 'widgetRendered' },
    { kind: 'textVisible', toolName: 'weather', text: '4' },
    { kind: 'widgetToolCalled', toolName: 'weather', calledToolName: 'get-sum' },
  ])('has no result for %j, since no browser runs', async (assertion) => {
    const outcome = await run([callStep('weather'), assertStep(assertion), sum]);
    const name = 'type' in assertion ? assertion.type : assertion.kind;
    expect(summarize(outcome)).toEqual({
      status: 'failed',
      result: null,
      error: `${name}: ${noBrowserReason}`,
      steps: ['ok', 'fail', 'skipped'],
    });
  });

  it('has no result at an interact step, since no browser runs', async () => {
    const interact: Step = {
      id: 'press',
      kind: 'interact',
      toolName: 'weather',
      action: { kind: 'key', key: 'Enter' },
    };
    expect(summarize(await run([callStep('weather'), interact, sum]))).toEqual({
      status: 'failed',
      result: null,
      error: noBrowserReason,
      steps: ['ok', 'fail', 'skipped'],
    });
  });

  it('ends without a result at a prompt, which nothing here can execute', async () => {
    const steps: Step[] = [
      { id: 'ask', kind: 'prompt', prompt: 'What is 2 + 3?' },
      assertStep({ type: 'toolCalledWith', toolName: 'get-sum', args: { args: { a: 2, b: 3 } } }),
    ];
    const outcome = await run(steps);
    expect(summarize(outcome)).toEqual({
      status: 'failed',
      result: null,
      error: 'Prompt steps need a model, and none is configured here.',
      steps: ['fail', 'skipped'],
    });
    expect(outcome.expectedToolCalls).toEqual([{ toolName: 'get-sum', arguments: { a: 2, b: 3 } }]);
    expect(outcome.trace.prompts).toEqual([]);
  });

  it('expects no calls of a model in a case without prompts', async () => {
    const steps = [sum, assertStep({ type: 'toolCalledWith', toolName: 'get-sum', args: { args: { a: 2 } } })];
    const outcome = await run(steps);
    expect(outcome.result).toBe('passed');
    expect(outcome.expectedToolCalls).toEqual([]);
  });

  it('ends without a result at a call of a server that is not under test', async () => {
    expect(summarize(await run([{ ...sum, serverName: 'search' }]))).toEqual({
      status: 'failed',
      result: null,
      error: 'The step calls server "search", and only "math" is under test.',
      steps: ['fail'],
    });
    expect((await run([{ ...sum, serverName: 'math' }])).result).toBe('passed');
    // Ids are for the service, which names the server before a run.
    expect((await run([{ ...sum, serverName: 'math', serverId: 'srv_1' }])).result).toBe(null);
  });
});
