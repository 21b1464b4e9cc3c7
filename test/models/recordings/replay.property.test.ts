import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/base/json.ts';
import { ModelError } from '../../../src/base/errors.ts';
import {
  answerPurely,
  converse,
  createRequest,
  createSource,
  record,
  type Exchange,
  type Scenario,
} from './conversation.ts';

const names = ['read_note', 'list_notes', 'search'];
const words = fc.string({ unit: 'grapheme', maxLength: 20 });

const output: fc.Arbitrary<Scenario['outputs'][string]> = fc.oneof(
  fc.record({ type: fc.constantFrom('text' as const, 'error-text' as const), value: words }),
  fc.record({ type: fc.constant('text' as const), value: fc.json({ maxDepth: 2 }) }),
  fc.record({ type: fc.constant('text' as const), value: words.map((text) => text.padEnd(5000, 'x')) }),
  fc.record({
    type: fc.constant('json' as const),
    value: fc.record({
      content: fc.array(fc.record({ type: fc.constant('text'), text: words }), { maxLength: 2 }),
      structuredContent: fc.dictionary(
        fc.constantFrom('id', 'text', 'items'),
        fc.oneof(fc.integer(), words, fc.array(words)),
      ),
    }),
  }),
  fc.record({
    type: fc.constant('content' as const),
    value: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text: words }),
        fc.record({
          type: fc.constant('file' as const),
          mediaType: fc.constantFrom('image/png', 'image/jpeg'),
          data: fc.record({ type: fc.constant('data' as const), data: fc.base64String({ maxLength: 40 }) }),
        }),
      ),
      { maxLength: 3 },
    ),
  }),
);

const scenario: fc.Arbitrary<Scenario> = fc.record({
  model: fc.constant({ provider: 'anthropic', name: 'claude-haiku-4.5' }),
  system: words,
  prompts: fc.array(words, { minLength: 1, maxLength: 2 }),
  tools: fc.constant(names).map((each) =>
    each.map((name) => ({
      type: 'function' as const,
      name,
      description: `Does ${name}.`,
      inputSchema: {
        type: 'object' as const,
        properties: { id: { type: 'integer' as const, minimum: 1 } },
        required: ['id'],
      },
    })),
  ),
  parameters: fc.record(
    {
      temperature: fc.constantFrom(0, 0.5),
      maxOutputTokens: fc.constantFrom(100, 200),
      toolChoice: fc.constantFrom({ type: 'auto' as const }, { type: 'tool' as const, toolName: 'search' }),
    },
    { requiredKeys: [] },
  ),
  outputs: fc.record({ read_note: output, list_notes: output, search: output }),
  script: fc.array(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
});

/** Changes one value somewhere, or the order or number of values; `at` chooses which. */
function changeSomewhere(base: Scenario, at: number, kind: number): Scenario {
  const changed = structuredClone(base);
  const { script: _script, ...rest } = changed;
  const sites: Array<() => void> = [];
  const visit = (value: unknown) => {
    if (!isRecord(value) && !Array.isArray(value)) return;
    if (Array.isArray(value) && value.length > 0) {
      const [first] = value;
      if (kind % 3 === 0) sites.push(() => void value.push(value.shift()));
      else if (kind % 3 === 1) sites.push(() => void value.pop());
      else sites.push(() => void value.push(first));
    }
    for (const [key, member] of Object.entries(value)) {
      const set = (next: unknown) => sites.push(() => Reflect.set(value, key, next));
      if (typeof member === 'string') set(kind % 2 === 0 ? `${member}x` : `${member.slice(0, -1)}y`);
      else if (typeof member === 'number') set(member + 1);
      else visit(member);
    }
  };
  visit(rest);
  sites[at % sites.length]?.();
  return { ...changed, ...rest };
}

async function replay(recording: Awaited<ReturnType<typeof record>>, now: Scenario) {
  const { source } = createSource({ mode: 'replay', recording });
  const exchanges: Exchange[] = [];
  const session = await source.openSession(createRequest(now.model));
  const error: unknown = await converse(session, now, exchanges).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { exchanges, error };
}

describe('a recording', () => {
  it('never answers a call whose true answer would differ, and always one that is unchanged', async () => {
    const counts = { changes: 0, stale: 0 };
    const site = fc.tuple(fc.nat(1000), fc.nat(5));
    const property = fc.asyncProperty(
      scenario,
      fc.array(site, { minLength: 20, maxLength: 20 }),
      async (base, changes) => {
        const recording = await record(base);
        const unchanged = await replay(recording, structuredClone(base));
        expect(unchanged.error).toBeNull();
        for (const [at, kind] of changes) {
          const now = changeSomewhere(base, at, kind);
          const { exchanges, error } = await replay(recording, now);
          counts.changes += 1;
          if (error !== null) {
            if (!(error instanceof ModelError)) throw error;
            // The reason names what changed.
            expect(error.message).toMatch(/changed|differs?|new|order|offered|no recording|was made with/);
            counts.stale += 1;
          }
          for (const { call, answer } of exchanges) {
            expect(answer.isReplayed).toBe(true);
            expect(answer.content).toEqual(answerPurely(base, call).content);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 50 });
    expect(counts.changes).toBeGreaterThanOrEqual(1000);
    expect(counts.stale).toBeGreaterThan(700);
  });
});
