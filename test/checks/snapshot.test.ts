import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import type { ToolResult } from '../../src/checks/evidence.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { startSchemaTime } from '../../src/engine/schema-check.ts';
import { openSnapshots } from '../../src/gate/run/snapshots.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const order = { id: 7, at: '2026-01-02T03:04:05Z', items: [{ sku: 'pen', token: 't-1' }] };

function createWorld(files: Record<string, string>, isUpdating = false) {
  const texts = new Map(Object.entries(files));
  const redactor = createRedactor([new Secret('s3cret-value')]);
  const snapshots = openSnapshots({ texts, folders: new Map(), isUpdating }, redactor);
  const judge = async (result: Partial<ToolResult>, fields: object = {}) => {
    const evidence = createEvidence({ toolResults: [createToolResult(result)] });
    const context = { time: startSchemaTime(), limit: null, snapshots };
    return await judgeAssertion({ type: 'toMatchFile', file: 'a.json', ...fields }, evidence, context);
  };
  return { snapshots, judge };
}

describe('toMatchFile', () => {
  it.each([
    ['JSON with other white space and order', JSON.stringify({ items: order.items, at: order.at, id: 7 }), {}],
    ['an ignored member', JSON.stringify({ ...order, at: 'another' }), { ignore: ['/at'] }],
    [
      'an ignored member of every item',
      JSON.stringify({ ...order, items: [{ sku: 'pen', token: 2 }] }),
      { ignore: ['/items/*/token'] },
    ],
    ['an ignored text', JSON.stringify({ ...order, at: '2027-09-09T03:04:05Z' }), { ignore: ['\\d{4}-\\d\\d-\\d\\d'] }],
    ['a part', '[\r\n  { "sku": "pen", "token": "t-1" }\r\n]\r\n', { path: '/items' }],
    ['a part that is text', '2026-01-02T03:04:05Z\n', { path: '/at' }],
  ])('passes %s', async (_, text, fields) => {
    expect(await createWorld({ 'a.json': text }).judge({ structuredContent: order }, fields)).toMatchObject({
      state: 'passed',
      reason: expect.stringMatching(/is as in a\.json\.$/),
    });
  });

  it.each(['one\n', 'one\r\n\r\n', '\n', ''])('passes the text %j, which it recorded itself', async (text) => {
    const { snapshots, judge } = createWorld({}, true);
    expect(await judge({ text }, { file: 'a.txt' })).toMatchObject({ state: 'passed' });
    const [recorded] = snapshots.listChanged();
    const { judge: judgeLater } = createWorld({ 'a.txt': recorded?.text ?? '?' });
    expect(await judgeLater({ text }, { file: 'a.txt' })).toMatchObject({ state: 'passed' });
    expect(await judgeLater({ text: `one${text}two` }, { file: 'a.txt' })).toMatchObject({ state: 'failed' });
  });

  it.each(['one\n\ntwo', 'one\n\ntwo\n', 'one\n\ntwo\n\n\n'])(
    'passes a text whose file a formatter changed at its end: %j',
    async (file) => {
      const { judge } = createWorld({ 'a.txt': file });
      expect(await judge({ text: 'one\n\ntwo\n\n' }, { file: 'a.txt' })).toMatchObject({ state: 'passed' });
      expect(await judge({ text: 'one\ntwo\n\n' }, { file: 'a.txt' })).toMatchObject({ state: 'failed' });
      expect(await judge({ text: 'one\n\ntwo\n\nthree' }, { file: 'a.txt' })).toMatchObject({ state: 'failed' });
    },
  );

  const remedy = 'If the change is meant, run the command with --update-snapshots.';

  it.each([
    [
      { structuredContent: order },
      JSON.stringify({ ...order, id: 8 }),
      {},
      `the result of get-sum is not as expected: /id is 7, expected 8 (a.json). ${remedy}`,
    ],
    [
      { structuredContent: order },
      JSON.stringify({ ...order, items: [{ sku: 'pen', token: 't-2' }] }),
      {},
      `the result of get-sum is not as expected: /items/0/token differs (its value is masked) (a.json). ${remedy}`,
    ],
    [
      { text: 'one\ntwo\nthree' },
      'one\n2\nthree\n',
      {},
      `the result of get-sum differs in line 2: it is "two", expected "2" (a.json). ${remedy}`,
    ],
    [
      { text: 'one\ntwo' },
      'one\ntwo\nthree\n',
      {},
      `the result of get-sum differs in line 3: it is nothing, expected "three" (a.json). ${remedy}`,
    ],
    [{ text: 'one' }, 'two\n', {}, `the result of get-sum is "one", expected "two" (a.json). ${remedy}`],
    [{ text: '{}' }, 'two\n', {}, `the result of get-sum is JSON, and the snapshot is text (a.json). ${remedy}`],
    [
      { structuredContent: order },
      '{}',
      { path: '/no' },
      '/no in the result of get-sum does not exist (the result has only "id"; "at"; "items").',
    ],
    [
      { text: 'x'.repeat(300_000) },
      'x',
      {},
      'the result of get-sum has 300001 bytes, and a snapshot at most 262144; compare a part of it with `path`.',
    ],
    [{}, 'x', { ignore: ['('] }, 'malformed predicate: '],
    [{}, 'x', { file: 'b.json' }, 'the snapshot b.json does not exist. Run the command with --update-snapshots.'],
  ])('fails %j next to %j', async (result, text, fields, reason) => {
    expect(await createWorld({ 'a.json': text }).judge(result, fields)).toEqual({
      state: 'failed',
      reason: expect.stringContaining(`toMatchFile: ${reason}`),
    });
  });

  it('is not measured where no snapshots are known', async () => {
    const evidence = createEvidence({ toolResults: [createToolResult()] });
    expect((await judgeAssertion({ type: 'toMatchFile', file: 'a.json' }, evidence)).state).toBe('unmeasured');
  });

  it('never sees a known secret', async () => {
    const { judge, snapshots } = createWorld({ 'a.json': '{ "key": "***" }' });
    expect((await judge({ structuredContent: { key: 's3cret-value' } })).state).toBe('passed');
    expect(snapshots.listChanged()).toEqual([]);
  });
});

