import { describe, expect, it } from 'vitest';
import { parseAs } from '../../src/service/parse.ts';
import { caseSchema } from '../../src/service/wire.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { startScriptedRelay } from '../support/network/scripted-relay.ts';
import { openTestHost, scope } from '../support/network/tunnel-host.ts';
import { type Letter, trial } from '../support/faults/letters.ts';
import type { Route } from '../support/faults/routes.ts';
import { runCell } from '../support/faults/run-cell.ts';
import { type Tolerance, tolerances } from './tolerances.ts';

const anyPhase = { route: 'run', usual: 1, attempts: 1, inputs: { tunnel: 'never' } } as const;

function toLetter({ what, answers, expected, ...rest }: Tolerance): Letter {
  return trial(() => ({
    what,
    ...rest,
    arm: ({ front }) => {
      for (const [route, fault] of Object.entries(answers)) {
        front.strike({ route: route as Route, from: 1, count: Number.MAX_SAFE_INTEGER, fault });
      }
    },
    expected,
  }));
}

describe('an ambiguity of the wire contract', () => {
  for (const tolerance of tolerances) {
    it(`${tolerance.ambiguity}: ${tolerance.what}`, async () => {
      const cell = { letter: toLetter(tolerance), phase: anyPhase, blows: [] };
      expect((await runCell(cell, { seed: tolerance.ambiguity })).join('\n')).toBe('');
    });
  }

  it('4: a run that is over is not cancelled, whichever way that is said', async () => {
    const { cancelConflict } = await import('../support/faults/run-trials.ts');
    const cell = { letter: cancelConflict, phase: anyPhase, blows: [] };
    for (const seed of [0, 1]) expect(await runCell(cell, { seed })).toEqual([]);
  });

  it('19: match options are read in the vocabulary of either side', () => {
    const parse = parseAs(caseSchema, 'a case');
    for (const matchOptions of [{ arguments: 'subset' }, { argumentMatching: 'partial', order: 'any' }, null]) {
      expect(parse({ id: 'c', matchOptions }).matchOptions).toEqual(matchOptions);
    }
  });

  it('22: what comes right behind the greeting is not lost', async () => {
    await using relay = await startScriptedRelay([{}]);
    await using target = await startHttpServer(json(200, { ok: true }));
    const opening = openTestHost(relay, target.origin);
    const peer = await relay.peer(1);
    peer.request(1, `${scope}?k=secret`);
    await using _ = await opening;
    expect((await peer.waitFor('res', 1)).status).toBe(200);
  });

  it('5: the key of a launch is wherever a deployment may look for it', async () => {
    const seen: unknown[] = [];
    const letter = trial(() => ({
      what: 'as it is',
      arm: ({ front }) =>
        front.strike({
          route: 'run',
          from: 1,
          count: 1,
          fault: async ({ request, forward, reply }) => {
            const { idempotencyKey } = JSON.parse(request.body.toString()) as { idempotencyKey: string };
            const { headers } = request;
            seen.push(idempotencyKey, headers['idempotency-key'], headers['x-svc-idempotency-key']);
            reply(await forward());
          },
        }),
      expected: { exitCode: 0 },
    }));
    expect(await runCell({ letter, phase: anyPhase, blows: [] }, { seed: 5 })).toEqual([]);
    expect(seen).toEqual([seen[0], seen[0], seen[0]]);
    expect(String(seen[0]).length).toBeGreaterThan(31);
  });
});
