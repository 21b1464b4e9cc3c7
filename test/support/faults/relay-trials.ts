import type { ConnectFault } from './connections.ts';
import { type Letter, trial } from './letters.ts';
import type { DialFault } from './relay-front.ts';

/** Faults between the job and the relay, while it dials or while it serves. */

/** A tunnel is closed after this time without a connection. */
const longestGapMs = 60_000;

/** The first dials get these faults, and then one succeeds; with `forGood`, none does. */
function dials(faults: readonly DialFault[], expected: { exitCode: number; grants?: number; says?: RegExp }): Letter {
  const { grants, ...rest } = expected;
  return trial(() => ({
    what: JSON.stringify(faults),
    arm: ({ front }) => front.relay.strikeDials(faults, { forGood: expected.exitCode !== 0 }),
    expected: { ...rest, ...(grants === undefined ? {} : { requests: grants }) },
  }));
}

export function unreachable(kinds: readonly Extract<ConnectFault, string>[]): Letter {
  return trial((draw) => {
    const fault = draw.pick(kinds);
    const isForGood = draw.isForGood();
    const count = isForGood ? Number.MAX_SAFE_INTEGER : draw.between(1, 4);
    return {
      what: isForGood ? `${fault} for good` : `${fault} for ${count} dials`,
      arm: ({ front, connections }) => front.onRequest('grant', 1, () => connections.strikeNext(count, fault)),
      expected: isForGood
        ? { exitCode: 3, says: /relay could not be reached/, mayLeave: true, runs: 0, tookMs: [30_000, 90_000] }
        : { exitCode: 0 },
    };
  });
}

export const untrusted: Letter = trial((draw) => {
  const name = draw.pick(['untrusted', 'expired', 'wrongHost'] as const);
  return {
    what: name,
    arm: ({ front, connections, certificates }) =>
      front.onRequest('grant', 1, () =>
        connections.strikeNext(Number.MAX_SAFE_INTEGER, { certificate: certificates![name] }),
      ),
    expected: { exitCode: 2, says: /NODE_EXTRA_CA_CERTS/, mayLeave: true, runs: 0, tookMs: [0, 10_000] },
  };
});

export const reset: Letter = trial((draw) => {
  const isForGood = draw.isForGood();
  const count = draw.between(1, 4);
  return {
    what: isForGood ? 'for good' : `${count} dials`,
    arm: ({ front }) =>
      front.relay.strikeDials(
        Array.from({ length: count }, () => 'reset'),
        { forGood: isForGood },
      ),
    expected: isForGood ? { exitCode: 3, runs: 0, tookMs: [30_000, longestGapMs + 40_000] } : { exitCode: 0 },
  };
});

/** The relay accepts the connection but never sends a hello. */
export const mute: Letter = trial((draw) => {
  const isForGood = draw.isForGood();
  return {
    what: isForGood ? 'for good' : 'once',
    arm: ({ front }) => front.relay.strikeDials(['silence'], { forGood: isForGood }),
    expected: isForGood ? { exitCode: 3, runs: 0 } : { exitCode: 0 },
  };
});

export const dropped: Letter = trial((draw, phase) =>
  draw.isEven()
    ? dials([{ close: 1006 }, { greetThenClose: 1011 }], { exitCode: 0 })(phase, [], draw)
    : reset(phase, [], draw),
);

export const restarts: Letter = trial((draw, phase) => {
  const faults = Array.from({ length: draw.between(1, 4) }, () => ({ close: 1012 }));
  return dials(faults, { exitCode: 0, grants: 1 })(phase, [], draw);
});

export const expiredToken: Letter = trial((draw, phase) => {
  const faults = Array.from({ length: draw.between(1, 3) }, () => draw.pick([{ close: 4000 }, { status: 401 }]));
  return dials(faults, { exitCode: 0, grants: 1 + faults.length })(phase, [], draw);
});

