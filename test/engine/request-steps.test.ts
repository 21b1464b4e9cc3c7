import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { capabilities, prepareLibrary } from '../support/servers/library-server.ts';

const eras = ['legacy', 'modern'] as const;

describe.each(eras)('steps that call no tool, %s era', (era) => {
  let server: FixtureMcpServer;
  let calls = 0;

  beforeAll(async () => {
    server = await startFixtureMcpServer(
      {
        touch: {
          call: async ({ args }) => {
            await server.reportChange(String(args['uri']));
            return text('touched');
          },
        },
        poll: {
          call: () => {
            calls += 1;
            return calls < 3 ? { ...text(`not yet ${calls}`), isError: calls === 1 } : text(`ready after ${calls}`);
          },
        },
      },
      { era, capabilities, prepare: prepareLibrary },
    );
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const run = async (steps: Step[], overrides: Partial<TestCase> = {}): Promise<CaseOutcome> => {
    const target = { url: server.url, serverName: 'library', protocol: era };
    return await runCase(createCase(steps, overrides), target, { clock: systemClock, timeoutMs: 20_000 });
  };
  const read = (uri: string): Step => ({ id: 'read', kind: 'readResource', uri });

  it('reads resources, gets prompts, completes arguments, lists all kinds and pings', async () => {
    const outcome = await run([
      read('note://1'),
      { id: 'prompt', kind: 'getPrompt', name: 'greet', arguments: { name: 'Ada' } },
      {
        id: 'complete',
        kind: 'complete',
        argument: 'city',
        value: 'Pa',
        of: { prompt: 'greet' },
        arguments: { country: 'France' },
      },
      { id: 'tools', kind: 'listTools' },
      { id: 'resources', kind: 'listResources' },
      { id: 'templates', kind: 'listResourceTemplates' },
      { id: 'prompts', kind: 'listPrompts' },
      { id: 'ping', kind: 'ping' },
    ]);
    expect(outcome.error).toBeNull();
    expect(outcome.steps.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'readResource ok',
      'getPrompt ok',
      'complete ok',
      'listTools ok',
      'listResources ok',
      'listResourceTemplates ok',
      'listPrompts ok',
      'ping ok',
    ]);
    expect(JSON.stringify(outcome.trace.messages)).toContain('buy milk');
    expect(outcome.actualToolCalls).toEqual([]);
  });

  it('leaves a span of each request below its step, with the code of an error', async () => {
    const { trace } = await run([
      read('note://9'),
      { id: 'prompt', kind: 'getPrompt', name: 'greet', arguments: { name: 'Ada' } },
      { id: 'ping', kind: 'ping' },
    ]);
    const spans = trace.spans.filter(({ category }) => category === 'request');
    expect(spans).toMatchObject([
      { name: 'resources/read', resourceUri: 'note://9', status: 'error', mcpErrorCode: -32602, parentId: 'step_1' },
      { name: 'prompts/get', promptName: 'greet', status: 'ok', authoredStepId: 'prompt', stepIndex: 1 },
      { name: 'ping', mcpMethod: 'ping', status: 'ok' },
    ]);
    expect(new Set(trace.spans.map(({ id }) => id)).size).toBe(trace.spans.length);
    expect(JSON.stringify(spans)).not.toContain('Ada');
  });

  it('fails on the error of a resource that does not exist, with its code, and goes on', async () => {
    const outcome = await run([read('note://9'), callStep('touch', { uri: 'note://1' })]);
    expect(outcome).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: `resources/read note://9 failed with JSON-RPC error -32602: "No note 9".`,
    });
    expect(outcome.steps.map(({ status }) => status)).toEqual(['fail', 'ok']);
  });

  const greet: Step = { id: 'greet', kind: 'getPrompt', name: 'greet', arguments: { name: 'Ada' } };
  const complete: Step = {
    id: 'complete',
    kind: 'complete',
    argument: 'city',
    value: 'Pa',
    of: { prompt: 'greet' },
    arguments: {},
  };

  it.each<[Step, Assertion]>([
    [read('note://1'), { type: 'resourceContains', needle: 'MILK' }],
    [read('note://1'), { type: 'resourceEquals', value: 'buy milk' }],
    [read('note://1'), { type: 'resourceMimeType', mimeType: 'text/plain' }],
    [read('note://2'), { type: 'resourceMatches', pattern: 'eggs"', uri: 'note://2' }],
    [read('note://2'), { type: 'resourceEquals', value: ['eggs', 'milk'], path: '/items', unordered: true }],
    [read('note://2'), { type: 'resourceMatchesSchema', schema: { required: ['title'] } }],
    [greet, { type: 'promptContains', needle: 'Say hello to Ada' }],
    [greet, { type: 'promptMatches', pattern: '^Say', name: 'greet' }],
    [greet, { type: 'promptEquals', value: 'assistant', path: '/messages/1/role' }],
    [greet, { type: 'promptMatchesSchema', schema: { properties: { messages: { minItems: 2 } } } }],
    [complete, { type: 'completionContains', needle: 'Padua', argument: 'city' }],
    [complete, { type: 'completionEquals', value: ['Paris', 'Padua'] }],
    [read('note://9'), { type: 'requestError', error: { code: -32602, contains: 'no note' } }],
  ])('passes where the reply is as expected: %j, %j', async (step, assertion) => {
    expect((await run([step, assertStep(assertion)])).error).toBeNull();
  });

  it.each<[Step, Assertion, string]>([
    [
      read('note://1'),
      { type: 'resourceContains', needle: 'eggs' },
      'resourceContains: the result of note://1 is "buy milk" and does not contain "eggs".',
    ],
    [
      read('note://2'),
      { type: 'resourceMimeType', mimeType: 'text/plain' },
      'resourceMimeType: the MIME type of note://2 is application/json, expected text/plain.',
    ],
    [
      read('note://1'),
      { type: 'resourceContains', needle: 'milk', uri: 'note://2' },
      'resourceContains: "note://2" was not read.',
    ],
    [
      read('note://1'),
      { type: 'resourceMatchesSchema', schema: true },
      'resourceMatchesSchema: the result of note://1 is "buy milk", which is not JSON, and it has no structuredContent.',
    ],
    [read('note://1'), { type: 'promptContains', needle: 'a' }, 'promptContains: no prompt was requested.'],
    [
      greet,
      { type: 'promptEquals', value: 'user', path: '/messages/1/role' },
      'promptEquals: /messages/1/role in the result of prompt greet is "assistant", expected "user".',
    ],
    [
      complete,
      { type: 'completionEquals', value: ['Paris'] },
      'completionEquals: the result of completing city is not as expected: /1 is "Padua", expected nothing.',
    ],
    [
      read('note://1'),
      { type: 'requestError', error: { code: -32602 } },
      'requestError: the result of note://1 is "buy milk" and is no error, expected an error.',
    ],
    [
      read('note://9'),
      { type: 'requestError', error: { code: -32601 } },
      'requestError: note://9 answered with JSON-RPC error -32602: "No note 9"; expected code -32601.',
    ],
  ])('fails where the reply is another one: %j, %j', async (step, assertion, reason) => {
    expect(await run([step, assertStep(assertion)])).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: reason,
    });
  });

  it('waits for a change of a resource that it is subscribed to', async () => {
    const outcome = await run([
      { id: 'subscribe', kind: 'subscribe', uri: 'note://1' },
      callStep('touch', { uri: 'note://1' }),
      { id: 'update', kind: 'waitForUpdate', uri: 'note://1', withinMs: 5000 },
      callStep('touch', { uri: 'note://1' }),
    ]);
    expect(outcome.error).toBeNull();
    const spans = outcome.trace.spans.filter(({ category }) => category === 'request');
    const subscribe = era === 'modern' ? 'subscriptions/listen' : 'resources/subscribe';
    expect(spans).toMatchObject([
      { name: subscribe, resourceUri: 'note://1', status: 'ok', parentId: 'step_1' },
      { name: 'notifications/resources/updated', resourceUri: 'note://1', status: 'ok', parentId: 'step_3' },
    ]);
  });

  it('fails where no change comes in time, or only one of another resource', async () => {
    const outcome = await run([
      { id: 'subscribe', kind: 'subscribe', uri: 'note://1' },
      callStep('touch', { uri: 'note://10' }),
      { id: 'update', kind: 'waitForUpdate', uri: 'note://1', withinMs: 150 },
      callStep('touch', { uri: 'note://1' }),
    ]);
    expect(outcome.error).toBe('The server reported no change of note://1 within 150 ms.');
    expect(outcome.steps.at(-1)?.status).toBe('skipped');
  });

  it('repeats steps until an assertion holds, and counts the last round alone', async () => {
    calls = 0;
    const repeat: Step = {
      id: 'repeat',
      kind: 'repeat',
      steps: [callStep('poll')],
      until: { type: 'toolResultContains', needle: 'ready' },
      times: 5,
      everyMs: 10,
    };
    const outcome = await run([
      repeat,
      assertStep({ type: 'noToolErrors' }),
      assertStep({ type: 'toolCallCountUnder', count: 2 }),
    ]);
    expect(outcome.error).toBeNull();
    expect(calls).toBe(3);
    expect(JSON.stringify(outcome.trace.messages)).toContain('not yet 2');
  });

  it('fails once a repeated assertion has not held in all rounds', async () => {
    calls = 0;
    const outcome = await run([
      {
        id: 'repeat',
        kind: 'repeat',
        steps: [callStep('poll')],
        until: { type: 'toolResultContains', needle: 'ready' },
        times: 2,
        everyMs: 10,
      },
    ]);
    expect(outcome.error).toBe(
      'After 2 rounds, 10 ms apart: toolResultContains: the result of poll is "not yet 2" and does not contain "ready".',
    );
    expect(outcome.result).toBe('failed');
  });

  it('stops waiting when the time of the iteration is up', async () => {
    const outcome = await run([{ id: 'pause', kind: 'wait', ms: 15_000 }], { advancedConfig: { timeoutMs: 100 } });
    expect(outcome).toMatchObject({ status: 'timed_out', error: 'Timed out after 100 ms in step "pause".' });
    expect((await run([{ id: 'pause', kind: 'wait', ms: 5 }])).result).toBe('passed');
  });
});

describe.each(eras)('steps that call no tool on a server with tools alone, %s era', (era) => {
  const steps: Array<[Step, string]> = [
    [{ id: 'a', kind: 'readResource', uri: 'note://1' }, 'resources'],
    [{ id: 'a', kind: 'listResources' }, 'resources'],
    [{ id: 'a', kind: 'getPrompt', name: 'greet', arguments: {} }, 'prompts'],
    [
      { id: 'a', kind: 'complete', argument: 'b', value: '', of: { resourceTemplate: 'note://{id}' }, arguments: {} },
      'completions',
    ],
    [{ id: 'a', kind: 'subscribe', uri: 'note://1' }, 'resources.subscribe'],
  ];

  it('fails each with the capability that the server lacks', async () => {
    await using server = await startFixtureMcpServer({ echo: { call: () => text('a') } }, { era });
    const target = { url: server.url, serverName: 'library', protocol: era };
    for (const [step, capability] of steps) {
      const outcome = await runCase(createCase([step]), target, { clock: systemClock, timeoutMs: 20_000 });
      expect(outcome).toMatchObject({ status: 'completed', result: 'failed' });
      expect(outcome.error).toContain(`the server declares no capability \`${capability}\``);
    }
  });
});
