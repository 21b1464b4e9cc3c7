import { describe, expect, it } from 'vitest';
import type { StoredCase } from '../../src/cases/case.ts';
import { serverUnderTest as serverName } from '../../src/cases/step-server.ts';
import type { Suite } from '../../src/cases/suite.ts';
import { contract } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';
import { describeSync, planSync } from '../../src/suite/sync.ts';

function read(cases: string): Suite {
  const { suite, findings } = readSuite(`suite: Math\ncases:\n${cases}`, { file: 'a.evals.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  return suite;
}

const plan = (cases: string, existing: readonly StoredCase[]) => planSync(read(cases), existing, { dialect: contract });

const call = (toolName: string) => ({ id: 'call', kind: 'toolCall', serverName, toolName, arguments: {} });
const prompt = { id: 'ask', kind: 'prompt', prompt: 'Add.' };
const isFine = { id: 'called', kind: 'assert', assertion: { type: 'noToolErrors' } };
const noChecks = { mode: 'replace', list: [] };

/** As a service stores `adds`. */
const stored: StoredCase = { id: 'case_1', title: 'Adds', steps: [call('add'), isFine], checks: noChecks };
const adds = '  - { title: Adds, steps: [{ toolCall: add, id: call }] }';
const asks = '  - { title: Asks, model: openai/gpt-5, steps: [{ prompt: Add., id: ask }] }';
const storedAsks: StoredCase = { id: 'case_2', title: 'Asks', steps: [prompt], checks: noChecks };

describe('planSync', () => {
  it('does not change an equal case, whatever the order of its fields and whichever it omits', () => {
    const explicit: StoredCase = {
      ...stored,
      expectedOutput: null,
      scenario: '',
      iterations: 1,
      isNegative: false,
      matchOptions: { arguments: 'partial', extraToolCalls: 'unlimited', toolCallOrder: 'any', added: 'later' },
      steps: [{ arguments: {}, toolName: 'add', serverName, kind: 'toolCall', id: 'call' }, isFine],
    };
    for (const existing of [stored, explicit]) {
      expect(plan(adds, [existing])).toEqual({ create: [], update: [], delete: [], unchanged: 1 });
    }
  });

  it('does not compare the placeholder model of a case without a model', () => {
    for (const models of [[], [{ model: 'none', provider: 'custom' }], null]) {
      expect(plan(adds, [{ ...stored, models }]).unchanged).toBe(1);
    }
  });

  it('compares the models of others, and lets a provider be derived', () => {
    expect(plan(asks, [{ ...storedAsks, models: [{ model: 'openai/gpt-5' }] }]).unchanged).toBe(1);
    expect(plan(asks, [{ ...storedAsks, models: [{ model: 'openai/gpt-5', provider: 'openai' }] }]).unchanged).toBe(1);
    const { update } = plan(asks, [{ ...storedAsks, models: [{ model: 'openai/gpt-4', provider: 'openai' }] }]);
    expect(update).toEqual([
      {
        caseId: 'case_2',
        title: 'Asks',
        changes: { models: [{ model: 'openai/gpt-5', provider: 'openai' }] },
        fields: ['model'],
      },
    ]);
  });

  it('changes what differs, in the words of the API, and names it in those of the file', () => {
    const differing: StoredCase = {
      id: 'case_1',
      title: 'Adds',
      steps: [call('sum'), isFine],
      iterations: 3,
      isNegative: true,
      expectedOutput: 'five',
      scenario: 'arithmetic',
      matchOptions: { toolCallOrder: 'exact' },
    };
    expect(plan(adds, [differing]).update).toEqual([
      {
        caseId: 'case_1',
        title: 'Adds',
        changes: {
          steps: [call('add'), isFine],
          iterations: 1,
          isNegative: false,
          expectedOutput: '',
          scenario: '',
          matchOptions: { toolCallOrder: 'any', extraToolCalls: 'unlimited', arguments: 'partial' },
          checks: noChecks,
        },
        fields: ['steps', 'runs', 'negative', 'expectedOutput', 'scenario', 'match', 'checks'],
      },
    ]);
  });

  it('creates missing cases and deletes surplus ones', () => {
    const {
      create,
      delete: deleted,
      ...rest
    } = plan(`${adds}\n${asks}`, [stored, { ...storedAsks, title: 'Asked' }, { id: 'x' }]);
    expect(create.map(({ id }) => id)).toEqual(['asks']);
    expect(deleted).toEqual([
      { caseId: 'case_2', title: 'Asked' },
      { caseId: 'x', title: '' },
    ]);
    expect(rest).toEqual({ update: [], unchanged: 1 });
  });

  it('distinguishes namesakes by their steps, and the rest by their order', () => {
    const file = ['add', 'sub', 'mul'].map((tool) => `  - { title: Same, steps: [{ toolCall: ${tool}, id: call }] }`);
    const namesake = (id: string, tool: string) => ({ ...stored, id, title: 'Same', steps: [call(tool), isFine] });
    const { update, unchanged, ...rest } = plan(file.join('\n'), [
      namesake('1', 'pow'),
      namesake('2', 'root'),
      namesake('3', 'add'),
      namesake('4', 'log'),
    ]);
    expect(update.map(({ caseId, changes }) => [caseId, changes.steps?.[0]])).toEqual([
      ['1', call('sub')],
      ['2', call('mul')],
    ]);
    expect([unchanged, rest]).toEqual([1, { create: [], delete: [{ caseId: '4', title: 'Same' }] }]);
  });

  it.each([
    ['a conversation of a single call', [call('add'), isFine], [prompt]],
    ['a single call of a conversation', [prompt], [call('add'), isFine]],
    ['anything of several calls', [call('add'), call('add')], [call('add'), call('sub')]],
  ])('makes anew what the API would not let it make %s', (_what, before, after) => {
    const suite = read(adds);
    const cases = suite.cases.map((item) => {
      return { ...item, steps: after.map((step) => ({ step: step as never, location: item.location })) };
    });
    const existing = [{ ...stored, steps: before }];
    const anew = planSync({ ...suite, cases }, existing, { dialect: contract });
    expect(anew).toMatchObject({ create: cases, update: [], delete: [{ caseId: 'case_1' }], unchanged: 0 });
  });

  it('sends numbers as they arrive', () => {
    const file = '  - { title: Adds, steps: [{ toolCall: add, id: call, arguments: { a: -0 } }] }';
    expect(plan(file, [{ ...stored, steps: [{ ...call('add'), arguments: { a: 0 } }, isFine] }]).unchanged).toBe(1);
  });
});

describe('describeSync', () => {
  it('counts what is going to be done, then names every case that it touches', () => {
    const sync = plan(`${adds}\n${asks}`, [
      { ...stored, iterations: 2, isNegative: true },
      { id: 'x', title: 'Old' },
    ]);
    expect(describeSync(sync, { suiteName: 'Math' })).toEqual([
      'Math: 1 case to create, 1 to change, 1 to delete, 0 as in the file.',
      '  + Asks',
      '  ~ Adds (runs, negative)',
      '  - Old',
    ]);
  });

  it('reports that there is nothing to do', () => {
    expect(describeSync(plan(adds, [stored]), { suiteName: 'Math' })).toEqual([
      'Math: nothing to change, 1 case as in the file.',
    ]);
  });
});
