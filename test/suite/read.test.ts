import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer } from '../../src/model/policy.ts';
import { readInlineTests, readSuite } from '../../src/suite/read.ts';
import { noModelSettings } from '../support/factories/suite-factory.ts';

function read(text: string) {
  return readSuite(text, { file: 'evals/a.evals.yaml' });
}

const sumSuite = `suite: Everything server
id: everything
model: anthropic/claude-haiku-4.5
runs: 2
timeout: 30s
match: { toolCallOrder: in-order }
checks:
  - noToolErrors
policy:
  minimumPassRate: 90%
cases:
  - id: sum
    title: Adds two numbers
    tags: [smoke]
    required: true
    steps:
      - toolCall: get-sum
        arguments: { a: 2, b: 3 }
      - assert: { toolResultContains: "5" }
  - title: The model picks the right tool
    runs: 5
    timeout: 2m
    negative: true
    match: { arguments: exact }
    checks: { mode: replace, list: [] }
    steps:
      - prompt: What is 2 + 3?
`;

describe('readSuite', () => {
  it('fills in defaults, layers settings and keeps the place of everything', () => {
    expect(read(sumSuite)).toEqual({
      findings: [],
      suite: {
        id: 'everything',
        name: 'Everything server',
        location: { file: 'evals/a.evals.yaml', line: 1, column: 1 },
        concurrency: null,
        recordings: { ignore: [], reuse: null },
        isIndependent: false,
        workspace: null,
        upstream: null,
        model: 'anthropic/claude-haiku-4.5',
        protocol: null,
        match: { toolCallOrder: 'in-order', extraToolCalls: 'unlimited', arguments: 'partial' },
        checks: [{ type: 'noToolErrors' }],
        policy: {
          ...emptyPolicyLayer,
          minimumPassRate: { value: 0.9, source: 'evals/a.evals.yaml:10' },
        },
        cases: [
          {
            id: 'sum',
            title: 'Adds two numbers',
            location: { file: 'evals/a.evals.yaml', line: 12, column: 5 },
            text: [
              'id: sum',
              'title: Adds two numbers',
              'tags: [smoke]',
              'required: true',
              'steps:',
              '  - toolCall: get-sum',
              '    arguments: { a: 2, b: 3 }',
              '  - assert: { toolResultContains: "5" }',
            ].join('\n'),
            tags: ['smoke'],
            isRequired: true,
            isNegative: false,
            runs: 2,
            timeoutMs: 30_000,
            timeoutLocation: { file: 'evals/a.evals.yaml', line: 5, column: 1 },
            model: null,
            variantOf: [],
            protocol: null,
            recordingId: 'sum',
            placeholders: null,
            modelSettings: noModelSettings,
            client: null,
            failOnToolError: true,
            expectedOutput: null,
            judges: [],
            scenario: null,
            setup: [],
            teardown: [],
            match: { toolCallOrder: 'in-order', extraToolCalls: 'unlimited', arguments: 'partial' },
            checks: { mode: 'inherit', list: [] },
            steps: [
              {
                step: {
                  id: 'step-1',
                  kind: 'toolCall',
                  serverName: 'server-under-test',
                  toolName: 'get-sum',
                  arguments: { a: 2, b: 3 },
                },
                location: { file: 'evals/a.evals.yaml', line: 17, column: 9 },
              },
              {
                step: { id: 'step-2', kind: 'assert', assertion: { type: 'toolResultContains', needle: '5' } },
                location: { file: 'evals/a.evals.yaml', line: 19, column: 9 },
              },
            ],
          },
          {
            id: 'the-model-picks-the-right-tool',
            title: 'The model picks the right tool',
            location: { file: 'evals/a.evals.yaml', line: 20, column: 5 },
            text: expect.stringMatching(/^title: The model picks[^]*\n {2}- prompt: What is 2 \+ 3\?$/),
            tags: [],
            isRequired: false,
            isNegative: true,
            runs: 5,
            timeoutMs: 120_000,
            timeoutLocation: { file: 'evals/a.evals.yaml', line: 22, column: 5 },
            model: 'anthropic/claude-haiku-4.5',
            variantOf: [],
            protocol: null,
            recordingId: 'the-model-picks-the-right-tool',
            placeholders: null,
            modelSettings: noModelSettings,
            client: null,
            failOnToolError: true,
            expectedOutput: null,
            judges: [],
            scenario: null,
            setup: [],
            teardown: [],
            match: { toolCallOrder: 'in-order', extraToolCalls: 'unlimited', arguments: 'exact' },
            checks: { mode: 'replace', list: [] },
            steps: [
              {
                step: { id: 'step-1', kind: 'prompt', prompt: 'What is 2 + 3?' },
                location: { file: 'evals/a.evals.yaml', line: 27, column: 9 },
              },
            ],
          },
        ],
      },
    });
  });

  it('runs a case once, for at most a minute, where the file says nothing', () => {
    const { suite } = read('suite: Räksmörgås & co\ncases: [{ title: あ, steps: [{ toolCall: a }] }]');
    expect(suite).toMatchObject({
      id: 'raksmorgas-co',
      model: null,
      policy: emptyPolicyLayer,
      cases: [{ id: 'case-dc5a4d3d', runs: 1, timeoutMs: 60_000 }],
    });
  });

  it('reads JSON, indented with tabs, and a byte order mark', () => {
    const { suite, findings } = read(
      '\uFEFF{\n\t"$schema": "x",\n\t"suite": "a",\n\t"cases": [{ "title": "b", "steps": [{ "toolCall": "c" }] }]\n}\n',
    );
    expect(findings).toEqual([]);
    expect(suite?.cases[0]?.location).toEqual({ file: 'evals/a.evals.yaml', line: 4, column: 12 });
  });

  it('gives cases of one title ids of their own, and leaves explicit ids alone', () => {
    const { suite } = read(`suite: a
cases:
  - { title: Adds, steps: [{ toolCall: a }] }
  - { title: Adds, steps: [{ toolCall: a }] }
  - { title: Other, id: adds-2, steps: [{ toolCall: a }] }
  - { title: Adds, steps: [{ toolCall: a }] }`);
    expect(suite?.cases.map(({ id }) => id)).toEqual(['adds', 'adds-3', 'adds-2', 'adds-4']);
  });

  it('numbers steps without an id, past ids that the file took', () => {
    const { suite } = read(`suite: a
cases:
  - title: b
    steps: [{ toolCall: a }, { toolCall: b, id: step-1 }, { toolCall: c, id: mine }, { toolCall: d }]`);
    expect(suite?.cases[0]?.steps.map(({ step }) => step.id)).toEqual(['step-2', 'step-1', 'mine', 'step-4']);
  });

  it('lets every tool fail only where the case says so, not where it expects one error', () => {
    const { suite } = read(`suite: a
cases:
  - { title: a, steps: [{ toolCall: a }, { assert: { toolResultIsError: true } }] }
  - { title: b, steps: [{ toolCall: a }], checks: [{ toolResultIsError: true }] }
  - { title: c, steps: [{ toolCall: a }], failOnToolError: false }
  - { title: d, steps: [{ toolCall: a }, { assert: { toolResultIsError: true } }], failOnToolError: true }`);
    expect(suite?.cases.map(({ failOnToolError }) => failOnToolError)).toEqual([true, true, false, true]);
  });

  it('adds a bare list of checks to those of the suite', () => {
    const { suite } = read(`suite: a
cases: [{ title: b, checks: [{ toolLatencyUnder: 5 }], steps: [{ toolCall: a }] }]`);
    expect(suite?.cases[0]?.checks).toEqual({ mode: 'extend', list: [{ type: 'toolLatencyUnder', ms: 5 }] });
  });

  it('expands aliases, and places what is aliased where it is used', () => {
    const { suite, findings } = read(`suite: a
cases:
  - title: b
    steps: &steps
      - toolCall: a
  - title: c
    steps: *steps
`);
    expect(findings).toEqual([]);
    expect(suite?.cases[1]?.steps.map(({ location }) => location.line)).toEqual([5]);
  });
});

