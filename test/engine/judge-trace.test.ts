import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeTrace, listTraceAssertions } from '../../src/engine/judge-trace.ts';
import type { Assertion } from '../../src/checks/assertion.ts';
import type { OwnJudgement } from '../../src/model/results.ts';
import type { Suite } from '../../src/cases/suite.ts';
import { contract } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createCallMessages, createCallSpan } from '../support/factories/trace-factory.ts';

function read(text: string): Suite {
  const { suite, findings } = readSuite(text, { file: 'a.evals.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  return suite;
}

/** Judges the only case of a suite of these steps, as they would stand in a file. */
function judge(trace: unknown, steps: readonly object[], suiteFields: object = {}): Promise<OwnJudgement> {
  return judgeOnlyCase(trace, read(JSON.stringify({ suite: 'S', cases: [{ title: 'C', steps }], ...suiteFields })));
}

function judgeOnlyCase(trace: unknown, suite: Suite): Promise<OwnJudgement> {
  const [item] = suite.cases;
  return judgeTrace(
    trace,
    listTraceAssertions(item!, suite, contract),
    item!.steps.map(({ step }) => step),
  );
}

const assert = (assertion: Assertion, id = 'asserts') => ({ id, kind: 'assert', assertion });
const contains = (text: string, id?: string) => assert({ type: 'toolResultContains', needle: text }, id);
const call = (id: string, toolName = 'get-sum') => ({ id, kind: 'toolCall', toolName });
const prompt = (id: string) => ({ id, kind: 'prompt', prompt: 'Add.' });
const unscored = (reason: string) => ({ kind: 'unscored', reason });

const words = fc.constantFrom('1', '2', 'a', 'p', 'x', 'tool', 'json', 'text', 'content', 'get-sum');
const keys = fc.constantFrom(
  ...'messages spans prompts content structuredContent type toolCallId toolName output value text'.split(' '),
  ...'category promptIndex authoredStepId id parentId startMs endMs actualToolCalls __proto__'.split(' '),
);

describe('listTraceAssertions', () => {
  it('lists what other services do not know: of the steps with their place, then of the checks that hold', () => {
    const suite = read(`suite: S
checks: [{ toolLatencyUnder: 100 }, noToolErrors]
cases:
  - title: C
    checks: [{ toolResultIsError: false }]
    steps: [{ toolCall: a }, { assert: { toolResultContains: x }, id: has-x }, { assert: noToolErrors }]
  - title: D
    checks: { mode: replace, list: [] }
    steps: [{ toolCall: a }]
`);
    expect(suite.cases.map((item) => listTraceAssertions(item, suite, contract))).toEqual([
      [
        { assertion: { type: 'toolResultContains', needle: 'x' }, step: { id: 'has-x', index: 1, kind: 'assert' } },
        { assertion: { type: 'toolLatencyUnder', ms: 100 }, step: null },
        { assertion: { type: 'toolResultIsError', isError: false }, step: null },
      ],
      [],
    ]);
  });
});

describe('judgeTrace', () => {
  const trace = { messages: createCallMessages('1') };

  it('passes what holds, fails what does not and names the step', async () => {
    expect(await judge(trace, [call('sum'), contains('5')])).toEqual({ kind: 'passed' });
    expect(await judge(trace, [call('sum'), contains('6', 'is-six')])).toEqual({
      kind: 'failed',
      reason: 'toolResultContains: the result of get-sum is "The sum is 5." and does not contain "6".',
      step: { id: 'is-six', index: 1, kind: 'assert' },
    });
  });

  it('judges checks at the end', async () => {
    const messages = [...createCallMessages('1', { text: 'early' }), ...createCallMessages('2', { text: 'late' })];
    const judgeCheck = (text: string) =>
      judge({ messages }, [call('a'), call('b')], { checks: [{ toolResultContains: text, latest: true }] });
    expect(await judgeCheck('late')).toEqual({ kind: 'passed' });
    expect(await judgeCheck('early')).toMatchObject({ kind: 'failed', step: null });
  });

  it.each([
    [{ type: 'toolResultMatches', pattern: 'is \\d' }, 'passed'],
    [{ type: 'toolResultMatches', pattern: 'is \\d\\d' }, 'failed'],
    [{ type: 'toolResultIsError', isError: false }, 'passed'],
    [{ type: 'toolResultIsError', isError: true }, 'failed'],
    [{ type: 'toolResultEquals', value: 5, path: '/sum' }, 'passed'],
    [{ type: 'toolResultEquals', value: 6, path: '/sum' }, 'failed'],
    [{ type: 'toolResultMatchesSchema', schema: { required: ['sum'] } }, 'passed'],
    [{ type: 'toolResultMatchesSchema', schema: { required: ['product'] } }, 'failed'],
    [{ type: 'toolLatencyUnder', ms: 41 }, 'passed'],
    [{ type: 'toolLatencyUnder', ms: 40 }, 'failed'],
  ] as const)('judges %j by its own predicate: %s', async (assertion, kind) => {
    const value = { content: [{ type: 'text', text: 'The sum is 5.' }], structuredContent: { sum: 5 } };
    const messages = createCallMessages('1', { output: { type: 'json', value } });
    const { kind: judged } = await judge({ messages, spans: [createCallSpan('1')] }, [call('sum'), assert(assertion)]);
    expect(judged).toBe(kind);
  });

  it('ranks a failure above an unknown result, and both above a pass', async () => {
    const noTiming = assert({ type: 'toolLatencyUnder', ms: 5 }, 'fast');
    expect((await judge(trace, [call('sum'), noTiming, contains('6')])).kind).toBe('failed');
    expect(await judge(trace, [call('sum'), contains('5'), noTiming])).toEqual(
      unscored('toolLatencyUnder could not be judged: the trace does not tell how long get-sum took.'),
    );
  });

  it.each([[undefined], [null], ['text'], [[]], [{}], [{ messages: null }], [{ messages: {}, spans: [] }]])(
    'does not judge without messages: %j',
    async (nothing) => {
      expect(await judge(nothing, [call('sum'), contains('5')])).toEqual(
        unscored('toolResultContains could not be judged: no trace is stored.'),
      );
    },
  );

  it('fails on the error of a call of which the case expects none', async () => {
    const broken = { type: 'error-text', value: 'It broke.' };
    const steps = [call('a'), assert({ type: 'toolResultIsError', isError: true }), call('b')];
    const judgeOutputs = (first: object, second: object) =>
      judge(
        { messages: [...createCallMessages('1', { output: first }), ...createCallMessages('2', { output: second })] },
        steps,
      );
    const fine = { type: 'text', value: 'fine' };
    expect(await judgeOutputs(broken, fine)).toEqual({ kind: 'passed' });
    expect(await judgeOutputs(broken, broken)).toEqual({
      kind: 'failed',
      reason: 'get-sum answered with an error: "It broke.".',
      step: null,
    });
    expect(await judgeOutputs(fine, fine)).toMatchObject({ kind: 'failed', step: { id: 'asserts' } });
    const unanswered = createCallMessages('2').slice(0, 1);
    const messages = [...createCallMessages('1', { output: broken }), ...unanswered];
    expect((await judge({ messages }, steps)).kind).toBe('unscored');
  });

  it('needs no trace without assertions to judge', async () => {
    expect(await judge(undefined, [call('sum'), assert({ type: 'noToolErrors' })])).toEqual({ kind: 'passed' });
  });

  it('does not judge a document by a text that is none, unless that is an error', async () => {
    const judgeOutput = (output: object) =>
      judge({ messages: createCallMessages('1', { output }) }, [
        call('sum'),
        assert({ type: 'toolResultEquals', value: 5, path: '/sum' }),
      ]);
    expect(await judgeOutput({ type: 'content', value: [{ type: 'text', text: '{"sum":5}' }] })).toEqual({
      kind: 'passed',
    });
    expect(await judgeOutput({ type: 'content', value: [{ type: 'text', text: 'It is 5.' }] })).toEqual(
      unscored(
        'toolResultEquals could not be judged: the trace has only the text of what get-sum answered, and that is not JSON.',
      ),
    );
    expect((await judgeOutput({ type: 'error-text', value: 'It broke.' })).kind).toBe('failed');
    expect((await judgeOutput({ type: 'json', value: { content: [] } })).kind).toBe('failed');
  });

  it.each([
    [{ type: 'argumentsMatchToolSchema' }],
    [{ type: 'noDestructiveToolCalled' }],
    [{ type: 'toolResultSizeUnder', maxBytes: 1 }],
    [{ type: 'tokenBudgetUnder', tokens: 1 }],
    [{ type: 'widgetRendered' }],
  ] as const)('does not judge { not: %j }, of which no trace says anything', async (assertion) => {
    expect(await judge(trace, [call('sum'), assert({ type: 'not', assertion })])).toEqual(
      unscored(`not: ${assertion.type} could not be judged: the trace does not have what it is about.`),
    );
  });

  it('does not judge the calls of a trace that leaves some out', async () => {
    const never = assert({ type: 'not', assertion: { type: 'toolCalledAtLeastOnce', toolName: 'drop' } });
    expect(await judge(trace, [call('sum'), never])).toEqual({ kind: 'passed' });
    expect(await judge(trace, [call('sum'), call('more'), never])).toEqual(
      unscored('not: toolCalledAtLeastOnce could not be judged: the trace does not have the tool call in step "sum".'),
    );
    const prompts = [{ actualToolCalls: [{ toolName: 'get-sum' }, { toolName: 'drop' }] }];
    expect(await judge({ ...trace, prompts }, [prompt('p'), never])).toEqual(
      unscored(
        'not: toolCalledAtLeastOnce could not be judged: the trace does not name one of the tool calls before it.',
      ),
    );
  });

  it('does not judge the last message before the last prompt', async () => {
    const isSilent = assert({ type: 'not', assertion: { type: 'responseContains', needle: 'five' } });
    const messages = [{ role: 'assistant', content: 'It is five.' }];
    expect((await judge({ messages }, [prompt('p'), isSilent])).kind).toBe('failed');
    expect((await judge({ messages }, [prompt('p'), isSilent, prompt('q')])).kind).toBe('unscored');
  });

  it('leaves advice to the service', () => {
    const suite = read(
      'suite: S\ncases: [{ title: C, steps: [{ toolCall: a }, { assert: { toolLatencyUnder: 1, role: advisory } }] }]',
    );
    expect(listTraceAssertions(suite.cases[0]!, suite, contract)).toEqual([]);
  });

  it('judges a text that equals the expected one, although it is no document', async () => {
    const messages = createCallMessages('1', { output: { type: 'text', value: 'It is 5.' } });
    const judgeValue = async (value: string) =>
      (await judge({ messages }, [call('sum'), assert({ type: 'toolResultEquals', value })])).kind;
    expect(await judgeValue('It is 5.')).toBe('passed');
    expect(await judgeValue('It is 6.')).toBe('unscored');
  });

  it('never throws and always says why, whatever the trace', async () => {
    const suites = [
      [prompt('p'), contains('x'), prompt('q'), contains('y', 'second')],
      [call('a'), contains('x'), call('b'), assert({ type: 'toolLatencyUnder', ms: 5, toolName: 'get-sum' }, 'fast')],
      [prompt('p'), contains('x')],
    ].map((steps) => read(JSON.stringify({ suite: 'S', cases: [{ title: 'C', steps }] })));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 5 }, words, fc.jsonValue({ maxDepth: 2 }), fc.array(tie('tree')), tie('record')),
      record: fc.dictionary(keys, tie('tree'), { maxKeys: 5 }),
    }));
    const part = fc.record({
      type: fc.constantFrom('tool-call', 'tool-result'),
      toolCallId: fc.oneof(fc.constantFrom('1', '2'), tree),
      toolName: fc.oneof(fc.constantFrom('get-sum', 'other'), tree),
      output: fc.oneof(fc.constantFrom({ type: 'text', value: 'x' }, { type: 'text', value: 'z' }), tree),
    });
    const likely = fc.record({
      messages: fc.array(fc.record({ content: fc.array(part, { maxLength: 3 }) }), { maxLength: 4 }),
      spans: fc.oneof(fc.constant([]), tree),
      prompts: fc.oneof(fc.constant([]), tree),
    });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), tree, likely), fc.constantFrom(...suites), async (trace, suite) => {
        const judgement = await judgeOnlyCase(trace, suite);
        seen.add(judgement.kind);
        if (judgement.kind !== 'passed') expect(judgement.reason).toMatch(/^tool\w+.*[.…]$/su);
      }),
      { numRuns: 3000 },
    );
    expect([...seen].toSorted()).toEqual(['failed', 'passed', 'unscored']);
  });

  it('survives a trace deeper than the stack', async () => {
    const depth = 200_000;
    const value: unknown = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    const messages = createCallMessages('1', { output: { type: 'json', value } });
    expect(await judge({ messages }, [call('sum'), contains('5')])).toMatchObject({
      kind: 'unscored',
      reason: expect.stringContaining('could not be judged: the trace cannot be read: '),
    });
  });
});
