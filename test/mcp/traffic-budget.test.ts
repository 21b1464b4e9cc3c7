import { describe, expect, it } from 'vitest';
import { createTrafficBudget, ExcessError, type TrafficLimits } from '../../src/mcp/traffic-budget.ts';

const wide: TrafficLimits = { bytes: 2 ** 30, events: 100, values: 100, depth: 100, requests: 100 };

function open(limits: Partial<TrafficLimits>) {
  return createTrafficBudget({ ...wide, ...limits }, 'for a test');
}

function respond(body: string, type = 'application/json'): Response {
  return new Response(body, { headers: { 'content-type': type } });
}

describe('createTrafficBudget', () => {
  it.each([
    [{ bytes: 2 ** 20 }, 'x'.repeat(2 ** 20), 'sent more than 1 MiB in 0 responses'],
    [{ values: 3 }, '[1,2,3]', 'sent JSON of more than 3 values'],
    [{ depth: 2 }, '[[]]', 'sent JSON that is nested deeper than 2 levels'],
    [{ events: 2 }, '[{},{}]', 'sent more than 2 messages'],
  ])('passes on what keeps to %j, and no more', async (limits, body, crossed) => {
    expect(await open(limits).watch(respond(body)).text()).toBe(body);
    const budget = open(limits);
    const more = body.replace(/^x/, 'xx').replace(/^\[/, '[[{},{}],');
    await expect(budget.watch(respond(more)).text()).rejects.toThrow(`The server ${crossed}, the limit for a test.`);
    expect(budget.excess).toBeInstanceOf(ExcessError);
    expect(budget.signal.reason).toBe(budget.excess);
  });

  it('counts all responses together', async () => {
    const budget = open({ values: 4 });
    await budget.watch(respond('[1,2]')).text();
    await budget.watch(respond('[1,2]')).text();
    await expect(budget.watch(respond('[1,2]')).text()).rejects.toThrow(ExcessError);
  });

  it('counts requests, and refuses all once a limit is crossed', () => {
    const budget = open({ requests: 2 });
    budget.addRequest();
    budget.addRequest();
    expect(() => budget.addRequest()).toThrow('The server caused more than 2 requests, the limit for a test.');
    expect(() => budget.addRequest()).toThrow(ExcessError);
  });

  it('keeps status, headers and the absence of a body', async () => {
    const budget = open({});
    const empty = budget.watch(new Response(null, { status: 204 }));
    expect([empty.status, empty.body]).toEqual([204, null]);
    const refused = budget.watch(new Response('no', { status: 404, statusText: 'Not Found', headers: { 'x-a': 'b' } }));
    expect([refused.status, refused.statusText, refused.headers.get('x-a'), await refused.text()]).toEqual([
      404,
      'Not Found',
      'b',
      'no',
    ]);
  });

  it('ends the response that it reads from when the reader leaves, and when a limit is crossed', async () => {
    const cancelled: unknown[] = [];
    const endless = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(Buffer.from('[')),
          cancel: (reason) => void cancelled.push(reason),
        }),
      );
    await open({}).watch(endless()).body?.cancel('left');
    await expect(open({ depth: 5 }).watch(endless()).text()).rejects.toThrow(ExcessError);
    expect(cancelled).toEqual(['left', expect.any(ExcessError)]);
  });
});
