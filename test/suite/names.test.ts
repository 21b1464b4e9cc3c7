import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { hashDefinition } from '../../src/suite/definition-hash.ts';
import { readSuite } from '../../src/suite/read.ts';

/** A suite of one case whose steps stand one a line from line 4, at column 9. */
const withSteps = (...steps: string[]) =>
  ['suite: s', 'cases:', '  - { title: t, steps: [', ...steps.map((step) => `        ${step},`), '      ] }'].join(
    '\n',
  );

function read(text: string) {
  return readSuite(text, { file: 'a.yaml' });
}

const create = '{ toolCall: create, capture: { noteId: /structuredContent/id } }';

describe('names that have a value', () => {
  it.each([
    [create, '{ toolCall: get, arguments: { id: "{{noteId}}" } }'],
    [create, '{ assert: { toolResultContains: "{{ noteId }}" } }'],
    [create, '{ toolCall: get, capture: { line: "/content/0/{{noteId}}" } }'],
    ['{ toolCall: get, arguments: { n: "{{iteration}}", u: "{{uuid}}", e: "{{env.TOKEN}}" } }'],
    ['{ toolCall: get, arguments: { text: "\\\\{{name}}" } }'],
    ['{ assert: { responseMatches: "({{iteration}})+" } }'],
  ])('are accepted: %#', (...steps) => {
    expect(read(withSteps(...steps)).findings).toEqual([]);
  });

  it('are left to the engine, with the variables that the case needs', () => {
    const { suite } = read(withSteps(create, '{ toolCall: get, arguments: { e: "{{env.TOKEN}}" } }'));
    const location = { file: 'a.yaml', line: 5, column: 42 };
    expect(suite?.cases[0]?.placeholders).toEqual({
      first: { text: 'capture', location: { file: 'a.yaml', line: 4, column: 40 } },
      variables: [{ name: 'TOKEN', location }],
      workspace: null,
    });
    if (suite === null) throw new Error('The suite has findings.');
    const [compiled] = compileSuite(suite, { dialect: 'embedded' });
    expect(compiled?.advancedConfig?.placeholders).toBe(true);
    expect(compiled?.steps[0]).toMatchObject({ capture: { noteId: '/structuredContent/id' } });
  });

  it('leave a case without them as it was, and need no engine where a text only has `\\{{`', () => {
    const escaped = read(withSteps("{ toolCall: get, arguments: { text: 'a \\{{b}}' } }")).suite;
    if (escaped === null) throw new Error('The suite has findings.');
    const [compiled] = compileSuite(escaped, { dialect: 'embedded' });
    expect(compiled?.advancedConfig).not.toHaveProperty('placeholders');
    expect(compiled?.steps[0]).toMatchObject({ arguments: { text: 'a {{b}}' } });
    expect(escaped.cases[0]).toMatchObject({
      placeholders: null,
      steps: [{ step: { arguments: { text: 'a {{b}}' } } }],
    });
  });

  it('are part of the definition of a case, as they are written', () => {
    const hash = (id: string) => {
      const { suite } = read(withSteps(create, `{ toolCall: get, arguments: { id: "${id}" } }`));
      return suite?.cases.map((testCase) => hashDefinition(testCase, suite));
    };
    expect(hash('{{noteId}}')).toEqual(hash('{{noteId}}'));
    expect(hash('{{noteId}}')).not.toEqual(hash('{{uuid}}'));
  });

  it('are plain text in a suite file of the hosted service', () => {
    const file = {
      schemaVersion: '1',
      mode: 'agentWorkflow',
      suite: { id: 's', name: 's' },
      target: { servers: [{ name: 'one' }] },
      defaults: { validity: {} },
      cases: [
        {
          id: 'c',
          title: 'c',
          steps: [{ id: 'a', kind: 'toolCall', serverName: 'one', toolName: 'x', arguments: { text: '{{name}}' } }],
          assertions: ['noToolErrors'],
        },
      ],
    };
    const { suite, findings } = read(JSON.stringify(file));
    expect(findings).toEqual([]);
    expect(suite?.cases[0]).toMatchObject({
      placeholders: null,
      steps: [{ step: { arguments: { text: '{{name}}' } } }],
    });
  });
});

describe('names in answers of a client', () => {
  const suite = (answer: string) => `suite: s
cases:
  - title: t
    each: [{ who: Ada, age: 36 }]
    client: { elicitation: [{ accept: ${answer} }] }
    steps:
      - { toolCall: create, capture: { noteId: /content } }
`;

  it('are filled in with the row, and left to the engine otherwise', () => {
    const { suite: built, findings } = read(suite('{ name: "{{who}}", age: "{{age}}", id: "{{uuid}}" }'));
    expect(findings).toEqual([]);
    expect(built?.cases[0]?.client?.offer).toEqual({
      elicitation: [{ accept: { name: 'Ada', age: 36, id: '{{uuid}}' } }],
    });
    expect(built?.cases[0]?.placeholders?.first?.text).toBe('{{uuid}}');
  });

  it('may use what a step captures, and are findings with any other name', () => {
    const readAnswer = (name: string) => read(suite(`{ name: "{{who}} {{${name}}}", age: "{{age}}" }`));
    expect(readAnswer('noteId').findings).toEqual([]);
    expect(readAnswer('noteld').findings.map(formatConfigurationIssue)).toEqual([
      'a.yaml:5:47: `{{noteld}}` has no value here; did you mean `noteId`? (unknown-name)',
    ]);
  });
});

