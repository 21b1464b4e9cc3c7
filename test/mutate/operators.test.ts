import type { CallToolResult } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Step } from '../../src/cases/step.ts';
import { measureStrength, type JudgedChange } from '../../src/mutate/measure-strength.ts';
import { observeCases } from '../../src/mutate/observe-cases.ts';
import type { Operator } from '../../src/mutate/operators/define-operator.ts';
import { operators } from '../../src/mutate/operators/registry.ts';
import { createCaseRecorder } from '../../src/mutate/taped-case.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { createScriptedSession } from '../support/models/scripted-session.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let answer: CallToolResult;

beforeAll(async () => {
  const ofNotes = {
    inputSchema: { type: 'object' as const, properties: { of: { type: 'string' } } },
    call: () => answer,
  };
  server = await startFixtureMcpServer({
    'get-notes': ofNotes,
    'promise-notes': { ...ofNotes, outputSchema: { type: 'object' as const } },
    'read-notes': { ...ofNotes, annotations: { readOnlyHint: true } },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const json = (value: JsonObject): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
});
const fail = (message: string): CallToolResult => ({ ...text(message), isError: true });
const image: CallToolResult = { content: [{ type: 'image', data: 'A'.repeat(400), mimeType: 'image/png' }] };

const notes = json({ count: 2, isOpen: true, due: '2026-03-04', notes: [{ name: 'bread' }, { name: 'milk' }] });
const sorted = json({ names: ['apple', 'bread', 'milk'] });
const unsorted = json({ names: ['milk', 'apple', 'bread'] });

/** An answer that an operator changes, a check that fails after a change, and one that holds whatever it changes. */
interface Example {
  answer: CallToolResult;
  second?: CallToolResult;
  /** `get-notes` if absent. */
  tool?: string;
  noticing: Assertion;
  /** A check, or steps without one. */
  blind: Assertion | { steps: Step[] };
}

const equals = (value: unknown, path?: string): Assertion => ({
  type: 'toolResultEquals',
  value,
  ...(path !== undefined && { path }),
});
const contains = (needle: string, path?: string): Assertion => ({
  type: 'toolResultContains',
  needle,
  caseSensitive: true,
  ...(path !== undefined && { path }),
});
const works: Assertion = { type: 'toolResultIsError', isError: false };
const fails: Assertion = { type: 'toolResultIsError', isError: true };
const called = { type: 'toolCalledAtLeastOnce', toolName: 'get-notes' } satisfies Assertion;
const listing = { steps: [{ id: 'tools', kind: 'listTools' } as const] };
const fits: Assertion = { type: 'argumentsMatchToolSchema', toolName: 'get-notes' };
const whole = equals(notes.structuredContent);

const examples: Readonly<Record<string, Example>> = {
  'drop-field': { answer: notes, noticing: whole, blind: works },
  'change-number': { answer: notes, noticing: equals(2, '/count'), blind: equals(true, '/isOpen') },
  'flip-sign': { answer: notes, noticing: equals(2, '/count'), blind: contains('2', '/count') },
  'flip-boolean': { answer: notes, noticing: equals(true, '/isOpen'), blind: equals(2, '/count') },
  'change-text': { answer: json({ name: 'bread' }), noticing: contains('bread', '/name'), blind: works },
  'cut-text': { answer: json({ name: 'bread' }), noticing: equals('bread', '/name'), blind: contains('bre', '/name') },
  'change-case': {
    answer: json({ name: 'bread' }),
    noticing: contains('bread', '/name'),
    blind: { type: 'toolResultContains', needle: 'bread', path: '/name' },
  },
  'move-date': { answer: notes, noticing: equals('2026-03-04', '/due'), blind: contains('2026-03', '/due') },
  'empty-list': { answer: notes, noticing: whole, blind: equals(2, '/count') },
  'drop-item': { answer: notes, noticing: whole, blind: equals('bread', '/notes/0/name') },
  'repeat-item': { answer: notes, noticing: whole, blind: equals('bread', '/notes/0/name') },
  'reorder-list': {
    answer: sorted,
    noticing: equals(['apple', 'bread', 'milk'], '/names'),
    blind: { type: 'toolResultEquals', value: ['milk', 'bread', 'apple'], path: '/names', unordered: true },
  },
  disagree: { answer: json({ name: 'bread' }), noticing: equals('bread', '/name'), blind: works },
  'change-answer': { answer: text('The sum is 5.'), noticing: contains('5'), blind: contains('The sum') },
  'cut-answer': { answer: text('The sum is 5.'), noticing: contains('5'), blind: contains('The') },
  'recase-answer': {
    answer: text('The sum'),
    noticing: contains('The sum'),
    blind: { type: 'toolResultContains', needle: 'the sum' },
  },
  'empty-answer': { answer: text('The sum'), noticing: contains('sum'), blind: works },
  'replace-data': {
    answer: image,
    noticing: { type: 'toolResultContent', block: { type: 'image', minBytes: 200 } },
    blind: { type: 'toolResultContent', block: { type: 'image' } },
  },
  'set-error': { answer: text('The sum'), noticing: works, blind: called },
  'lose-error': { answer: fail('no'), noticing: fails, blind: called },
  'other-error': {
    answer: fail('No note named bread'),
    noticing: { type: 'toolError', error: { contains: 'bread' } },
    blind: fails,
  },
  refuse: { answer: text('The sum'), noticing: works, blind: called },
  'add-field': {
    answer: json({ name: 'bread' }),
    noticing: equals({ name: 'bread' }),
    blind: equals('bread', '/name'),
  },
  'reorder-fields': {
    answer: json({ b: 1, a: 2 }),
    noticing: contains('{"b":1'),
    blind: equals({ a: 2, b: 1 }),
  },
  'reorder-unordered': {
    answer: unsorted,
    noticing: equals(['milk', 'apple', 'bread'], '/names'),
    blind: contains('apple', '/names'),
  },
  'other-volatile': {
    answer: json({ id: 'n-1', name: 'milk' }),
    second: json({ id: 'n-2', name: 'milk' }),
    noticing: equals('n-1', '/id'),
    blind: equals('milk', '/name'),
  },
  'reword-error': {
    answer: fail('No note named bread'),
    noticing: { type: 'toolError', error: { contains: 'No note' } },
    blind: fails,
  },
  'reword-answer': { answer: text('The sum is 5.'), noticing: equals('The sum is 5.'), blind: contains('5') },
  'other-moment': {
    answer: text('note 1 made'),
    second: text('note 2 made'),
    noticing: contains('note 1'),
    blind: contains('made'),
  },
  'drop-tool': { answer: text('The sum'), noticing: works, blind: listing },
  'rename-tool': { answer: text('The sum'), noticing: works, blind: listing },
  'require-argument': { answer: text('The sum'), noticing: fits, blind: works },
  'retype-argument': { answer: text('The sum'), noticing: fits, blind: works },
  'promise-field': {
    answer: notes,
    tool: 'promise-notes',
    noticing: works,
    blind: { ...called, toolName: 'promise-notes' },
  },
  'mark-destructive': {
    answer: text('The sum'),
    tool: 'read-notes',
    noticing: { type: 'noDestructiveToolCalled' },
    blind: works,
  },
};

const ask: Step = { id: 'ask', kind: 'prompt', prompt: 'Which notes are there?' };
const asked = [
  { calls: [{ tool: 'get-notes', input: { of: 'bread' } }] },
  { calls: [{ tool: 'read-notes', input: { of: 'milk' } }] },
  { text: 'Bread and milk.' },
];

/** For each change of a model: a check that fails after it, and one that holds. */
const modelExamples: Readonly<Record<string, [noticing: Assertion, blind: Assertion]>> = {
  'other-tool': [called, { type: 'responseContains', needle: 'Bread' }],
  'other-argument': [
    { type: 'toolCalledWith', toolName: 'get-notes', args: { args: { of: 'bread' } } },
    { type: 'responseContains', needle: 'Bread' },
  ],
  'other-order': [{ type: 'firstToolWas', toolName: 'get-notes' }, called],
  'extra-call': [{ type: 'toolCallCountUnder', count: 3 }, called],
  'empty-reply': [{ type: 'responseContains', needle: 'Bread' }, called],
};

async function judgeModel(operator: Operator, check: Assertion): Promise<readonly JudgedChange[]> {
  answer = text('bread');
  const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
  const recorder = createCaseRecorder();
  const session = createScriptedSession(asked);
  const options = { clock: systemClock, timeoutMs: 30_000, openModel: async () => session };
  await recorder.runCase(createCase([ask, assertStep(check)]), target, options);
  const { changes } = await measureStrength(await observeCases(recorder.list(), []), { operators: [operator] });
  return changes;
}

async function judge(operator: Operator, example: Example, check: Example['blind']): Promise<readonly JudgedChange[]> {
  const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
  const run = async (result: CallToolResult) => {
    answer = result;
    const recorder = createCaseRecorder();
    // An error fails a case by itself, unless the case allows errors.
    const overrides =
      'type' in check && check.type === called.type ? { advancedConfig: { failOnToolError: false } } : {};
    const call = callStep(example.tool ?? 'get-notes', { of: 'bread' });
    const testCase = createCase('steps' in check ? check.steps : [call, assertStep(check)], overrides);
    await recorder.runCase(testCase, target, { clock: systemClock, timeoutMs: 30_000 });
    return recorder.list();
  };
  const first = await run(example.answer);
  const second = await run(example.second ?? example.answer);
  const { changes } = await measureStrength(await observeCases(first, second), { operators: [operator] });
  return changes;
}

describe('an operator', () => {
  it.each(['the text', 'the content'])(
    'changes a document also where structured content repeats %s',
    async (copied) => {
      const { content } = text(JSON.stringify({ name: 'bread' }));
      const [only] = content;
      const repeated = copied === 'the text' && only?.type === 'text' ? only.text : content;
      const path = copied === 'the text' ? '/content' : '/content/0/text';
      const example = { answer: { content, structuredContent: { content: repeated } }, noticing: works, blind: works };
      const operator = operators.find(({ name }) => name === 'change-text');
      if (operator === undefined) throw new Error('There is no such operator.');
      const noticed = await judge(operator, example, contains('bread', path));
      expect(noticed.map(({ outcome }) => outcome)).toEqual(['noticed']);
      const blind = await judge(operator, example, contains('name', path));
      expect(blind.map(({ outcome }) => outcome)).toEqual(['unnoticed']);
    },
  );

  it('has an example', () => {
    const known = [...Object.keys(examples), ...Object.keys(modelExamples)];
    expect(operators.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
  });

  it.each(operators.map((operator) => [operator.name, operator] as const))(
    '%s is noticed by a check of what it changes, and by no other',
    async (name, operator) => {
      const ofModel = modelExamples[name];
      if (ofModel !== undefined) {
        const [noticing, tolerating] = ofModel;
        const [seen, unseen] = [await judgeModel(operator, noticing), await judgeModel(operator, tolerating)];
        expect(seen.map(({ outcome }) => outcome)).toContain('noticed');
        expect(unseen.map(({ outcome }) => outcome)).toContain('unnoticed');
        return;
      }
      const example = examples[name];
      if (example === undefined) throw new Error(`${name} has no example.`);
      const noticed = await judge(operator, example, example.noticing);
      expect(noticed.map(({ outcome }) => outcome)).toContain('noticed');
      const blind = await judge(operator, example, example.blind);
      expect(blind.map(({ outcome }) => outcome)).toContain('unnoticed');
    },
  );
});
