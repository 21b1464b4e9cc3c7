import { expect, it } from 'vitest';

import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { createServerWitnesses } from '../../../src/gate/run/test-servers.ts';
import type { ProcessWitness, WitnessedEnd } from '../../../src/model/process-end.ts';

const options = { isAlone: false, signal: new AbortController().signal };

function sees(found: WitnessedEnd | null): ProcessWitness {
  return {
    isShared: false,
    visit: async () => ({
      findEnd: async () => found,
      readOutput: async () => (found?.end.lastLines ?? []).map((text, index) => ({ text, atMs: index })),
      [Symbol.dispose]: () => {},
    }),
  };
}

it('knows nothing of a server that was started elsewhere', async () => {
  const witnesses = createServerWitnesses(createRedactor());
  witnesses.set('srv_1', null);
  expect([witnesses.find('srv_1'), witnesses.find('srv_2')]).toEqual([null, null]);
});

it('takes secrets out of the last lines, those of several lines included, and keeps an end the same value', async () => {
  const redactor = createRedactor([
    new Secret('sk_canary_1234567890'),
    new Secret('first-line-of-key\nsecond-line-of-key'),
  ]);
  const end = {
    exitCode: 1,
    signal: null,
    lastLines: ['key sk_canary_1234567890', 'first-line-of-key', 'second-line-of-key', 'bye'],
  };
  const witnesses = createServerWitnesses(redactor);
  witnesses.set('srv_1', sees({ end, isOwn: true }));
  using visit = await witnesses.find('srv_1')!.visit(options);
  const first = await visit.findEnd(undefined, { mayBeEnding: false });
  const text = first?.end.lastLines.join('\n') ?? '';
  expect(text).toMatch(/^key \*\*\*\n/);
  expect(text).not.toMatch(/canary|line-of-key/);
  expect(text).toMatch(/bye$/);
  expect((await visit.findEnd(undefined, { mayBeEnding: false }))?.end).toBe(first?.end);
  const output = await visit.readOutput(undefined);
  expect(output.map(({ text: line }) => line).join('\n')).toBe(text);
  expect(output.at(-1)).toEqual({ text: 'bye', atMs: 3 });
});