describe('findings about names', () => {
  it.each([
    [
      [create, '{ toolCall: get, arguments: { id: "{{noteid}}" } }'],
      'a.yaml:5:43: `{{noteid}}` has no value here; did you mean `noteId`? (unknown-name)',
    ],
    [
      ['{ toolCall: get, arguments: { id: "{{noteId}}" } }', create],
      'a.yaml:4:43: `{{noteId}}` is used before the step at line 5 captures it (unknown-name)',
    ],
    [
      [create, create],
      'a.yaml:5:40: The name `noteId` is taken by the capture at line 4; choose another (duplicate-name)',
    ],
    [
      ['{ toolCall: get, capture: { uuid: /content } }'],
      'a.yaml:4:37: The name `uuid` is reserved; choose another (bad-name)',
    ],
    [
      ['{ toolCall: get, capture: { id: content } }'],
      'a.yaml:4:41: "content" is not a JSON Pointer; write `/content` (bad-pointer)',
    ],
    [
      ['{ toolCall: get, capture: { id: { path: content/0/text, matches: "a" } } }'],
      'a.yaml:4:49: "content/0/text" is not a JSON Pointer; write `/content/0/text` (bad-pointer)',
    ],
    [
      ['{ toolCall: get, capture: { id: { path: /content/0/text } } }'],
      'a.yaml:4:41: The key `matches` is missing (missing-key)',
    ],
    [
      ['{ toolCall: get, capture: { id: { path: /content/0/text, matches: a, match: a } } }'],
      'a.yaml:4:78: Unknown key `match`; did you mean `matches`? (unknown-key)',
    ],
    [
      ['{ toolCall: get, capture: { id: { path: /content/0/text, matches: "(a" } } }'],
      'a.yaml:4:75: The pattern "(a" is refused: error parsing regexp: missing closing ): `(a` (unsafe-pattern)',
    ],
    [
      ['{ toolCall: get, capture: { id: { path: /content/0/text, matches: "(a)(b)" } } }'],
      'a.yaml:4:75: A capture has at most one group, and "(a)(b)" has 2; write `(?:…)` for those that are not captured (many-groups)',
    ],
    [['{ toolCall: get, capture: { id: 7 } }'], 'a.yaml:4:41: `id` must be text or a mapping, not 7 (wrong-type)'],
    [
      ['{ toolCall: get, arguments: { id: "{{#if a}}" } }'],
      'a.yaml:4:43: "{{#if a}}" begins no placeholder; write `{{name}}`, or `\\{{` for the text `{{` (bad-placeholder)',
    ],
    [
      ['{ toolCall: get, arguments: { id: "{{env}}" } }'],
      'a.yaml:4:43: `{{env}}` has no value here; known here: `iteration`, `uuid`, `workspace` (unknown-name)',
    ],
    [
      ['{ prompt: "Make {{uuid}}" }'],
      'a.yaml:4:19: `{{uuid}}` makes this text another one in every iteration, so that no recording of it is ever found (varying-prompt)',
    ],
    [
      ['{ assert: { toolResultContains: a }, capture: { id: /a } }'],
      'a.yaml:4:46: Unknown key `capture`; known here: `assert`, `id` (unknown-key)',
    ],
  ])('name the line: %#', (steps, finding) => {
    const { findings, suite } = read(withSteps(...steps));
    expect(suite).toBeNull();
    expect(findings.map(formatConfigurationIssue)).toEqual([finding]);
  });

  it('hold for checks, which know what all steps captured, and no rows if they are those of the suite', () => {
    const suite = (check: string, each = '[{ a: 1 }]') => `suite: s
checks: [{ toolResultContains: "${check}" }]
cases:
  - title: t
    each: ${each}
    checks: [{ toolResultContains: "{{noteId}} {{a}}" }]
    steps:
      - toolCall: create
        capture: { noteId: /structuredContent/id }
`;
    expect(read(suite('{{noteId}}')).findings).toEqual([]);
    expect(read(suite('{{a}}')).findings.map(formatConfigurationIssue)).toEqual([
      'a.yaml:2:32: `{{a}}` has no value here; known here: `noteId`, `iteration`, `uuid`, `workspace` (unknown-name)',
    ]);
  });
});
