import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { convertFiles, type SourceFormat } from '../../src/convert/convert.ts';
import { judgePredicate } from '../../src/engine/predicates.ts';
import type { Suite } from '../../src/model/suite.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const convert = (format: SourceFormat, text: string, file = 'evals/notes.yaml') => {
  const { findings, ...rest } = convertFiles(format, [{ file, text }]);
  return { ...rest, findings: findings.map(formatConfigurationIssue) };
};

function read(text: string | null): Suite {
  const { suite, findings } = readSuite(text ?? '', { file: 'a.evals.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  return suite;
}

const serviceFile = (version: '1' | '2', count: string) => `schemaVersion: "${version}"
mode: agentWorkflow
reportingMode: standard
suite: { id: s_notes, name: Notes }
target: { servers: [{ name: notes }] }
defaults:
  model: anthropic/claude-haiku-4.5
  systemPrompt: Be brief.
  ${count}: 10
  passThreshold: 0.8
  validity: {}
cases:
  - id: c_add
    title: Adds a note
    ${count}: 3
    steps:
      - { id: s1, kind: prompt, prompt: 'Note {{x}} this.' }
      - { id: s2, kind: assert, assertion: { type: toolCalledWith, toolName: add_note, args: { args: { text: x } } } }
    assertions: [{ type: noToolErrors }]
  - id: c_all
    title: Lists the notes
    passThreshold: 1
    steps: [{ id: s1, kind: toolCall, serverName: notes, toolName: list_notes, arguments: {} }]
`;

/** What both say, apart from where it stands. */
function describeSuite({ id, name, model, policy, cases }: Suite) {
  return JSON.parse(
    JSON.stringify({ id, name, model, policy, cases }, (key, value) =>
      ['location', 'source', 'timeoutLocation'].includes(key) ? undefined : value,
    ),
  );
}

describe('a suite file of the service', () => {
  it.each([
    ['1', 'repetitions'],
    ['2', 'iterations'],
  ] as const)('of version %s becomes an evals file that the gate reads as the same suite', (version, count) => {
    const source = serviceFile(version, count).replace(' {{x}}', '');
    const { text, findings, notes } = convert('service', source);
    expect(findings).toEqual([]);
    expect(notes).toHaveLength(1);
    expect(describeSuite(read(text))).toEqual(describeSuite(read(source)));
    const { policy } = read(text);
    // Each threshold is about one case: 3 of 3 is what 80% of 3 iterations asks for.
    expect([policy.minimumPassRate?.value, policy.cases.map(({ name, value }) => [name, value])]).toEqual([
      0,
      [['c_add', expect.closeTo(0.8)]],
    ]);
    expect(policy.required.map(({ name }) => name)).toEqual(['c_all']);
  });

  it.each([
    [
      '1',
      'iterations',
      'evals/notes.yaml:9:3: Unknown key `iterations` in version 1; write `repetitions` (unknown-key)',
    ],
    [
      '2',
      'repetitions',
      'evals/notes.yaml:9:3: Unknown key `repetitions` in version 2; write `iterations` (unknown-key)',
    ],
  ] as const)('of version %s does not know %s', (version, count, finding) => {
    expect(convert('service', serviceFile(version, count)).findings[0]).toBe(finding);
  });

  it.each([
    ['  toolPolicy: { mode: readOnly }', 12, 'This product cannot honour a `toolPolicy`'],
    ['  judge: { enabled: true }', 12, 'Unknown key `judge`'],
  ])('with %j is refused at its line', (line, number, message) => {
    const source = serviceFile('2', 'iterations').replace('  validity: {}\n', `  validity: {}\n${line}\n`);
    const { text, findings } = convert('service', source);
    expect(text).toBeNull();
    expect(findings).toEqual([expect.stringMatching(`^evals/notes\\.yaml:${number}:\\d+: ${message}`)]);
  });

  it('keeps a `{{`, which is no name in a file of the service', () => {
    const source = serviceFile('1', 'repetitions');
    const { text } = convert('service', source);
    expect(text).toContain(String.raw`prompt: Note \{{x}} this.`);
    expect(read(text).cases[0]?.steps[0]?.step).toEqual(read(source).cases[0]?.steps[0]?.step);
  });
});

const assertFile = (expectations: object, more: object = {}) =>
  stringify({
    name: 'Reads a note',
    server: { command: 'notes-server', args: ['--memory'] },
    setup: [{ tool: 'write', args: { text: 'milk' } }],
    assert: { tool: 'read', args: { id: 1 }, expect: expectations },
    timeout: '30s',
    ...more,
  });

describe('a file of mcp-assert', () => {
  it('becomes a case with its calls and assertions', () => {
    const { text, findings, notes } = convert('mcp-assert', assertFile({ not_error: true, contains: ['milk'] }));
    expect(findings).toEqual([]);
    expect(notes).toHaveLength(3);
    expect(text).toBe(
      [
        'suite: evals',
        'cases:',
        '  - title: Reads a note',
        '    timeout: 30s',
        '    steps:',
        '      - toolCall: write',
        '        arguments:',
        '          text: milk',
        '      - toolCall: read',
        '        arguments:',
        '          id: 1',
        '      - assert:',
        '          toolResultIsError: false',
        '      - assert:',
        '          toolResultContains: milk',
        '          caseSensitive: true',
        '          latest: true',
        '',
      ].join('\n'),
    );
  });

  it('lets a tool fail where the file does not say otherwise', () => {
    expect(read(convert('mcp-assert', assertFile({})).text).cases[0]?.failOnToolError).toBe(false);
    expect(read(convert('mcp-assert', assertFile({ is_error: true })).text).cases).toHaveLength(1);
  });

  it.each([
    ['json_path', { json_path: { '$.a': 1 } }, {}],
    ['min_results', { min_results: 1 }, {}],
    ['file_contains', { file_contains: { a: 'b' } }, {}],
    ['skip', {}, { skip: true }],
    ['client_capabilities', {}, { server: { client_capabilities: { roots: ['/'] } } }],
    ['trajectory', {}, { trajectory: [{ type: 'order', tools: ['a'] }] }],
    ['capture', {}, { setup: [{ tool: 'write', capture: { id: '$.id' } }] }],
    ['assert_prompts', {}, { assert: undefined, assert_prompts: { list: {} } }],
  ])('with %s is refused at its line', (key, expectations, more) => {
    const source = assertFile(expectations, more);
    const line = source.split('\n').findIndex((text) => text.includes(`${key}:`)) + 1;
    const { text, findings } = convert('mcp-assert', source);
    expect(text).toBeNull();
    expect(findings).toEqual([
      expect.stringMatching(
        `^evals/notes\\.yaml:${line}:\\d+: \`${key}\` cannot be converted exactly; write this part by hand`,
      ),
    ]);
  });

  it('with the name of a fixture or a timeout of several units is refused at its line', () => {
    const source = assertFile({ contains: ['{{fixture}}/a'] }, { timeout: '1m30s' });
    expect(convert('mcp-assert', source).findings).toEqual([
      expect.stringMatching(/^evals\/notes\.yaml:16:\d+: "\{\{fixture\}\}\/a" has a name that mcp-assert fills in/),
      expect.stringMatching(/^evals\/notes\.yaml:17:\d+: The timeout "1m30s" has several units/),
    ]);
  });

  // What mcp-assert documents of its checks, written down again without a regular expression.
  const trim = (text: string) => text.trim();
  const meanings: Record<string, (expected: string[], text: string) => boolean> = {
    contains: (expected, text) => expected.every((part) => text.includes(part)),
    contains_any: (expected, text) => expected.some((part) => text.includes(part)),
    not_contains: (expected, text) => expected.every((part) => !text.includes(part)),
    equals: ([expected = ''], text) => trim(expected) === trim(text),
    not_empty: (_, text) => !['', 'null', '[]', '{}'].includes(trim(text)),
    in_order: (expected, text) => {
      let from = 0;
      return expected.every((part) => {
        const index = text.indexOf(part, from);
        from = index + part.length;
        return index !== -1;
      });
    },
  };

  it('judges every text as mcp-assert does', async () => {
    const letter = fc.constantFrom('a', 'B', 'b', ' ', '\n', '\u00A0', '.', '[]', '{}', 'null', '(', '\\', '*');
    const text = (minLength: number) =>
      fc.array(letter, { minLength, maxLength: 5 }).map((letters) => letters.join(''));
    const words = fc.array(text(1), { minLength: 1, maxLength: 3 });
    const outcomes = new Map<string, Set<string>>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(meanings)),
        words,
        text(0),
        fc.boolean(),
        async (kind, expected, result, isPlanted) => {
          const answer = isPlanted ? ` ${expected.join(kind === 'equals' ? '' : 'x')}\n` : result;
          const value = kind === 'equals' ? expected.join('') : kind === 'not_empty' ? true : expected;
          const [testCase] = read(convert('mcp-assert', assertFile({ [kind]: value })).text).cases;
          const evidence = createEvidence({ toolResults: [createToolResult({ toolName: 'read', text: answer })] });
          const states = [];
          for (const { step } of testCase?.steps ?? []) {
            if (step.kind === 'assert') states.push((await judgePredicate(step.assertion, evidence)).state);
          }
          const isMet = meanings[kind]?.(kind === 'equals' ? [expected.join('')] : expected, answer);
          expect(states.every((state) => state === 'passed')).toBe(isMet);
          outcomes.set(kind, (outcomes.get(kind) ?? new Set()).add(String(isMet)));
        },
      ),
      { numRuns: 150 },
    );
    expect([...outcomes].filter(([, seen]) => seen.size < 2)).toEqual([]);
  });
});