describe('toMatchFile while snapshots are updated', () => {
  it('takes the first result, and compares later ones with it', async () => {
    const { judge, snapshots } = createWorld({ 'a.json': '{ "id": 1 }' }, true);
    expect((await judge({ structuredContent: { id: 2, key: 's3cret-value' } })).state).toBe('passed');
    expect((await judge({ structuredContent: { key: 's3cret-value', id: 2 } })).state).toBe('passed');
    expect(await judge({ structuredContent: { id: 3, key: '***' } })).toEqual({
      state: 'failed',
      reason:
        'toMatchFile: the result of get-sum is not as expected: /id is 3, expected 2 (a.json). An earlier result of this run is the snapshot; exclude what varies with `ignore`.',
    });
    expect(snapshots.listChanged()).toEqual([
      { file: 'a.json', text: '{\n  "id": 2,\n  "key": "***"\n}\n', isNew: false },
    ]);
  });

  it('lists new files, and no file that says the same', async () => {
    const { judge, snapshots } = createWorld({ 'a.json': '{"b": 1, "a": 2}' }, true);
    await judge({ structuredContent: { a: 2, b: 1 } });
    await judge({ text: 'plain' }, { file: 'b.txt' });
    expect(snapshots.listChanged()).toEqual([{ file: 'b.txt', text: 'plain\n', isNew: true }]);
  });

  it('takes no error of a tool', async () => {
    const { judge, snapshots } = createWorld({}, true);
    expect(await judge({ isError: true, toolError: 'It failed.' })).toEqual({
      state: 'failed',
      reason: 'toMatchFile: get-sum answered with an error, which is not written to a.json.',
    });
    expect(snapshots.listChanged()).toEqual([]);
  });
});
