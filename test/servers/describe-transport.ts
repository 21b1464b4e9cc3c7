import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openQuickEverything } from './everything.ts';
import {
  groupShapes,
  listDifferences,
  type Observation,
  type OutcomeName,
  type Shape,
  type Transport,
} from './expected-outcomes.ts';
import { runShapes, type TestedServer } from './run-shape.ts';

/** Runs every shape once over a transport. The gates run side by side, because they mostly wait. */
export function describeTransport(transport: Transport): void {
  describe.concurrent(`a fault between the gate and server-everything, ${transport}`, () => {
    let server: TestedServer;
    beforeAll(async () => {
      server = await openQuickEverything();
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    for (const { expected, shapes } of groupShapes(transport)) {
      const names = shapes.map(({ fault }) => fault).join(', ');
      it(`${names}: ${expected}`, async () => {
        const found = await runShapes(server, shapes, transport);
        const wrong = shapes.flatMap((shape, index) => listWrong(shape, expected, found[index]));
        expect(wrong).toEqual([]);
      });
    }
  });
}

function listWrong(shape: Shape, expected: OutcomeName, found: Observation | undefined): string[] {
  if (found === undefined) return [`${shape.fault}: not observed`];
  const differences = listDifferences(shape, expected, found);
  return differences.length === 0 ? [] : [...differences, ...found.reasons].map((text) => `${shape.fault}: ${text}`);
}
