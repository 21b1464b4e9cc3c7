import { describe, expect, it } from 'vitest';
import { type ServiceProfile, serviceProfiles } from '../../src/service/profile.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { contract, type Dialect } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';

function compile(text: string, dialect: Dialect = 'embedded') {
  const { suite, findings } = readSuite(text, { file: 'a' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  return compileSuite(suite, { dialect });
}

describe('compileSuite', () => {
  it("carries everything about a case in the API's shape", () => {
    expect(
      compile(`suite: a
model: anthropic/claude-haiku-4.5
checks: [noToolErrors]
cases:
  - title: Adds
    runs: 3
    timeout: 5s
    negative: true
    expectedOutput: five
    scenario: arithmetic
    match: { toolCallOrder: in-order, extraToolCalls: 2, arguments: exact }
    checks: [{ turnCountUnder: 4 }]
    steps:
      - prompt: 2 + 3?
      - toolCall: get-sum
      - { toolCall: get-sum, server: other }
`),
    ).toEqual([
      {
        title: 'Adds',
        runs: 3,
        model: 'anthropic/claude-haiku-4.5',
        provider: 'anthropic',
        isNegativeTest: true,
        expectedOutput: 'five',
        scenario: 'arithmetic',
        matchOptions: { toolCallOrder: 'superset', maxExtraToolCalls: 2, argumentMatching: 'exact' },
        predicates: { mode: 'replace', list: [{ type: 'noToolErrors' }, { type: 'turnCountUnder', turns: 4 }] },
        advancedConfig: { timeoutMs: 5000 },
        steps: [
          { id: 'step-1', kind: 'prompt', prompt: '2 + 3?' },
          { id: 'step-2', kind: 'toolCall', serverName: 'server-under-test', toolName: 'get-sum', arguments: {} },
          { id: 'step-3', kind: 'toolCall', serverName: 'other', toolName: 'get-sum', arguments: {} },
        ],
      },
    ]);
  });

  it("replaces the suite's checks where a case says so, even by none", () => {
    const predicates = compile(`suite: a
checks: [noToolErrors]
cases:
  - { title: a, steps: [{ prompt: a }] }
  - { title: b, checks: { mode: inherit, list: [widgetRendered] }, steps: [{ prompt: a }] }
  - { title: c, checks: { mode: replace }, steps: [{ prompt: a }] }`).map((test) => test.predicates);
    expect(predicates).toEqual([
      { mode: 'replace', list: [{ type: 'noToolErrors' }] },
      { mode: 'replace', list: [{ type: 'noToolErrors' }] },
      { mode: 'replace', list: [] },
    ]);
  });

  it('gives a lone tool call an assertion, so that no widget is expected of it', () => {
    const steps = compile(`suite: a
cases:
  - { title: a, steps: [{ toolCall: x }] }
  - { title: b, failOnToolError: false, steps: [{ toolCall: x, id: called }] }`).map((test) => test.steps[1]);
    expect(steps).toEqual([
      { id: 'called', kind: 'assert', assertion: { type: 'noToolErrors' } },
      { id: 'called-2', kind: 'assert', assertion: { type: 'toolCalledAtLeastOnce', toolName: 'x' } },
    ]);
  });

  it('allows all errors only where the case says so: our service knows which call is expected to fail', () => {
    const text = `suite: a
cases:
  - { title: a, steps: [{ toolCall: x }, { assert: { toolResultIsError: true } }] }
  - { title: b, steps: [{ toolCall: x }], checks: [{ toolResultIsError: true }] }
  - { title: c, steps: [{ toolCall: x }], failOnToolError: false }
  - { title: d, steps: [{ toolCall: x }] }`;
    const listAllowed = (dialect: Dialect) =>
      compile(text, dialect).map((test) => test.advancedConfig?.failOnToolError === false);
    expect(listAllowed('embedded')).toEqual([false, false, true, false]);
    expect(listAllowed(contract)).toEqual([true, true, true, false]);
  });

  it('does not assert that a lone call has no error where a check expects one', () => {
    const [test] = compile(
      'suite: a\ncases: [{ title: a, steps: [{ toolCall: x }], checks: [{ toolResultIsError: true }] }]',
    );
    expect(test?.steps[1]).toMatchObject({ assertion: { type: 'toolCalledAtLeastOnce' } });
  });

  it('names no model where the file names none', () => {
    expect(Object.keys(compile('suite: a\ncases: [{ title: a, steps: [{ toolCall: x }] }]')[0] ?? {})).toEqual([
      'title',
      'steps',
      'runs',
      'matchOptions',
      'predicates',
      'advancedConfig',
    ]);
  });
});

describe('the dialect of hosted services', () => {
  const text = `suite: a
checks: [{ toolLatencyUnder: 100 }, noToolErrors]
cases:
  - title: Adds
    checks: [{ toolResultContains: "5" }, { toolNeverCalled: drop }]
    steps:
      - { toolCall: add, id: sum }
      - { assert: { toolResultContains: "5" }, id: is-five }
      - { assert: { toolCalledAtLeastOnce: add }, id: was-called }
`;

  it('leaves out what only the embedded service knows, and names the model that the API requires', () => {
    expect(compile(text, contract)).toEqual([
      {
        title: 'Adds',
        runs: 1,
        model: 'none',
        provider: 'custom',
        matchOptions: { toolCallOrder: 'ignore', maxExtraToolCalls: null, argumentMatching: 'partial' },
        predicates: {
          mode: 'replace',
          list: [{ type: 'noToolErrors' }, { type: 'toolNeverCalled', toolName: 'drop' }],
        },
        steps: [
          { id: 'sum', kind: 'toolCall', serverName: 'server-under-test', toolName: 'add', arguments: {} },
          { id: 'was-called', kind: 'assert', assertion: { type: 'toolCalledAtLeastOnce', toolName: 'add' } },
        ],
      },
    ]);
  });

  const checks = `suite: a
cases:
  - title: a
    steps: [{ toolCall: x }, { assert: noToolErrors }]
    checks:
      - { toolCalledBefore: x, beforeToolName: y }
      - { toolCallCountUnder: 3 }
      - { onlyToolsCalled: [x] }
      - argumentsMatchToolSchema
      - noDestructiveToolCalled
      - { toolResultSizeUnder: 100 }
      - { responseCloseTo: x, maxDistance: 0.5 }
      - { turnCountUnder: 3, role: gating }
      - { turnCountUnder: 2, role: advisory }
      - { type: noEndingQuestion, role: advisory }
      - { not: { toolNeverCalled: x } }`;
  const listSent = ({ dialect }: ServiceProfile) =>
    compile(checks, dialect)[0]?.predicates?.list.map(({ type }) => type);

  it('keeps the assertions that a service knows, and leaves out advice and what is negated', () => {
    expect(listSent(serviceProfiles.mcpjam)).toEqual([
      'toolCalledBefore',
      'toolCallCountUnder',
      'onlyToolsCalled',
      'argumentsMatchToolSchema',
      'noDestructiveToolCalled',
      'toolResultSizeUnder',
      'responseCloseTo',
      'turnCountUnder',
    ]);
    expect(listSent(serviceProfiles.embedded)).toHaveLength(11);
  });

  it('keeps of them what every version knows where the version is not known', () => {
    expect(listSent(serviceProfiles.svc)).toEqual(['turnCountUnder']);
  });

  it('is all kept for the embedded service', () => {
    const [test] = compile(text);
    expect(test?.steps.map(({ id }) => id)).toEqual(['sum', 'is-five', 'was-called']);
    expect(test?.predicates?.list.map(({ type }) => type)).toEqual([
      'toolLatencyUnder',
      'noToolErrors',
      'toolResultContains',
      'toolNeverCalled',
    ]);
    expect(test).toMatchObject({ advancedConfig: { timeoutMs: 60_000 } });
    expect(test).not.toHaveProperty('model');
  });

  it("keeps the file's own model, and that a tool may fail", () => {
    const [test] = compile(
      `suite: a
cases:
  - { title: a, model: openai/gpt-5, steps: [{ prompt: x }, { assert: { toolResultIsError: true } }] }`,
      contract,
    );
    expect(test).toMatchObject({
      model: 'openai/gpt-5',
      provider: 'openai',
      steps: [{ kind: 'prompt' }],
      advancedConfig: { failOnToolError: false },
    });
  });

  it('gives an assertion to a call of which all were left out, and a step to a case of which nothing is left', () => {
    const steps = compile(
      `suite: a
cases:
  - { title: a, steps: [{ toolCall: x }, { assert: { toolResultContains: y } }] }
  - { title: b, steps: [{ toolCall: x }, { assert: { toolResultIsError: true } }] }
  - { title: c, steps: [{ assert: { toolResultContains: y } }] }`,
      contract,
    ).map((test) => test.steps.map((step) => (step.kind === 'assert' ? step.assertion : step.kind)));
    expect(steps).toEqual([
      ['toolCall', { type: 'noToolErrors' }],
      ['toolCall', { type: 'toolCalledAtLeastOnce', toolName: 'x' }],
      [{ type: 'noToolErrors' }],
    ]);
  });
});

describe('a suite-wide noToolErrors', () => {
  const text = `suite: S
checks: [noToolErrors, { toolNeverCalled: drop }]
cases:
  - title: expects an error
    steps: [{ toolCall: a }, { assert: { toolResultIsError: true } }]
  - title: expects none
    steps: [{ toolCall: a }, { assert: { toolResultIsError: false } }]
`;

  it('does not hold for a case that expects an error, which keeps the other checks', () => {
    const { suite } = readSuite(text, { file: 'a.yaml' });
    const lists = compileSuite(suite!, { dialect: 'embedded' }).map(({ predicates }) =>
      predicates?.list.map(({ type }) => type),
    );
    expect(lists).toEqual([['toolNeverCalled'], ['noToolErrors', 'toolNeverCalled']]);
  });
});
