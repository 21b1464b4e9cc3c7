import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { hashDefinition } from '../../src/suite/definition-hash.ts';
import { contract } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';
import { selectCases } from '../../src/suite/select.ts';

function read(text: string) {
  const { suite, findings } = readSuite(text, { file: 'a.yaml' });
  expect(findings.map(formatConfigurationIssue)).toEqual([]);
  if (suite === null) throw new Error('The suite has findings.');
  return suite;
}

function listFindings(text: string): string[] {
  return readSuite(text, { file: 'a.yaml' }).findings.map(formatConfigurationIssue);
}

const sums = (rows: string) => `suite: Sums
cases:
  - title: Adds {{a}} and {{b}}
    id: sum
    tags: [smoke]
    each:
${rows}
    steps:
      - toolCall: get-sum
        arguments: { a: "{{a}}", b: "{{b}}", note: "{{a}} + {{b}}" }
      - assert: { toolResultEquals: "{{sum}}" }
`;

const twoRows = `      - { a: 2, b: 3, sum: 5 }
      - { a: 2.5, b: [1], sum: { total: null } }`;

describe('a case with rows', () => {
  it('becomes a case for each row, at its line, with the values in their own types', () => {
    const { cases } = read(sums(twoRows));
    expect(cases.map(({ id, title, location, tags }) => [id, title, location.line, tags])).toEqual([
      ['sum-1', 'Adds 2 and 3', 7, ['smoke']],
      ['sum-2', 'Adds 2.5 and [1]', 8, ['smoke']],
    ]);
    expect(cases.map(({ steps }) => steps.map(({ step }) => step))).toMatchObject([
      [{ arguments: { a: 2, b: 3, note: '2 + 3' } }, { assertion: { type: 'toolResultEquals', value: 5 } }],
      [{ arguments: { a: 2.5, b: [1], note: '2.5 + [1]' } }, { assertion: { value: { total: null } } }],
    ]);
    expect(cases.map(({ placeholders }) => placeholders)).toEqual([null, null]);
  });

  it('keeps the ids and the definitions of its cases when a row is appended', () => {
    const before = read(sums(twoRows));
    const after = read(sums(`${twoRows}\n      - { a: 1, b: 1, sum: 2 }`));
    const describeCases = (suite: typeof before) =>
      suite.cases.map((testCase) => [testCase.id, hashDefinition(testCase, suite)]);
    expect(describeCases(after).slice(0, 2)).toEqual(describeCases(before));
    expect(describeCases(after)[2]?.[0]).toBe('sum-3');
  });

  it('names its cases by the `id` or the `name` of a row, which need not be used', () => {
    const suite = read(`suite: s
cases:
  - title: Greets
    each: [{ name: Ada }, { name: Grace Hopper }, { id: 7, name: x }, { name: Ada }]
    steps: [{ toolCall: echo, arguments: { message: hello } }]
  - title: Greets Ada
    steps: [{ toolCall: echo }]
`);
    expect(suite.cases.map(({ id, title }) => [id, title])).toEqual([
      ['greets-Ada', 'Greets (Ada)'],
      ['greets-Grace-Hopper', 'Greets (Grace Hopper)'],
      ['greets-7', 'Greets (7)'],
      ['greets-Ada-2', 'Greets (Ada)'],
      ['greets-ada', 'Greets Ada'],
    ]);
  });

  it('is selected as a whole by its own id or title, and a row by that of the row', () => {
    const suite = read(sums(twoRows));
    const select = (name: string) =>
      selectCases([suite], { cases: [name], tags: [], runs: null }).suites.flatMap(({ cases }) =>
        cases.map(({ id }) => id),
      );
    expect(select('sum')).toEqual(['sum-1', 'sum-2']);
    expect(select('sum-2')).toEqual(['sum-2']);
    expect(select('Adds {{a}} and {{b}}')).toEqual(['sum-1', 'sum-2']);
  });

  it('fills in every key of the case, with the type that the key needs', () => {
    const { cases } = read(`suite: s
cases:
  - title: Repeats
    each: [{ runs: 3, limit: 2s, word: a.b }]
    runs: "{{runs}}"
    timeout: "{{limit}}"
    expectedOutput: The word {{word}}
    checks: [{ toolResultMatches: "^{{word}}$" }]
    steps:
      - toolCall: "{{word}}"
      - assert: { toolResultMatchesSchema: { const: "{{word}}", pattern: "{{word}}" } }
`);
    expect(cases).toMatchObject([
      {
        runs: 3,
        timeoutMs: 2000,
        expectedOutput: 'The word a.b',
        checks: { list: [{ type: 'toolResultMatches', pattern: '^a\\.b$' }] },
        steps: [{ step: { toolName: 'a.b' } }, { step: { assertion: { schema: { const: 'a.b', pattern: 'a\\.b' } } } }],
      },
    ]);
  });

  it('runs with each model, and each of these cases keeps its name and its recording', () => {
    const { cases } = read(`suite: s
models: [a/one, b/two]
cases:
  - title: Asks
    each: [{ word: sea }, { word: sun }]
    steps: [{ prompt: "Say {{word}}" }]
`);
    expect(cases.map(({ id, recordingId, variantOf }) => [id, recordingId, variantOf.map((name) => name.id)])).toEqual([
      ['asks-1--a-one', 'asks-1', ['asks-1', 'asks']],
      ['asks-1--b-two', 'asks-1', ['asks-1', 'asks']],
      ['asks-2--a-one', 'asks-2', ['asks-2', 'asks']],
      ['asks-2--b-two', 'asks-2', ['asks-2', 'asks']],
    ]);
  });

  it('takes `{{` in a row as text if it is written as `\\{{`', () => {
    const suite = read(`suite: s
cases:
  - title: Renders
    each: [{ template: 'Hello \\{{name}}' }]
    steps: [{ toolCall: render, arguments: { template: "{{template}}", note: "as {{template}}" } }]
`);
    const [compiled] = compileSuite(suite, { dialect: contract });
    expect(compiled?.steps[0]).toMatchObject({ arguments: { template: 'Hello {{name}}', note: 'as Hello {{name}}' } });
  });
});