export const noToken: Letter = dials([{ close: 4000 }], { exitCode: 3, grants: 4, says: /3 new grants/ });

export function taken(code: 4001 | 4002): Letter {
  return trial(() => ({
    what: `close ${code} at once`,
    arm: ({ front }) => front.relay.strikeDials([{ close: code }], { forGood: true }),
    // Resources that now belong to another job stay.
    expected: {
      exitCode: 3,
      requests: 1,
      runs: 0,
      mayLeave: true,
      says: /Another|another/,
      untouched: ['close', 'delete-server'],
    },
  }));
}

export const refused: Letter = trial((draw, phase) => {
  const fault = draw.pick([{ close: 1008 }, { close: 4003 }, { status: 404 }, { close: 4999 }]);
  return draw.isEven()
    ? dials([fault], { exitCode: 0 })(phase, [], draw)
    : dials([fault], { exitCode: 3, says: /refused the connection twice/ })(phase, [], draw);
});

export const redirected: Letter = dials([{ status: 302 }], { exitCode: 3, says: /302/ });

/** Sends fields, frames and bytes of a newer relay to the host while it serves. */
function odd(texts: readonly string[]): Letter {
  return trial((draw, phase) => ({
    what: 'while it serves',
    arm: ({ front }) =>
      front.onRequest(draw.pick(['run', 'poll']), 1, () => {
        for (const text of texts) front.relay.send(text);
      }),
    expected: { exitCode: 0, requests: phase.usual },
  }));
}

export const oddHello: Letter = odd([
  '{"t":"hello","proto":1,"slug":"other","limits":{"maxReqBody":1,"chunk":1,"maxInflight":1,"x":1},"x-new":{}}',
  '{"t":"abort","id":4000000000,"code":"timeout","x-new":[1]}',
]);

export const oddFrames: Letter = odd(['{"t":"weather","id":1}', '{"t":"req_later","id":2}', '{"t":7}', 'null', '[]']);

export const brokenFrames: Letter = odd([
  '{"t":"req","id":1.5,"method":"GET","url":"/","headers":[],"hasBody":false}',
  '{"t":"req","id":-1}',
  '{"t":"req_end"}',
  '{"t":"req","id":"7","method":"POST","url":7,"headers":{},"hasBody":"yes"}',
  '{"t":',
  '',
]);

/** The connection is lost during calls: they are cut off, and the run ends without a verdict. Nothing hangs or stays. */
export function lost(codes: readonly number[]): Letter {
  return trial((draw) => {
    const code = draw.pick(codes);
    const nth = draw.between(1, 3);
    return {
      what: `close ${code} at poll ${nth}`,
      arm: ({ front }) => front.onRequest('poll', nth, () => front.relay.close(code)),
      inputs: { tunnel: 'always' },
      expected: { exitCode: 3, runs: 1, tookMs: [0, 120_000] },
    };
  });
}

/** The connection is lost after the run, when the tunnel is no longer needed. */
export function lostAfterwards(codes: readonly number[]): Letter {
  return trial((draw) => {
    const code = draw.pick(codes);
    const nth = draw.between(1, 3);
    return {
      what: `close ${code} at page ${nth}`,
      arm: ({ front }) => front.onRequest('page', nth, () => front.relay.close(code)),
      inputs: { tunnel: 'always' },
      expected: { exitCode: 0, runs: 1 },
    };
  });
}

export function takenInRun(code: 4001 | 4002): Letter {
  return trial((draw) => {
    const nth = draw.between(1, 3);
    return {
      what: `close ${code} at poll ${nth}`,
      arm: ({ front }) => front.onRequest('poll', nth, () => front.relay.close(code)),
      inputs: { tunnel: 'always' },
      expected: {
        exitCode: 3,
        runs: 1,
        mayLeave: true,
        says: /Another|another/,
        untouched: ['close', 'delete-server'],
      },
    };
  });
}
