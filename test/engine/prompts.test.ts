import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../src/base/errors.ts';
import { type Clock, systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Target } from '../../src/mcp/session.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { createJumpingClock } from '../support/clocks/bent-clock.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { createScriptedSession, type ScriptedAnswer } from '../support/models/scripted-session.ts';
import { createAbilityServer } from '../support/servers/ability-server.ts';
import { startFixtureMcpServer, text, type FixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let target: Target;

beforeAll(async () => {
  server = await startFixtureMcpServer({
    'get-sum': {
      description: 'Adds two numbers.',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      call: ({ args }) => text(`The sum is ${Number(args['a']) + Number(args['b'])}.`),
    },
    fail: { call: () => ({ ...text('out of order'), isError: true }) },
    picture: { call: () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }) },
  });
  target = { url: server.url, serverName: 'math', protocol: 'legacy' };
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const ask = (prompt: string, id = 'ask'): Step => ({ id, kind: 'prompt', prompt });
const callSum = { tool: 'get-sum', input: { a: 2, b: 3 } };
const sumCalled = assertStep({ type: 'toolCalledWith', toolName: 'get-sum', args: { args: { a: 2 } } });
const says5 = assertStep({ type: 'responseContains', needle: '5' });

async function promptRunner(
  steps: Step[],
  script: ReadonlyArray<ScriptedAnswer | Error>,
  overrides: Partial<TestCase> = {},
): Promise<{ outcome: CaseOutcome; session: ReturnType<typeof createScriptedSession> }> {
  const session = createScriptedSession(script);
  const outcome = await runCase(createCase(steps, overrides), target, {
    clock: systemClock,
    timeoutMs: 30_000,
    openModel: async () => session,
  });
  return { outcome, session };
}

function summarize({ outcome: { status, result, error, steps } }: { outcome: CaseOutcome }): unknown {
  return { status, result, error, steps: steps.map((step) => step.status) };
}

describe('a tool that the server keeps from models', () => {
  it('sends the parameters of the case with every call of the model', async () => {
    const modelParameters = { reasoningEffort: 'low', maxOutputTokens: 700, topP: 0.9, seed: 7 } as const;
    const script = [{ calls: [callSum] }, { text: 'It is 5.' }];
    const set = await promptRunner([ask('2 + 3?')], script, { advancedConfig: { modelParameters } });
    const unset = await promptRunner([ask('2 + 3?')], script);
    expect(set.session.asked).toHaveLength(2);
    for (const call of set.session.asked) expect(call).toMatchObject(modelParameters);
    for (const call of unset.session.asked) expect(Object.keys(call).toSorted()).toEqual(['prompt', 'tools']);
  });

  it('is not offered to the model, and a call of it is an error that no server sees', async () => {
    const call = () => text('called');
    await using own = await startFixtureMcpServer({
      'for-both': { call },
      'for-model': { visibility: ['model'], call },
      'for-app': { visibility: ['app'], call },
      'for-neither': { visibility: [], call },
    });
    const session = createScriptedSession([{ calls: [{ tool: 'for-app', input: {} }] }, { text: 'It is done.' }]);
    const outcome = await runCase(
      createCase([ask('Do it.')]),
      { url: own.url, serverName: 'own', protocol: 'legacy' },
      { clock: systemClock, timeoutMs: 30_000, openModel: async () => session },
    );
    expect(session.asked[0]?.tools.map(({ name }) => name)).toEqual(['for-both', 'for-model']);
    expect(outcome).toMatchObject({ result: 'failed', error: 'The server keeps the tool "for-app" for its apps.' });
    expect(own.events.filter((event) => event.startsWith('call'))).toEqual([]);
  });
});

describe('a conversation that is too long for the model', () => {
  const tooLong = () => new ModelError('anthropic finds the conversation too long (400): No.', { kind: 'too-long' });

  it('fails the case after a result of a tool, and names the tool and the size', async () => {
    const { outcome } = await promptRunner([ask('What is 2 + 3?'), says5], [{ calls: [callSum] }, tooLong()]);
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
    expect(outcome.error).toMatch(/^The result of \d+ bytes of get-sum does not fit the model\. anthropic finds/);
  });

  it('leaves the iteration without a result before any tool was called', async () => {
    const { outcome } = await promptRunner([ask('What is 2 + 3?'), says5], [tooLong()]);
    expect(outcome).toMatchObject({ status: 'failed', result: null });
  });
});

describe('a tool that appears during a turn', () => {
  const talkTo = async (needle: string, script: ScriptedAnswer[]) => {
    await using own = await startFixtureMcpServer(
      {},
      { era: 'legacy', create: () => createAbilityServer('legacy', () => {}) },
    );
    const session = createScriptedSession(script);
    const outcome = await runCase(
      createCase([ask('Grow and harvest.'), assertStep({ type: 'toolResultContains', needle })]),
      { url: own.url, serverName: 'own', protocol: 'legacy' },
      { clock: systemClock, timeoutMs: 30_000, openModel: async () => session },
    );
    return { outcome, offered: session.asked.map(({ tools }) => tools.map(({ name }) => name)) };
  };
  const grow = { calls: [{ tool: 'grow', input: {} }] };
  const harvest = { calls: [{ tool: 'harvest', input: {} }] };

  it('is offered to the model in the same turn, and can be called', async () => {
    const brew = { calls: [{ tool: 'brew', input: {} }] };
    const { outcome, offered } = await talkTo('harvested', [grow, brew, harvest, { text: 'Done.' }]);
    expect(outcome.error).toBeNull();
    expect(offered[0]).not.toContain('harvest');
    expect(offered.at(-1)).toContain('harvest');
  });

  it('is judged by what it answers', async () => {
    const { outcome } = await talkTo('withered', [grow, harvest, { text: 'Done.' }]);
    expect(outcome.result).toBe('failed');
    expect(outcome.error).toContain('the result of harvest is "harvested"');
  });

  it('is still missing where the server does not list it', async () => {
    const { outcome } = await talkTo('harvested', [harvest, { text: 'Done.' }]);
    expect(outcome.error).toContain('The server lists no tool "harvest"');
  });
});

describe('a prompt', () => {
  it('passes when the model calls the expected tool and says the expected text', async () => {
    const talked = await promptRunner(
      [ask('What is 2 + 3?'), sumCalled, says5],
      [
        { calls: [callSum], tokens: { input: 10, output: 4 } },
        { text: 'It is 5.', tokens: { input: 20, output: 6 } },
      ],
      { advancedConfig: { system: 'You add.', temperature: 0 } },
    );
    expect(summarize(talked)).toEqual({
      status: 'completed',
      result: 'passed',
      error: null,
      steps: ['ok', 'ok', 'ok'],
    });
    const { outcome, session } = talked;
    expect(outcome.actualToolCalls).toEqual([{ toolName: 'get-sum', arguments: { a: 2, b: 3 } }]);
    expect(outcome.steps[0]?.evidence).toEqual({ toolCalls: [{ name: 'get-sum', args: { a: 2, b: 3 }, ok: true }] });
    expect(outcome.usage).toEqual({
      modelCalls: 2,
      replayedCalls: 0,
      inputTokens: 30,
      cachedInputTokens: 0,
      outputTokens: 10,
      unmeasuredCalls: 0,
    });
    expect(session.asked[0]).toMatchObject({
      temperature: 0,
      prompt: [
        { role: 'system', content: 'You add.' },
        { role: 'user', content: [{ type: 'text', text: 'What is 2 + 3?' }] },
      ],
      tools: [
        { type: 'function', name: 'get-sum', description: 'Adds two numbers.', inputSchema: { required: ['a', 'b'] } },
        { type: 'function', name: 'fail' },
        { type: 'function', name: 'picture' },
      ],
    });
    expect(session.asked[1]?.prompt.slice(2)).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: '1-0', toolName: 'get-sum', input: { a: 2, b: 3 } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: '1-0',
            toolName: 'get-sum',
            output: { type: 'text', value: 'The sum is 5.' },
          },
        ],
      },
    ]);
    expect(outcome.trace.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(outcome.trace.spans.map(({ category }) => category)).toEqual(['llm', 'tool', 'llm', 'step', 'step', 'step']);
  });

  it('fails when the model calls nothing and says something else', async () => {
    const talked = await promptRunner([ask('What is 2 + 3?'), sumCalled], [{ text: 'I do not know.' }]);
    expect(summarize(talked)).toEqual({
      status: 'completed',
      result: 'failed',
      error: [
        'toolCalledWith: expected a call of get-sum with {"a":2}, found 0; no tool was called.',
        'In turn 1 the model did not call get-sum.',
      ].join('\n'),
      steps: ['ok', 'fail'],
    });
    expect((await promptRunner([ask('What?'), says5], [{ text: 'It is 6.' }])).outcome.result).toBe('failed');
  });

  it('continues one conversation with the next prompt, and keeps pinned calls out of it', async () => {
    const { session, outcome } = await promptRunner(
      [ask('One'), callStep('get-sum', { a: 1, b: 1 }), ask('Two', 'again')],
      [{ text: 'First.' }, { text: 'Second.' }],
    );
    expect(outcome.result).toBe('passed');
    expect(session.asked[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('makes parallel calls in their order and answers each', async () => {
    const { session, outcome } = await promptRunner(
      [ask('Add')],
      [{ calls: [callSum, { tool: 'picture', input: {} }] }, { text: 'Done.' }],
    );
    expect(outcome.actualToolCalls.map(({ toolName }) => toolName)).toEqual(['get-sum', 'picture']);
    expect(session.asked[1]?.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [
        { toolCallId: '1-0', output: { type: 'text' } },
        {
          toolCallId: '1-1',
          output: {
            type: 'content',
            value: [{ type: 'file', data: { type: 'data', data: 'AAAA' }, mediaType: 'image/png' }],
          },
        },
      ],
    });
  });

  it.each([
    [{ tool: 'get-sun', input: {} }, 'The server lists no tool "get-sun"; did you mean "get-sum"?'],
    [{ tool: 'get-sum', text: '{"a": 2' }, 'The arguments of get-sum are not a JSON object.'],
    [
      { tool: 'get-sum', input: { a: 'x', b: 3 } },
      'The arguments of get-sum break its inputSchema: /a must be number.',
    ],
  ])(
    'answers a call that cannot be made with an error, records it and leaves it to the case: %j',
    async (call, reason) => {
      const script = [{ calls: [call] }, { text: 'Sorry.' }];
      const { session, outcome } = await promptRunner([ask('Add')], script);
      expect(outcome).toMatchObject({ status: 'completed', result: 'failed', error: reason });
      expect(outcome.actualToolCalls.map(({ toolName }) => toolName)).toEqual([call.tool]);
      expect(session.asked[1]?.prompt.at(-1)).toMatchObject({
        content: [{ output: { type: 'error-text', value: reason } }],
      });
      const lenient = await promptRunner([ask('Add')], script, { advancedConfig: { failOnToolError: false } });
      expect(lenient.outcome.result).toBe('passed');
    },
  );

  it('fails on an error of a tool that the model called, unless an assertion expects it', async () => {
    const script = [{ calls: [{ tool: 'fail', input: {} }] }, { text: 'It failed.' }];
    const failed = await promptRunner([ask('Try')], script);
    expect(failed.outcome).toMatchObject({ result: 'failed', error: 'fail answered with an error: "out of order".' });
    const expected = assertStep({ type: 'toolResultIsError', isError: true, toolName: 'fail' });
    expect((await promptRunner([ask('Try'), expected], script)).outcome.result).toBe('passed');
  });

  it('refuses a call that the policy forbids, and does not count it', async () => {
    const script = [{ calls: [{ tool: 'fail', input: {} }] }, { text: 'I may not.' }];
    const neverCalled = assertStep({ type: 'toolNeverCalled', toolName: 'fail' });
    const { outcome, session } = await promptRunner([ask('Try'), neverCalled], script, {
      advancedConfig: { toolPolicy: { deny: ['fail'] } },
    });
    expect(outcome.result).toBe('passed');
    expect(outcome.actualToolCalls).toEqual([]);
    expect(session.asked[0]?.tools.map(({ name }) => name)).toEqual(['get-sum', 'picture']);
    expect(session.asked[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'Calls of fail are not allowed here.' } }],
    });
    const allowed = await promptRunner([ask('Try')], script, {
      advancedConfig: { toolPolicy: { allow: ['get-sum'] } },
    });
    expect(allowed.outcome.actualToolCalls).toEqual([]);
    expect(allowed.session.asked[0]?.tools.map(({ name }) => name)).toEqual(['get-sum', 'fail', 'picture']);
  });

  it('ends without a result when the policy names a tool that does not exist', async () => {
    const { outcome } = await promptRunner([ask('Try')], [], { advancedConfig: { toolPolicy: { deny: ['fial'] } } });
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      error: '`toolPolicy` names the tool "fial", which the server does not list; did you mean "fail"?',
    });
  });

  it('offers decoys, and records the call of one as an error', async () => {
    const decoys = [{ name: 'send-mail', description: 'Sends a mail.' }];
    const script = [{ calls: [{ tool: 'send-mail', input: { to: 'a' } }] }, { text: 'Sent.' }];
    const { session, outcome } = await promptRunner(
      [ask('Mail'), assertStep({ type: 'toolNeverCalled', toolName: 'send-mail' })],
      script,
      {
        advancedConfig: { decoys, failOnToolError: false },
      },
    );
    expect(session.asked[0]?.tools.map(({ name }) => name)).toEqual(['get-sum', 'fail', 'picture', 'send-mail']);
    expect(outcome).toMatchObject({ result: 'failed', error: 'toolNeverCalled: send-mail was called once.' });
    const clash = await promptRunner([ask('Mail')], script, { advancedConfig: { decoys: [{ name: 'fail' }] } });
    expect(clash.outcome.result).toBeNull();
  });

  it.each([
    [[{ text: 'It is', finish: 'length' as const }], 'The model reached its output limit before it was done.'],
    [
      [{ calls: [callSum] }, { calls: [callSum] }],
      'The model asked for another tool in its answer 2, and `maxSteps` allows 2.',
    ],
  ])('fails when the model reaches a limit', async (script, reason) => {
    const { outcome } = await promptRunner([ask('Add'), says5], script, { advancedConfig: { maxSteps: 2 } });
    expect(outcome).toMatchObject({ status: 'completed', result: 'failed', error: reason });
  });

  it('asserts that the model calls nothing in a negative case', async () => {
    const negative = { isNegativeTest: true };
    expect((await promptRunner([ask('Hello')], [{ text: 'Hi.' }], negative)).outcome.result).toBe('passed');
    const called = await promptRunner([ask('Hello')], [{ calls: [callSum] }, { text: '5' }], negative);
    expect(called.outcome).toMatchObject({
      result: 'failed',
      error: 'In turn 1 the model called unexpectedly get-sum.',
    });
  });
});

