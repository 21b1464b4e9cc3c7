import { describe, expect, it } from 'vitest';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const weather = { city: 'Oslo', days: [{ high: 4 }, { high: 6 }] };
const evidence = createEvidence({
  toolResults: [
    createToolResult({
      toolName: 'weather',
      text: JSON.stringify(weather),
      structuredContent: weather,
      latencyMs: 99.94,
    }),
    createToolResult({
      toolName: 'fail',
      text: 'No such city',
      isError: true,
      toolError: 'fail answered with an error.',
    }),
    createToolResult({ toolName: 'json', text: '[1, 2]' }),
    createToolResult(),
  ],
});

describe('judgeAssertion on what a tool answered', () => {
  it.each([
    [{ type: 'toolResultContains', needle: 'SUM of' }],
    [{ type: 'toolResultContains', needle: 'sum of', caseSensitive: true }],
    [{ type: 'toolResultContains', needle: 'no such', toolName: 'fail' }],
    [{ type: 'toolResultMatches', pattern: '\\bis \\d\\.$' }],
    [{ type: 'toolResultMatches', pattern: '(?i)THE SUM' }],
    [{ type: 'toolResultEquals', value: weather, toolName: 'weather' }],
    [{ type: 'toolResultEquals', value: 6, path: '/days/1/high', toolName: 'weather' }],
    [{ type: 'toolResultEquals', value: [1, 2], toolName: 'json' }],
    [{ type: 'toolResultMatchesSchema', schema: { required: ['city'] }, toolName: 'weather' }],
    [{ type: 'toolResultMatchesSchema', schema: { type: 'array', items: { type: 'integer' } }, toolName: 'json' }],
    [{ type: 'toolResultIsError', isError: true, toolName: 'fail' }],
    [{ type: 'toolResultIsError', isError: false }],
    [{ type: 'toolLatencyUnder', ms: 99.95, toolName: 'weather' }],
  ])('passes %j', async (predicate) => {
    expect(await judgeAssertion(predicate, evidence)).toEqual({ state: 'passed', reason: expect.any(String) });
  });

  it.each([
    [
      { type: 'toolResultContains', needle: '6', latest: true },
      'toolResultContains: the result of get-sum is "The sum of 2 and 3 is 5." and does not contain "6".',
    ],
    [
      { type: 'toolResultContains', needle: 'SUM', caseSensitive: true },
      'toolResultContains: none of 4 results contains "SUM"; the result of get-sum is "The sum of 2 and 3 is 5.".',
    ],
    [
      { type: 'toolResultContains', needle: 'SUM', caseSensitive: true, toolName: 'get-sum' },
      'toolResultContains: the result of get-sum is "The sum of 2 and 3 is 5." and does not contain "SUM".',
    ],
    [
      { type: 'toolResultMatches', pattern: '^\\d+$', latest: true },
      'toolResultMatches: the result of get-sum is "The sum of 2 and 3 is 5." and does not match "^\\\\d+$".',
    ],
    [
      { type: 'toolResultMatches', pattern: '(?=x)' },
      'toolResultMatches: the pattern "(?=x)" is not an RE2 regular expression, which has no look-around and no back-references.',
    ],
    [
      { type: 'toolResultEquals', value: 'Bergen', path: '/city', toolName: 'weather' },
      'toolResultEquals: /city in the result of weather is "Oslo", expected "Bergen".',
    ],
    [
      { type: 'toolResultEquals', value: [1, 2, 3], toolName: 'json' },
      'toolResultEquals: the result of json is not as expected: /2 is missing, expected 3.',
    ],
    [
      { type: 'toolResultEquals', value: { city: 'Oslo' }, toolName: 'json' },
      'toolResultEquals: the result of json is [1,2], expected {"city":"Oslo"}.',
    ],
    [
      { type: 'toolResultEquals', value: { city: 'Bergen', days: [{ high: 4 }, { low: 6 }] }, toolName: 'weather' },
      'toolResultEquals: the result of weather is not as expected: /city is "Oslo", expected "Bergen"; /days/1/low is missing, expected 6; /days/1/high is 6, expected nothing.',
    ],
    [
      { type: 'toolResultEquals', value: [{ high: 5 }, { high: 6 }], path: '/days', toolName: 'weather' },
      'toolResultEquals: /days in the result of weather is not as expected: /days/0/high is 4, expected 5.',
    ],
    [
      { type: 'toolResultEquals', value: 1, path: '/days/7', toolName: 'weather' },
      'toolResultEquals: /days/7 in the result of weather does not exist (/days has 2 items), expected 1.',
    ],
    [
      { type: 'toolResultEquals', value: 1, path: 'days', toolName: 'weather' },
      'toolResultEquals: the predicate is malformed: path: expected a JSON Pointer, such as /items/0/name.',
    ],
    [
      { type: 'toolResultEquals', value: 5 },
      'toolResultEquals: the result of get-sum is "The sum of 2 and 3 is 5.", which is not JSON, and it has no structuredContent.',
    ],
    [
      { type: 'toolResultMatchesSchema', schema: { properties: { city: { type: 'number' } } }, toolName: 'weather' },
      'toolResultMatchesSchema: the result of weather does not fit the schema: /city must be number. It is {"city":"Oslo","days":[{"high":4},{"high":6}]}.',
    ],
    [
      {
        type: 'toolResultMatchesSchema',
        schema: { required: ['wind'], properties: { city: { format: 'email' } } },
        toolName: 'weather',
      },
      'toolResultMatchesSchema: the result of weather does not fit the schema: it must have required property \'wind\'; /city must match format "email". It is {"city":"Oslo","days":[{"high":4},{"high":6}]}.',
    ],
    [
      { type: 'toolResultMatchesSchema', schema: { requried: ['wind'] }, toolName: 'weather' },
      'toolResultMatchesSchema: the schema cannot be used: Unknown keyword `requried` of JSON Schema 2020-12; did you mean `required`?',
    ],
    [
      { type: 'toolResultMatches', pattern: '' },
      'toolResultMatches: the predicate is malformed: pattern: Too small: expected string to have >=1 characters.',
    ],
    [
      { type: 'toolResultMatchesSchema', schema: true, latest: true },
      'toolResultMatchesSchema: the result of get-sum is "The sum of 2 and 3 is 5.", which is not JSON, and it has no structuredContent.',
    ],
    [
      { type: 'toolResultIsError', isError: true },
      'toolResultIsError: the result of get-sum is "The sum of 2 and 3 is 5." and is no error, expected an error.',
    ],
    [
      { type: 'toolResultIsError', isError: false, toolName: 'fail' },
      'toolResultIsError: the result of fail is "No such city" and is an error, expected none.',
    ],
    [
      { type: 'toolLatencyUnder', ms: 99.94, toolName: 'weather' },
      'toolLatencyUnder: weather took 99.9 ms; the limit is under 99.9 ms.',
    ],
    [{ type: 'toolResultContains', needle: '5', toolName: 'nope' }, 'toolResultContains: nope has not answered.'],
  ])('fails %j', async (predicate, reason) => {
    expect(await judgeAssertion(predicate, evidence)).toEqual({ state: 'failed', reason });
  });

  it('says why a schema cannot be used', async () => {
    const schema = { $ref: 'http://127.0.0.1:1/schema.json' };
    expect(await judgeAssertion({ type: 'toolResultMatchesSchema', schema, toolName: 'json' }, evidence)).toEqual({
      state: 'failed',
      reason: expect.stringContaining('toolResultMatchesSchema: the schema cannot be used: The reference "http'),
    });
  });

  it('fails when no tool has answered yet', async () => {
    expect(await judgeAssertion({ type: 'toolResultIsError', isError: false }, createEvidence())).toEqual({
      state: 'failed',
      reason: 'toolResultIsError: no tool has answered.',
    });
  });

  it('judges every result of a tool that answered twice, or the latest alone', async () => {
    const toolResults = [createToolResult({ text: 'first' }), createToolResult({ text: 'second' })];
    const judge = async (needle: string, latest: boolean) =>
      (await judgeAssertion({ type: 'toolResultContains', needle, latest }, createEvidence({ toolResults }))).state;
    expect([await judge('first', false), await judge('second', false)]).toEqual(['passed', 'passed']);
    expect([await judge('first', true), await judge('second', true)]).toEqual(['failed', 'passed']);
  });

  it('prefers structuredContent to text that is JSON too', async () => {
    const toolResults = [createToolResult({ text: '1', structuredContent: { n: 2 } })];
    const predicate = { type: 'toolResultEquals', value: { n: 2 } };
    expect((await judgeAssertion(predicate, createEvidence({ toolResults }))).state).toBe('passed');
  });

  it('treats null as a value and finds it in a result', async () => {
    const toolResults = [createToolResult({ structuredContent: { n: null } })];
    const predicate = { type: 'toolResultEquals', value: null, path: '/n' };
    expect((await judgeAssertion(predicate, createEvidence({ toolResults }))).state).toBe('passed');
  });

  it.each([
    ['5', '5', true],
    ['true', 'true', true],
    ['{"n": 5}', '{"n": 5}', true],
    ['no JSON', 'no JSON', true],
    ['"5"', '5', true],
    ['5', 5, true],
    ['5.0', '5', false],
    ['5', true, false],
  ])('compares the text %j with the expected %j', async (text, value, isEqual) => {
    const toolResults = [createToolResult({ text })];
    expect((await judgeAssertion({ type: 'toolResultEquals', value }, createEvidence({ toolResults }))).state).toBe(
      isEqual ? 'passed' : 'failed',
    );
  });

  it.each([
    ['5.0', '5', 'toolResultEquals: the result of get-sum is "5.0", expected "5".'],
    ['Oslo', 'Bergen', 'toolResultEquals: the result of get-sum is "Oslo", expected "Bergen".'],
    ['"Oslo"', 'Bergen', 'toolResultEquals: the result of get-sum is "Oslo", expected "Bergen".'],
    ['{"token":"x"}', 'Bergen', 'toolResultEquals: the result of get-sum is {"token":"***"}, expected "Bergen".'],
    [
      `${'a'.repeat(300)}b`,
      `${'a'.repeat(300)}c`,
      'toolResultEquals: the result of get-sum from character 281 is "aaaaaaaaaaaaaaaaaaaab", expected "aaaaaaaaaaaaaaaaaaaac".',
    ],
  ])('shows the text %j next to the expected %j', async (text, value, reason) => {
    const toolResults = [createToolResult({ text })];
    const judged = await judgeAssertion({ type: 'toolResultEquals', value }, createEvidence({ toolResults }));
    expect(judged).toEqual({ state: 'failed', reason });
  });

  it('shows where a large document differs', async () => {
    const items = Array.from({ length: 500 }, (_, id) => ({ id, name: `item ${id}` }));
    const changed = items.map((item) => (item.id % 50 === 49 ? { ...item, name: 'other' } : item));
    const evidence = createEvidence({ toolResults: [createToolResult({ structuredContent: { items: changed } })] });
    expect((await judgeAssertion({ type: 'toolResultEquals', value: { items: changed } }, evidence)).state).toBe(
      'passed',
    );
    const { reason } = await judgeAssertion({ type: 'toolResultEquals', value: { items } }, evidence);
    expect(reason).toMatchInlineSnapshot(
      `"toolResultEquals: the result of get-sum is not as expected: /items/49/name is "other", expected "item 49"; /items/99/name is "other", expected "item 99"; /items/149/name is "other", expected "item 149"; /items/199/name is "other", expected "item 199"; /items/249/name is "other", expected "item 249"; /items/299/name is "other", expected "item 299"; /items/349/name is "other", expected "item 349"; +3 more."`,
    );
    expect(reason.length).toBeLessThanOrEqual(600);
  });

  it('masks what differs below a key that suggests a secret', async () => {
    const toolResults = [
      createToolResult({ structuredContent: { auth: { token: { id: 'x1' } }, old_password: 'x2' } }),
    ];
    const value = { auth: { token: { id: 'y1' } }, secret: 'y2' };
    const { reason } = await judgeAssertion({ type: 'toolResultEquals', value }, createEvidence({ toolResults }));
    expect(reason).toMatchInlineSnapshot(
      `"toolResultEquals: the result of get-sum is not as expected: /auth/token/id differs (its value is masked); /secret is missing, expected ***; /old_password is ***, expected nothing."`,
    );
    const ofPath = { type: 'toolResultEquals', value: 'y1', path: '/auth/token/id' };
    expect((await judgeAssertion(ofPath, createEvidence({ toolResults }))).reason).toMatchInlineSnapshot(
      `"toolResultEquals: /auth/token/id in the result of get-sum differs (its value is masked)."`,
    );
  });
});