describe('readInlineTests', () => {
  const options = { file: 'tests', name: 'Inline tests' };

  it('makes a suite of a bare list of cases', () => {
    const { suite, findings } = readInlineTests('- title: a\n  steps:\n    - toolCall: x\n', options);
    expect(findings).toEqual([]);
    expect(suite).toMatchObject({
      id: 'inline-tests',
      name: 'Inline tests',
      location: { file: 'tests', line: 1, column: 1 },
      cases: [
        { title: 'a', location: { file: 'tests', line: 1, column: 3 }, steps: [{ location: { line: 3, column: 7 } }] },
      ],
    });
  });

  it("reads a whole file's text", () => {
    expect(readInlineTests(sumSuite, options).suite?.name).toBe('Everything server');
  });

  it('places findings in the text', () => {
    expect(readInlineTests('- title: a\n  step: []\n', options)).toEqual({
      suite: null,
      findings: [
        { file: 'tests', line: 1, column: 3, code: 'missing-key', message: 'The key `steps` is missing' },
        {
          file: 'tests',
          line: 2,
          column: 3,
          code: 'unknown-key',
          message: 'Unknown key `step`; did you mean `steps`?',
        },
      ],
    });
  });

  it('refuses text that is neither', () => {
    expect(readInlineTests('hello', options).findings).toEqual([
      { file: 'tests', line: 1, column: 1, code: 'wrong-type', message: 'The file must be a mapping, not "hello"' },
    ]);
  });
});
