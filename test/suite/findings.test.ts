import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { readSuite } from '../../src/suite/read.ts';

function listFindings(text: string): string[] {
  const { suite, findings } = readSuite(text, { file: 'a.yaml' });
  expect(suite === null).toBe(findings.length > 0);
  return findings.map(formatConfigurationIssue);
}

type Row = [text: string, finding: string];

/** A suite of one case whose steps are `steps`, each on a line of its own from line 5, at column 9. */
function withSteps(...steps: string[]): string {
  return ['suite: a', 'cases:', '  - title: b', '    steps:', ...steps.map((step) => `      - ${step}`)].join('\n');
}

/** A valid suite with more keys at the top, from line 3. */
function withKeys(...lines: string[]): string {
  return ['suite: a', 'cases: [{ title: b, steps: [{ toolCall: c }] }]', ...lines].join('\n');
}

describe('findings about the YAML', () => {
  it.each([
    ['', 'a.yaml:1:1: The file is empty; write at least `suite` and `cases` (empty-file)'],
    ['# nothing\n', 'a.yaml:1:1: The file is empty; write at least `suite` and `cases` (empty-file)'],
    ['suite: "a', 'a.yaml:1:10: Missing closing "quote (yaml-syntax)'],
    [
      'suite: a\n---\nsuite: b\n',
      'a.yaml:2:1: A second document begins here; an evals file is one document, so put the other suite in a file of its own (multiple-documents)',
    ],
    [withKeys('suite: b'), 'a.yaml:3:1: The key `suite` is already in this mapping, at line 1 (duplicate-key)'],
    [
      withSteps('toolCall: x\n        arguments: { 1: a, "1": b }'),
      'a.yaml:6:28: The key `1` is already in this mapping, at line 6 (duplicate-key)',
    ],
    [withKeys('? [a]', ': b'), 'a.yaml:3:3: A key must be plain text (bad-key)'],
    [
      withKeys('__proto__: { a: 1 }'),
      'a.yaml:3:1: The key `__proto__` is reserved and cannot be carried safely (reserved-key)',
    ],
    [
      withSteps('toolCall: !mine x'),
      'a.yaml:5:19: Unresolved tag: !mine; only plain YAML 1.2 values are read (unknown-tag)',
    ],
    [
      withSteps('{ toolCall: x, arguments: { a: .inf } }'),
      'a.yaml:5:40: JSON has no such number, so no tool could be sent it (bad-number)',
    ],
    [
      withSteps('{ toolCall: x, arguments: { a: Hello, world } }'),
      'a.yaml:5:47: The key `world` has no value; quote text that holds a comma (no-value)',
    ],
    ['suite: *a\n', 'a.yaml:1:8: No anchor `&a` stands before (unknown-alias)'],
    ['suite: &a\n  - *a\n', 'a.yaml:2:5: `*a` contains itself (alias-cycle)'],
    [
      `a: &a x\nb:\n${'  - *a\n'.repeat(101)}`,
      'a.yaml:103:5: More than 100 aliases; write the values out (too-many-aliases)',
    ],
    [
      'a: &a [x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c]\n',
      'a.yaml:1:1: The aliases expand to too much (too-many-aliases)',
    ],
    [`a: ${'&b '.repeat(1001)}`, 'a.yaml:1:3004: More than 1000 anchors and tags (too-many-aliases)'],
    [`suite: ${'['.repeat(65)}`, 'a.yaml:1:72: Nested more than 64 levels deep (too-deep)'],
    ['? '.repeat(100_000), 'a.yaml:1:129: Nested more than 64 levels deep (too-deep)'],
    [
      Array.from({ length: 70 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      'a.yaml:66:66: Nested more than 64 levels deep (too-deep)',
    ],
    [
      `suite: ${'é'.repeat(524_285)}`,
      'a.yaml:1:1: The file has 1048577 bytes; at most 1048576 (1 MiB) are read, so split the suite (file-too-large)',
    ],
  ] satisfies Row[])('$1', (text, finding) => {
    expect(listFindings(text)).toEqual([finding]);
  });
});

describe('findings about the suite', () => {
  it.each([
    ['- a', 'a.yaml:1:1: The file must be a mapping, not a list (wrong-type)'],
    ['suite: a\n', 'a.yaml:1:1: The key `cases` is missing (missing-key)'],
    ['suite: a\ncases: []\n', 'a.yaml:2:8: A suite has at least one case; add one (no-cases)'],
    [
      `suite: a\ncases:\n${'  - { title: a, steps: [{ toolCall: a }] }\n'.repeat(501)}`,
      'a.yaml:3:3: A suite has at most 500 cases (too-many-cases)',
    ],
    [withKeys('runz: 3'), 'a.yaml:3:1: Unknown key `runz`; did you mean `runs`? (unknown-key)'],
    [withKeys('runs: 0'), 'a.yaml:3:7: `runs` must be at least 1, not 0 (out-of-range)'],
    [withKeys('runs: 101'), 'a.yaml:3:7: `runs` must be at most 100, not 101 (out-of-range)'],
    [withKeys('concurrency: 65'), 'a.yaml:3:14: `concurrency` must be at most 64, not 65 (out-of-range)'],
    [
      withKeys('concurrency: all'),
      'a.yaml:3:14: `concurrency` must be `auto` or a whole number, not "all" (wrong-type)',
    ],
    [withKeys('independent: maybe'), 'a.yaml:3:14: `independent` must be true or false, not "maybe" (wrong-type)'],
    [withKeys('runs: 1.5'), 'a.yaml:3:7: `runs` must be a whole number, not 1.5 (wrong-type)'],
    [withKeys('id: a b'), 'a.yaml:3:5: "a b" is not an id; use 1 to 128 letters, digits, `-` and `_` (bad-id)'],
    [withKeys('model: gpt'), 'a.yaml:3:8: "gpt" is not a model; write `provider/name` (bad-model)'],
    [
      withKeys('timeout: 60'),
      'a.yaml:3:10: 60 is not a duration; write a number with its unit, such as 60s, 500ms or 2m (bad-duration)',
    ],
    [withKeys('timeout: 25h'), 'a.yaml:3:10: "25h" is out of range; a timeout is from 1ms to 24h (bad-duration)'],
    [
      withKeys('policy: { minimumPassRate: 0.9 }'),
      'a.yaml:3:28: 0.9 could mean 0.9% or 90%; write the one you mean with its % sign (bad-pass-rate)',
    ],
    [
      withKeys('policy: { minPassRate: 90% }'),
      'a.yaml:3:11: Unknown key `minPassRate`; did you mean `minimumPassRate`? (unknown-key)',
    ],
    [
      withKeys('match: { toolCallOrder: sorted }'),
      'a.yaml:3:25: `toolCallOrder` cannot be "sorted"; known here: `any`, `in-order`, `exact` (unknown-value)',
    ],
    [
      withKeys('match: { extraToolCalls: many }'),
      'a.yaml:3:26: `extraToolCalls` must be `unlimited` or a whole number, not "many" (wrong-type)',
    ],
    [
      withKeys('checks: [noToolError]'),
      'a.yaml:3:10: Unknown check `noToolError`; did you mean `noToolErrors`? (unknown-check)',
    ],
    [withKeys('checks:'), 'a.yaml:3:1: `checks` must be a list, not nothing (wrong-type)'],
  ] satisfies Row[])('$1', (text, finding) => {
    expect(listFindings(text)).toEqual([finding]);
  });
});

describe('findings about cases and steps', () => {
  it.each([
    [
      'suite: a\ncases: [{ title: 5, steps: [{ toolCall: c }] }]',
      'a.yaml:2:18: `title` must be text, not 5; write it in quotes (wrong-type)',
    ],
    [
      'suite: a\ncases: [{ title: " ", steps: [{ toolCall: c }] }]',
      'a.yaml:2:18: This text must not be empty (empty-text)',
    ],
    ['suite: a\ncases: [{ title: b, steps: [] }]', 'a.yaml:2:28: A case has at least one step; add one (no-steps)'],
    [
      withSteps(...Array.from({ length: 201 }, () => 'toolCall: a')),
      'a.yaml:5:7: A case has at most 200 steps (too-many-steps)',
    ],
    [
      'suite: a\ncases:\n  - { title: b, id: x, steps: [{ toolCall: c }] }\n  - { title: c, id: x, steps: [{ toolCall: c }] }',
      'a.yaml:4:21: The id `x` is taken by the case at line 3; choose another (duplicate-case-id)',
    ],
    [
      withSteps('{ toolCall: a, id: x }', '{ toolCall: b, id: x }'),
      'a.yaml:6:28: The id `x` is taken by the step of this case at line 5; choose another (duplicate-step-id)',
    ],
    [withSteps('promt: a'), 'a.yaml:5:9: Unknown step `promt`; did you mean `prompt`? (unknown-step)'],
    [withSteps('kind: tolCall'), 'a.yaml:5:15: Unknown step `tolCall`; did you mean `toolCall`? (unknown-step)'],
    [withSteps('kind: prompt'), 'a.yaml:5:9: The key `prompt` is missing (missing-key)'],
    [
      withSteps('{ toolCall: a, argument: {} }'),
      'a.yaml:5:24: Unknown key `argument`; did you mean `arguments`? (unknown-key)',
    ],
    [
      withSteps(`{ toolCall: a, arguments: { x: ${'y'.repeat(100_000)} } }`),
      'a.yaml:5:35: Arguments may have at most 100000 characters as JSON (arguments-too-long)',
    ],
    [
      withSteps('{ interact: a, action: { kind: clik } }'),
      'a.yaml:5:40: Unknown action `clik`; did you mean `click`? (unknown-action)',
    ],
    [
      withSteps('{ interact: a, action: { kind: click, target: { nth: 1 } } }'),
      'a.yaml:5:55: An element is found by at least one of `role`, `text`, `css` and `testId` (bad-locator)',
    ],
    [
      withSteps(`{ interact: a, action: { kind: type, target: { css: a }, text: ${'x'.repeat(5001)} } }`),
      'a.yaml:5:72: `text` may have at most 5000 characters (too-long)',
    ],
    [
      withSteps('assert: { toolResultContain: a }'),
      'a.yaml:5:19: Unknown assertion `toolResultContain`; did you mean `toolResultContains`? (unknown-assertion)',
    ],
    [
      withSteps('assert: { type: toolResultContain }'),
      'a.yaml:5:25: Unknown assertion `toolResultContain`; did you mean `toolResultContains`? (unknown-assertion)',
    ],
    [
      withSteps('assert: { type: noToolErrors, kind: textVisible }'),
      'a.yaml:5:39: Unknown key `kind`; known here: `type`, `role`, `severity` (unknown-key)',
    ],
    [
      withSteps('assert: toolResultContains'),
      'a.yaml:5:17: `toolResultContains` needs a value: write `toolResultContains: …` (unknown-assertion)',
    ],
    [
      withSteps('assert:'),
      'a.yaml:5:9: `assert` must be the name of a kind of assertion, or a mapping, not nothing (wrong-type)',
    ],
    [
      withSteps('assert: { toolResultContains: 5 }'),
      'a.yaml:5:39: `toolResultContains` must be text, not 5; write it in quotes (wrong-type)',
    ],
    [
      withSteps('assert: { toolResultMatchesSchema: [] }'),
      'a.yaml:5:44: `toolResultMatchesSchema` must be a mapping or true or false, not a list (wrong-type)',
    ],
    [
      withSteps('assert: { toolResultMatchesSchema: { type: object, requried: [a] } }'),
      'a.yaml:5:60: Unknown keyword `requried` of JSON Schema 2020-12; did you mean `required`? (bad-schema)',
    ],
    [
      withSteps('assert: { type: toolResultMatchesSchema, schema: { properties: { a: { type: objekt } } } }'),
      'a.yaml:5:85: `type` cannot be "objekt"; did you mean `object`? (bad-schema)',
    ],
    [withSteps('assert: { toolResultMatches: "" }'), 'a.yaml:5:19: This text must not be empty (empty-text)'],
    [
      withSteps('assert: { toolResultMatches: "(?=x)" }'),
      'a.yaml:5:38: The pattern "(?=x)" is refused: error parsing regexp: invalid or unsupported Perl syntax: `(?=` (unsafe-pattern)',
    ],
    [
      withSteps('assert: { responseMatches: (a+)+ }'),
      'a.yaml:5:36: The pattern "(a+)+" is refused: a repeated group that ends in a repetition can take exponential time (unsafe-pattern)',
    ],
    [
      withSteps('assert: { responseMatches: "(" }'),
      'a.yaml:5:36: The pattern "(" is refused: Invalid regular expression: /(/: Unterminated group (unsafe-pattern)',
    ],
    [
      withSteps('assert: { toolResultEquals: 5, path: a }'),
      'a.yaml:5:46: "a" is not a JSON Pointer; write `/a` (bad-pointer)',
    ],
    [
      withSteps('assert: { toolResultEquals: 5, path: "$.items[0].name" }'),
      'a.yaml:5:46: "$.items[0].name" is not a JSON Pointer; write `/items/0/name` (bad-pointer)',
    ],
    [
      withSteps('assert: { toolResultEquals: 5, path: $ }'),
      'a.yaml:5:46: "$" is not a JSON Pointer; write `/key/0` (bad-pointer)',
    ],
    [
      withSteps('assert: { toolResultEquals: 5, path: /a~2 }'),
      'a.yaml:5:46: "/a~2" is not a JSON Pointer; write `/a~02` (bad-pointer)',
    ],
    [
      withSteps('assert: noEndingQuestion'),
      'a.yaml:5:17: `noEndingQuestion` is a heuristic and cannot gate; write `role: advisory` (bad-role)',
    ],
    [
      withSteps('assert: { noRepeatedIdenticalCall: a, role: gating }'),
      'a.yaml:5:17: `noRepeatedIdenticalCall` is a heuristic and cannot gate; write `role: advisory` (bad-role)',
    ],
    [
      withSteps('assert: { turnCountUnder: 3, severity: warn }'),
      'a.yaml:5:17: `severity` needs `role: advisory` (bad-role)',
    ],
    [
      withSteps('assert: { not: { not: noToolErrors } }'),
      'a.yaml:5:24: `not` cannot wrap another `not` (bad-negation)',
    ],
    [
      withSteps('assert: { not: noEndingQuestion }'),
      'a.yaml:5:24: `noEndingQuestion` is a heuristic, which `not` cannot wrap (bad-negation)',
    ],
    [
      withSteps('assert: { not: { toolResultContains: a, role: advisory } }'),
      'a.yaml:5:24: Write `role` and `severity` next to `not` (bad-negation)',
    ],
    [
      withSteps('assert: { not: { toolResultContains: 5 } }'),
      'a.yaml:5:46: `toolResultContains` must be text, not 5; write it in quotes (wrong-type)',
    ],
    [withSteps('assert: { toolCalledBefore: a }'), 'a.yaml:5:17: The key `beforeToolName` is missing (missing-key)'],
    [
      withSteps('assert: { responseCloseTo: a, maxDistance: 2 }'),
      'a.yaml:5:52: `maxDistance` must be at most 1, not 2 (out-of-range)',
    ],
    [
      withSteps(`assert: { toolResultContains: ${'a'.repeat(1001)} }`),
      'a.yaml:5:39: `toolResultContains` may have at most 1000 characters (too-long)',
    ],
    [
      withSteps(`assert: { toolResultMatchesSchema: { const: ${'a'.repeat(16 * 1024)} } }`),
      'a.yaml:5:44: A schema may have at most 16384 bytes as JSON (too-long)',
    ],
    [
      `${withSteps('toolCall: a', 'assert: { toolResultIsError: true }')}\n    checks: [noToolErrors]`,
      'a.yaml:6:9: This case expects an error of a tool and can never pass: its own checks have `noToolErrors`; take that out (contradiction)',
    ],
  ] satisfies Row[])('$1', (text, finding) => {
    expect(listFindings(text)).toEqual([finding]);
  });

  it('reports everything at once, in the order of the file', () => {
    expect(listFindings('suit: a\nruns: 0\ncases:\n  - title: b\n    id: x\n  - id: x\n    steps: []\n')).toEqual([
      'a.yaml:1:1: The key `suite` is missing (missing-key)',
      'a.yaml:1:1: Unknown key `suit`; did you mean `suite`? (unknown-key)',
      'a.yaml:2:7: `runs` must be at least 1, not 0 (out-of-range)',
      'a.yaml:4:5: The key `steps` is missing (missing-key)',
      'a.yaml:6:5: The key `title` is missing (missing-key)',
      'a.yaml:6:9: The id `x` is taken by the case at line 5; choose another (duplicate-case-id)',
      'a.yaml:7:12: A case has at least one step; add one (no-steps)',
    ]);
  });

  it('counts lines that end in carriage return and line feed', () => {
    expect(listFindings(withKeys('', 'runz: 3').replaceAll('\n', '\r\n'))).toEqual([
      'a.yaml:4:1: Unknown key `runz`; did you mean `runs`? (unknown-key)',
    ]);
  });
});