const withEach = (rows: string, use: string) => `suite: s
cases:
  - title: t
    each: ${rows}
    steps:
      - { toolCall: x, arguments: { a: ${use} } }
`;

describe('findings about rows', () => {
  it.each([
    [
      withEach('[{ a: 1 }, {}]', '"{{a}}"'),
      'a.yaml:4:22: This row has no `a`, which the case uses as `{{a}}` (missing-column)',
    ],
    [
      withEach('[{ a: 1, b: 2 }]', '"{{a}}"'),
      'a.yaml:4:20: No step uses the column `b`; write `{{b}}` where it belongs, or remove it (unused-column)',
    ],
    [
      withEach('[{ amount: 1 }]', '"{{amount}} {{amuont}}"'),
      'a.yaml:6:40: `{{amuont}}` has no value here; did you mean `amount`? (unknown-name)',
    ],
    [withEach('[{ uuid: 1 }]', '1'), 'a.yaml:4:14: The name `uuid` is reserved; choose another (bad-name)'],
    [
      withEach('[{ a b: 1 }]', '1'),
      'a.yaml:4:14: "a b" is not a name; use letters, digits, `-` and `_`, and begin with a letter (bad-name)',
    ],
    [
      withEach('[{ a: "{{b}}" }]', '"{{a}}"'),
      'a.yaml:4:17: A row holds values and no placeholders; write `\\{{` for the text `{{` (placeholder-in-row)',
    ],
    [withEach('[]', '1'), 'a.yaml:4:11: A table has at least one row (no-rows)'],
    [withEach('[1]', '1'), 'a.yaml:4:12: `each` item 1 must be a mapping, not 1 (wrong-type)'],
    [
      withEach(`[${'{ a: 1 },'.repeat(501)}]`, '"{{a}}"'),
      'a.yaml:2:1: A suite has at most 500 cases, and with its rows this one has 501; split the file (too-many-cases)',
    ],
  ])('are reported at their place: %#', (text, finding) => {
    expect(listFindings(text)).toEqual([finding]);
  });

  it('name a title that uses no column, and a mistake of a step once for all rows', () => {
    expect(listFindings(withEach('[{ a: 1 }, { a: 2 }]', '"{{a}}"').replace('title: t', 'title: t {{b}}'))).toEqual([
      'a.yaml:3:12: `{{b}}` has no value here; did you mean `a`? (unknown-name)',
    ]);
    expect(listFindings(withEach('[{ a: 1 }, { a: 2 }]', '"{{a}}", colour: "{{uiid}}"'))).toEqual([
      'a.yaml:6:57: `{{uiid}}` has no value here; did you mean `uuid`? (unknown-name)',
    ]);
  });
});
