import { alter, full } from './answers.ts';
import { type Letter, trial } from './letters.ts';

/** Odd states of a run and odd data in its answers. */

type Item = Record<string, unknown>;
const itemsOf = (value: Item) => value['items'] as Item[];

/** A full queue, in which the gate waits as long as configured. */
export const queued: Letter = trial((draw) => {
  if (draw.isForGood()) {
    return {
      what: 'no room for good',
      arm: ({ front }) => front.strike({ route: 'run', from: 1, count: Number.MAX_SAFE_INTEGER, fault: full }),
      inputs: { 'queue-timeout': '2m' },
      expected: { exitCode: 3, says: /in progress for 2 min/, runs: 0, requests: [5, 10], tookMs: [120_000, 140_000] },
    };
  }
  const count = draw.between(1, 6);
  return {
    what: `no room ${count} times`,
    arm: ({ front }) => front.strike({ route: 'run', from: 1, count, fault: full }),
    expected: {
      exitCode: 0,
      runs: 1,
      requests: count + 1,
      says: /run-queued/,
      tookMs: [count * 15_000, count * 30_000 + 30_000],
    },
  };
});

/** The run has already ended when it is cancelled. Services answer that with one of two statuses. */
export const cancelConflict: Letter = trial((draw) => ({
  what: 'while the run ends by itself',
  arm: ({ front, clock }) => {
    front.strike({
      route: 'cancel',
      from: 1,
      count: 9,
      fault: async (exchange) => {
        await exchange.forward();
        const status = draw.pick([409, 400]);
        const body = Buffer.from('{"code":"VALIDATION_ERROR","message":"Run already completed."}');
        exchange.reply({ status, headers: { 'content-type': 'application/json' }, body });
      },
    });
    // The tunnel ends the gate here, because after a signal the gate would not wait for the answer.
    front.onRequest('poll', 2, () => void clock.sleep(0).then(() => front.relay.close(4001)));
  },
  inputs: { tunnel: 'always' },
  expected: { exitCode: 3, runs: 1, mayLeave: true, refrains: /Could not cancel/ },
}));

/** An odd status never counts as an end unless the run has an end time, and never as a pass. */
export const oddStatus: Letter = trial((draw) => {
  const count = Number.MAX_SAFE_INTEGER;
  if (draw.isEven()) {
    return {
      what: 'with a time at which it ended',
      arm: ({ front }) =>
        front.strike({
          route: 'poll',
          from: 1,
          count,
          fault: alter((run) => ({ ...run, status: 'frozen', completedAt: 1 })),
        }),
      expected: { exitCode: 3, says: /frozen/, tookMs: [0, 60_000] },
    };
  }
  const isForGood = draw.isForGood();
  return {
    what: isForGood ? 'for good' : 'for three polls',
    arm: ({ front }) =>
      front.strike({
        route: 'poll',
        from: 1,
        count: isForGood ? count : 3,
        fault: alter((run) => ({ ...run, status: 'frozen', completedAt: null })),
      }),
    inputs: { timeout: '5m' },
    expected: isForGood
      ? { exitCode: 3, tookMs: [300_000, 315_000], says: /not over after 5 min/ }
      : { exitCode: 0, requests: [4, 5] },
  };
});

export const oddResult: Letter = trial((draw) => {
  const field = draw.pick(['status', 'result']);
  const nth = draw.between(1, 3);
  return {
    what: `a new ${field} on page ${nth}`,
    arm: ({ front }) =>
      front.strike({
        route: 'page',
        from: nth,
        count: 99,
        fault: alter((page) => ({ ...page, items: itemsOf(page).map((item) => ({ ...item, [field]: 'sparkling' })) })),
      }),
    expected: { exitCode: 3, says: /ended without a result|say/ },
  };
});

/** The gate reads the run once more, because services may be briefly inconsistent. A lasting contradiction gives no verdict. */
export const disagreement: Letter = trial((draw) => {
  const isForGood = draw.isForGood();
  const reads = isForGood ? 99 : 3;
  const kind = draw.pick(['fewer', 'more', 'unfinished', 'twice'] as const);
  const fault = alter((page) => {
    const items = itemsOf(page);
    if (kind === 'fewer') return { ...page, items: page['nextCursor'] == null ? [] : items };
    if (kind === 'more')
      return { ...page, items: [...items, ...items.map((item) => ({ ...item, id: `${String(item['id'])}-2` }))] };
    if (kind === 'unfinished')
      return { ...page, items: items.map((item) => ({ ...item, status: 'running', result: null })) };
    return { ...page, items: [...items, ...items] };
  });
  return {
    what: `${kind}, ${isForGood ? 'for good' : 'at the first reading'}`,
    arm: ({ front }) => front.strike({ route: 'page', from: 1, count: reads, fault }),
    // Iterations with the same id are the same iteration.
    expected: kind === 'twice' ? { exitCode: 0, requests: 3 } : { exitCode: isForGood ? 3 : 0, requests: 6 },
  };
});

/** The gate detects the end after two pages without anything new. */
export const endlessPages: Letter = trial((draw) => {
  const kind = draw.pick(['same cursor', 'same page', 'empty pages'] as const);
  let pages = 0;
  return {
    what: kind,
    arm: ({ front }) =>
      front.strike({
        route: 'page',
        from: 1,
        count: 9999,
        fault: alter((page) => {
          pages += 1;
          if (kind === 'same cursor') return { ...page, nextCursor: 'again' };
          return { ...page, items: kind === 'same page' ? itemsOf(page) : [], nextCursor: `cursor-${pages}` };
        }),
      }),
    expected: { exitCode: 3, requests: [2, 8], says: /does not end|Cursor|cursor/ },
  };
});

/** Another client or a fault of the service ends the run. */
export const endedOtherwise: Letter = trial((draw) => {
  const status = draw.pick(['cancelled', 'failed', 'timed_out']);
  const summary = draw.pick([null, { total: 3, passed: 3, failed: 0 }, { total: 0, passed: 0, failed: 0 }]);
  return {
    what: status,
    arm: ({ front }) =>
      front.strike({
        route: 'poll',
        from: draw.between(1, 3),
        count: 99,
        fault: alter((run) => ({ ...run, status, summary, result: 'passed', completedAt: 1 })),
      }),
    expected: { exitCode: 3, says: new RegExp(status) },
  };
});

/** A run without iterations does not pass. */
export const noIterations: Letter = trial((draw) => ({
  what: draw.isEven() ? 'no iterations' : 'no iterations, and none counted',
  arm: ({ front }) => {
    front.strike({ route: 'page', from: 1, count: 99, fault: alter(() => ({ items: [] })) });
    if (draw.isEven()) return;
    const summary = { total: 0, passed: 0, failed: 0, passRate: 1 };
    front.strike({ route: 'poll', from: 1, count: 99, fault: alter((run) => ({ ...run, summary, result: 'passed' })) });
  },
  expected: { exitCode: 3 },
}));
