import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQuickEverything } from './everything.ts';
import { findExpected, listDifferences, shapes, type Transport } from './expected-outcomes.ts';
import { runShape, type TestedServer } from './run-shape.ts';

/** Runs every shape once over a transport, several gates side by side: much of what they take is waiting. */
export function describeTransport(transport: Transport): void {
  describe.concurrent(`a fault between the gate and server-everything, ${transport}`, () => {
    let server: TestedServer;
    beforeAll(async () => {
      server = await openQuickEverything();
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    for (const shape of shapes) {
      const expected = findExpected(shape, transport);
      if (expected === null) continue;
      it(`${shape.fault}: ${expected}`, { timeout: 120_000 }, async () => {
        const found = await runShape(server, shape, transport);
        const differences = listDifferences(shape, expected, found);
        expect(differences.length === 0 ? [] : [...differences, ...found.reasons]).toEqual([]);
      });
    }
  });
}
