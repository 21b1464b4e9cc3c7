import { describe, expect, it } from 'vitest';
import { ModelError } from '../../src/base/errors.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { buildCall, openEnd, openTestSource, testModels, testProviderKey } from '../support/models/model-source.ts';
import {
  openScriptedProvider,
  type ProviderFormat,
  type ScriptedAnswer,
  type ScriptedReply,
} from '../support/models/scripted-provider.ts';
import { findClosedPort } from '../support/network/http-server.ts';
import { catchError } from '../support/service/service-client.ts';

const formats: ProviderFormat[] = ['anthropic', 'compatible'];

describe.each(formats)('a provider in the %s format', (format) => {
  const variable = format === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY';

  /** Calls a provider once, and returns the outcome, the requests that the provider received, and how long the waits were. */
  const callOnce = async (answers: ScriptedAnswer | ScriptedAnswer[], limits = {}) => {
    await using provider = await openScriptedProvider({ format, answers });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl }, { limits });
    const session = await source.openTestSession();
    const outcome = await session.answer(buildCall('Hello'), openEnd).catch((error: unknown) => error);
    const waitedMs = source.clock.monotonicMs();
    return { outcome, requests: provider.requests.length, waitedMs, sleepsMs: source.clock.sleepsMs };
  };

  it.each<[string, ScriptedReply]>([
    ['status 500', { status: 500 }],
    ['status 529', { status: 529 }],
    ['status 408', { status: 408 }],
    ['a page with status 502', { status: 502, body: '<html>Bad gateway</html>' }],
    ['a cut body', { fault: 'cut' }],
    ['a page with status 200', { fault: 'html' }],
    ['JSON that is no answer', { fault: 'wrong-json' }],
    ['an error with status 200', { status: 200, body: { error: { code: 502, message: 'Upstream failed' } } }],
  ])('is called again after %s', async (_name, fault) => {
    const { outcome, requests } = await callOnce([fault, { text: 'Hi.' }]);
    expect(outcome).toMatchObject({ content: [{ text: 'Hi.' }] });
    expect(requests).toBe(2);
  });

  it.each<[string, ScriptedReply]>([
    ['a body that never ends', { fault: 'drip' }],
    ['no answer at all', { fault: 'hang' }],
  ])('is called again after %s, for which it has a limited time', async (_name, fault) => {
    // On a busy machine, a good answer can be late as well, and is asked for once more.
    const answers: ScriptedAnswer = ({ number }) => (number === 1 ? fault : { text: 'Hi.' });
    const { outcome, requests } = await callOnce(answers, { attemptTimeoutMs: 1000 });
    expect(outcome).toMatchObject({ content: [{ text: 'Hi.' }] });
    expect(requests).toBeGreaterThan(1);
  });

  it.each<[string, number, object | undefined]>([
    [
      'a code of its own',
      400,
      { error: { code: 'context_length_exceeded', type: 'invalid_request_error', message: 'No.' } },
    ],
    [
      'a message about the prompt',
      400,
      { error: { type: 'x', message: 'prompt is too long: 208310 tokens > 200000 maximum' } },
    ],
    [
      'a message about the model',
      400,
      { error: { type: 'x', message: "This model's maximum context length is 128000 tokens." } },
    ],
    [
      'a message about tokens',
      400,
      { error: { message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).' } },
    ],
    ['status 413', 413, undefined],
  ])('that refuses a conversation for its length by %s is not called again', async (_name, status, body) => {
    const { outcome, requests } = await callOnce({ status, ...(body && { body }) });
    expect(outcome).toMatchObject({ kind: 'too-long', message: expect.stringContaining('too long for') as string });
    expect(requests).toBe(1);
  });

  it('that limits a rate of tokens does not find the conversation too long', async () => {
    const body = {
      error: {
        type: 'tokens',
        code: 'rate_limit_exceeded',
        message: 'Request too large for this model on tokens per min.',
      },
    };
    const { outcome } = await callOnce(() => ({ status: 429, body }));
    expect(outcome).toMatchObject({ kind: 'unavailable' });
  });

  it.each<[string, ScriptedReply, string]>([
    ['status 500', { status: 500 }, 'is out of order (500): The script answers 500.'],
    ['a cut body', { fault: 'cut' }, 'gave no answer.'],
    ['a page with status 200', { fault: 'html' }, 'The answer is not JSON (text/html).'],
    ['JSON that is no answer', { fault: 'wrong-json' }, 'gave an answer that its API does not describe.'],
  ])('that always gives %s is unavailable, and given up within 45 s', async (_name, fault, message) => {
    const { outcome, requests, waitedMs } = await callOnce(() => fault);
    expect(outcome).toBeInstanceOf(ModelError);
    expect(outcome).toMatchObject({ kind: 'unavailable', message: expect.stringContaining(message) as string });
    expect(outcome).toMatchObject({ hint: expect.stringContaining('It was tried') as string });
    expect(requests).toBeGreaterThan(2);
    expect(requests).toBeLessThanOrEqual(10);
    expect(waitedMs).toBeLessThan(45_000);
  });

  it.each<ScriptedReply>([{ fault: 'hang' }, { fault: 'drip' }])(
    'that never completes an answer is given up at the end of the time for a call: %j',
    async (fault) => {
      const { outcome } = await callOnce(() => fault, { callTimeoutMs: 150 });
      expect(outcome).toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/No complete answer from 127\.0\.0\.1:\d+ to POST \/v1\/\S+ within/) as string,
      });
    },
  );

  it('that does not listen is unavailable', async () => {
    const baseUrl = `http://127.0.0.1:${await findClosedPort()}/v1`;
    await using source = openTestSource({ format, baseUrl });
    const session = await source.openTestSession();
    const error = await catchError(session.answer(buildCall('Hello'), openEnd));
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('ECONNREFUSED') as string });
    expect(source.clock.monotonicMs()).toBeLessThan(45_000);
  });

  it('that limits the rate is called again after as long as it asks', async () => {
    const limit = { status: 429, headers: { 'retry-after': '7' } };
    const { outcome, requests, sleepsMs } = await callOnce([limit, { text: 'Hi.' }]);
    expect(outcome).toMatchObject({ content: [{ text: 'Hi.' }] });
    expect(requests).toBe(2);
    // Half of the jitter, which is a tenth of the wait.
    expect(sleepsMs[0]).toBe(7350);
  });

  it('that asks for a longer wait than a call has is unavailable at once', async () => {
    const { outcome, requests, waitedMs } = await callOnce([{ status: 429, headers: { 'retry-after': '600' } }]);
    expect(outcome).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('(429)') as string });
    expect([requests, waitedMs]).toEqual([1, 0]);
  });

  it('that always limits the rate is unavailable after 45 s, and nothing waits any more', async () => {
    await using provider = await openScriptedProvider({ format, answers: () => ({ status: 429 }) });
    const clock = new ManualClock();
    await using source = openTestSource({ format, baseUrl: provider.baseUrl }, { clock });
    const session = await source.openTestSession();
    const state = { isOver: false };
    const answering = catchError(session.answer(buildCall('Hello'), openEnd)).finally(() => {
      state.isOver = true;
    });
    // Time goes on only while the call waits, and stands still while it talks to the provider.
    while (!state.isOver)
      await (clock.sleeping > 0 ? clock.advance(500) : new Promise((resolve) => setImmediate(resolve)));
    expect(await answering).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(`limits the rate of the key in ${variable} (429)`) as string,
    });
    expect(provider.requests.length).toBeGreaterThan(1);
    expect(clock.monotonicMs()).toBeLessThanOrEqual(45_000);
    expect(clock.sleeping).toBe(0);
  });

  it.each<[string, ScriptedReply, string]>([
    ['the key', { status: 401 }, `refuses the key in ${variable} (401)`],
    ['the call', { status: 403 }, `forbids the call to the key in ${variable} (403)`],
    ['the model', { status: 404 }, `has no model "${testModels[format].name}" (404)`],
    ['the account', { status: 402 }, `gives no credit to the key in ${variable} (402)`],
    [
      'the quota',
      { status: 429, body: { error: { message: 'You exceeded your quota.', code: 'insufficient_quota' } } },
      `gives no credit to the key in ${variable} (429): You exceeded your quota.`,
    ],
    [
      'the balance',
      {
        status: 400,
        body: { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low.' } },
      },
      `gives no credit to the key in ${variable} (400)`,
    ],
    [
      'a model by its code',
      { status: 400, body: { error: { message: 'No such model', code: 'model_not_found' } } },
      `has no model "${testModels[format].name}" (400)`,
    ],
    [
      'a key with status 400, in a list',
      { status: 400, body: [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }] },
      `refuses the key in ${variable} (400): API key not valid.`,
    ],
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:9/' } }, 'answered with a redirect'],
  ])('that refuses %s is not called again', async (_name, reply, message) => {
    const { outcome, requests } = await callOnce([reply]);
    expect(outcome).toMatchObject({ kind: 'refused', message: expect.stringContaining(message) as string });
    expect(outcome).toMatchObject({ hint: expect.stringMatching(/_API_KEY|_BASE_URL/) as string });
    expect(requests).toBe(1);
  });

  it.each<[string, ScriptedReply]>([
    ['an answer', { text: 'No.', finishReason: 'content-filter' }],
    ['a call', { status: 400, body: { error: { message: 'Flagged.', code: 'content_filter' } } }],
    [
      'a call with reasons',
      { status: 403, body: { error: { message: 'Flagged.', code: 403, metadata: { reasons: ['x'] } } } },
    ],
  ])('that filters %s is not called again', async (_name, reply) => {
    const { outcome, requests } = await callOnce([reply]);
    expect(outcome).toMatchObject({ kind: 'filtered' });
    expect(requests).toBe(1);
  });

  it('that does not accept one call is unavailable for it, and not called again', async () => {
    const body = { error: { type: 'invalid_request_error', message: 'The name of a tool is not valid.' } };
    const { outcome, requests } = await callOnce([{ status: 400, body }]);
    expect(outcome).toMatchObject({
      kind: 'unavailable',
      message: `${testModels[format].provider} does not accept the call (400): The name of a tool is not valid.`,
    });
    expect(requests).toBe(1);
  });

  it('never gets its key into a message', async () => {
    const text = `Bearer ${testProviderKey} ${encodeURIComponent(testProviderKey)} ${btoa(testProviderKey)}`;
    const replies: ScriptedReply[] = [
      ...[400, 401, 402, 403, 404, 429, 500].map((status) => ({ status, body: { error: { message: text } } })),
      ...[400, 500].map((status) => ({ status, body: text, headers: { 'content-type': `text/${testProviderKey}` } })),
      { status: 200, body: text, headers: { 'content-type': `text/${testProviderKey}` } },
      { status: 200, body: { error: { message: text } } },
      { status: 200, body: { choices: [{ error: { code: 500, message: text } }] } },
      { status: 200, body: { [testProviderKey]: testProviderKey } },
      { status: 400, body: { error: { message: `${'x'.repeat(290)}${testProviderKey}` } } },
    ];
    for (const reply of replies) {
      const { outcome } = await callOnce(() => reply);
      const seen: string[] = [];
      for (let error = outcome; error instanceof Error; error = error.cause) {
        seen.push(error.message, String(error.stack), JSON.stringify(error));
      }
      expect(outcome).toBeInstanceOf(ModelError);
      expect(seen.join('\n')).not.toContain(testProviderKey.slice(0, 12));
      expect(seen.join('\n')).not.toContain(btoa(testProviderKey).slice(0, 12));
    }
  });

  it('clips what a provider says', async () => {
    const { outcome } = await callOnce([{ status: 400, body: { error: { message: 'x'.repeat(5000) } } }]);
    expect(outcome).toSatisfy((error: Error) => error.message.length < 500);
  });

  it('that answers with more than the limit is unavailable', async () => {
    const { outcome } = await callOnce(() => ({ text: 'x'.repeat(3000) }), { maxBytes: 2000 });
    expect(outcome).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('The answer is larger than 2000 bytes.') as string,
    });
  });

  it('whose limit is used up makes the next calls wait until its reset', async () => {
    const headers: Record<string, string> =
      format === 'anthropic'
        ? {
            date: 'Thu, 01 Jan 2026 00:00:00 GMT',
            'anthropic-ratelimit-requests-remaining': '0',
            'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:10Z',
          }
        : { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '10s' };
    const left = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, name.includes('remaining') ? '1' : value]),
    );
    await using provider = await openScriptedProvider({
      format,
      answers: [{ text: 'One.', headers: left }, { text: 'Two.', headers }, { text: 'Three.' }],
    });
    await using source = openTestSource({ format, baseUrl: provider.baseUrl });
    const session = await source.openTestSession();
    await session.answer(buildCall('Hello'), openEnd);
    await session.answer(buildCall('Hello'), openEnd);
    expect(source.clock.sleepsMs).toEqual([]);
    await session.answer(buildCall('Hello'), openEnd);
    expect(source.clock.sleepsMs).toEqual([10_500]);
  });
});
