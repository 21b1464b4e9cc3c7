import { describe, expect, it } from 'vitest';
import {
  createTrafficBudget,
  ExcessError,
  type TrafficBudget,
  type TrafficLimits,
} from '../../src/mcp/traffic-budget.ts';

const wide: TrafficLimits = { bytes: 2 ** 30, events: 100, values: 100, structures: 100, depth: 100, requests: 100 };

function open(limits: Partial<TrafficLimits>) {
  return createTrafficBudget({ ...wide, ...limits }, 'for a test');
}

/** Counts one response. */
function receive(budget: TrafficBudget, body: string): void {
  budget.openCount('application/json')(Buffer.from(body));
}

describe('createTrafficBudget', () => {
  it.each([
    [{ bytes: 2 ** 20 }, 'x'.repeat(2 ** 20), 'sent more than 1 MiB in 0 responses'],
    [{ values: 3 }, '[1,2,3]', 'sent JSON of more than 3 values'],
    [{ structures: 3 }, '[[],[]]', 'sent a message of more than 3 arrays and objects'],
    [{ depth: 2 }, '[[]]', 'sent JSON that is nested deeper than 2 levels'],
    [{ events: 2 }, '[{},{}]', 'sent more than 2 messages'],
  ])('accepts what keeps to %j, and no more', (limits, body, crossed) => {
    expect(() => receive(open(limits), body)).not.toThrow();
    const budget = open(limits);
    const more = body.replace(/^x/, 'xx').replace(/^\[/, '[[{},{}],');
    expect(() => receive(budget, more)).toThrow(`The server ${crossed}, the limit for a test.`);
    expect(budget.excess).toBeInstanceOf(ExcessError);
    expect(budget.signal.reason).toBe(budget.excess);
  });

  it('counts all responses together', () => {
    const budget = open({ values: 4 });
    receive(budget, '[1,2]');
    receive(budget, '[1,2]');
    expect(() => receive(budget, '[1,2]')).toThrow(ExcessError);
  });

  it('counts the arrays and objects of each message by themselves', () => {
    const event = 'data: [{}]\n\n';
    const receiveStream = (limits: Partial<TrafficLimits>) =>
      open(limits).openCount('text/event-stream')(Buffer.from(event.repeat(3)));
    expect(() => receiveStream({ structures: 2 })).not.toThrow();
    expect(() => receiveStream({ structures: 1 })).toThrow('a message of more than 1 arrays and objects');
  });

  it('counts requests, and refuses all once a limit is crossed', () => {
    const budget = open({ requests: 2 });
    budget.addRequest();
    budget.addRequest();
    expect(() => budget.addRequest()).toThrow('The server caused more than 2 requests, the limit for a test.');
    expect(() => budget.addRequest()).toThrow(ExcessError);
  });
});