describe('a model without an answer', () => {
  const unavailable = new ModelError('The provider scripted gave no answer.', { kind: 'unavailable' });
  const refused = new ModelError('scripted refuses the key.', { kind: 'refused', hint: 'Check SCRIPTED_API_KEY.' });
  const stale = new ModelError('The recording is stale: the result of get-sum changed.', { kind: 'stale' });

  it('leaves the iteration without a result, and the run going', async () => {
    const { outcome } = await promptRunner([ask('Add'), says5], [unavailable]);
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      error: 'The provider scripted gave no answer.',
      runStop: null,
    });
  });

  it('stops the run when no other call could succeed', async () => {
    const { outcome } = await promptRunner([ask('Add'), says5], [refused]);
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      error: 'scripted refuses the key. Check SCRIPTED_API_KEY.',
      runStop: 'scripted refuses the key. Check SCRIPTED_API_KEY.',
    });
    const none = await runCase(createCase([ask('Add')]), target, { clock: systemClock, timeoutMs: 30_000 });
    expect(none).toMatchObject({ status: 'failed', result: null, runStop: expect.stringContaining('need a model') });
  });

  it('stops the run for its own reason after a call that had failed', async () => {
    const { outcome } = await promptRunner([callStep('fail'), ask('Add')], [refused]);
    expect(outcome).toMatchObject({
      result: 'failed',
      error: 'fail answered with an error: "out of order".',
      runStop: 'scripted refuses the key. Check SCRIPTED_API_KEY.',
    });
  });

  it('judges by what happened before a recording went stale, and never passes', async () => {
    const script = [{ calls: [callSum] }, stale];
    const undecided = await promptRunner([ask('Add'), sumCalled, says5, callStep('get-sum', { a: 1, b: 1 })], script);
    expect(summarize(undecided)).toEqual({
      status: 'failed',
      result: null,
      error: 'The recording is stale: the result of get-sum changed.',
      steps: ['skipped', 'ok', 'skipped', 'skipped'],
    });
    const decided = await promptRunner(
      [ask('Add'), assertStep({ type: 'toolNeverCalled', toolName: 'get-sum' })],
      script,
    );
    expect(decided.outcome).toMatchObject({ status: 'completed', result: 'failed' });
    const neverSum = { type: 'toolNeverCalled' as const, toolName: 'get-sum' };
    const check = { predicates: { mode: 'replace' as const, list: [neverSum] } };
    expect((await promptRunner([ask('Add')], script, check)).outcome).toMatchObject({
      status: 'completed',
      result: 'failed',
    });
    const advice = { predicates: { mode: 'replace' as const, list: [{ ...neverSum, role: 'advisory' as const }] } };
    expect((await promptRunner([ask('Add')], script, advice)).outcome.result).toBeNull();
    const only = await promptRunner([ask('Add'), sumCalled], script);
    expect(only.outcome.result).toBeNull();
  });

  it('fails an iteration in which a pinned call had failed before', async () => {
    const { outcome } = await promptRunner([callStep('fail'), ask('Add')], [unavailable]);
    expect(outcome).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'fail answered with an error: "out of order".',
    });
  });

  it('does not count the time of the model against the server', async () => {
    const session = createScriptedSession([{ text: 'Late.' }]);
    const clock = createJumpingClock({ fromMs: 0, toMs: 0, instead: 0 });
    const timeoutMs = 30_000;
    // The timer of the iteration wakes while the model is asked, when twice its time has passed.
    const asked = Promise.withResolvers<void>();
    let isFirst = true;
    const sleep: Clock['sleep'] = async (delayMs, options) => {
      if (!isFirst || delayMs < timeoutMs / 2 || delayMs > timeoutMs) return await systemClock.sleep(delayMs, options);
      isFirst = false;
      return await asked.promise;
    };
    const slow = {
      ...session,
      answer: async (...args: Parameters<typeof session.answer>) => {
        clock.jump(2 * timeoutMs);
        asked.resolve();
        await setImmediate();
        return await session.answer(...args);
      },
    };
    const outcome = await runCase(createCase([ask('Add')]), target, {
      clock: { ...clock, sleep },
      timeoutMs,
      openModel: async () => slow,
    });
    expect([isFirst, outcome.result]).toEqual([false, 'passed']);
  });
});
