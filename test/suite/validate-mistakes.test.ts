import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readSuite } from '../../src/suite/read.ts';
import { buildEvalsJsonSchema } from '../../src/suite/suite-schema.ts';
import { judgeBlockKind, listYamlBlocks } from '../support/text/yaml-blocks.ts';

const isValidInEditor = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  buildEvalsJsonSchema(),
);

const inSuite = (keys: string) => `suite: Notes\n${keys}\ncases:\n  - title: One\n    steps:\n      - toolCall: echo\n`;
const inCase = (keys: string) =>
  `suite: Notes\ncases:\n  - title: One\n    ${keys}\n    steps:\n      - toolCall: echo\n`;
const inStep = (step: string) =>
  `suite: Notes\ncases:\n  - title: One\n    steps:\n      - toolCall: echo\n      - ${step}\n`;
const asserting = (assertion: string) => inStep(`assert: { ${assertion} }`);

/** What a JSON Schema cannot say, so that an editor does not mark it. */
const beyondEditors = 'beyond editors';

/** A file with one mistake, where the mistake is, the code of the finding, and its message with what to do. */
type Mistake = [yaml: string, at: string, code: string, message: string, note?: typeof beyondEditors];

const mistakes: readonly Mistake[] = [
  [inSuite('runz: 2'), '2:1', 'unknown-key', 'Unknown key `runz`; did you mean `runs`?'],
  [inSuite('runs: 0'), '2:7', 'out-of-range', '`runs` must be at least 1, not 0'],
  [
    asserting('noToolErrors: "true"'),
    '6:19',
    'unknown-assertion',
    '`noToolErrors` takes no value: write `noToolErrors` alone',
  ],
  [
    inSuite('timeout: 60'),
    '2:10',
    'bad-duration',
    '60 is not a duration; write a number with its unit, such as 60s, 500ms or 2m',
  ],
  [inSuite('concurrency: many'), '2:14', 'wrong-type', '`concurrency` must be `auto` or a whole number, not "many"'],
  [
    inSuite('protocol: latest'),
    '2:11',
    'bad-protocol',
    '"latest" is not a revision of MCP that can be pinned; write auto, 2025-11-25, 2026-07-28, both',
  ],
  [inSuite('id: my suite'), '2:5', 'bad-id', '"my suite" is not an id; use 1 to 128 letters, digits, `-` and `_`'],
  [inSuite('model: claude'), '2:8', 'bad-model', '"claude" is not a model; write `provider/name`'],
  [
    inSuite('model: a/b\nmodels: [a/b]'),
    '3:1',
    'model-and-models',
    'Both `model` and `models` are given; write one of them',
    beyondEditors,
  ],
  [inSuite('toolPolicy: { denny: [x] }'), '2:15', 'unknown-key', 'Unknown key `denny`; did you mean `deny`?'],
  [inSuite('decoys: [{ description: x }]'), '2:10', 'missing-key', 'The key `name` is missing'],
  [
    inSuite('policy: { minimumPassRate: 0.9 }'),
    '2:28',
    'bad-pass-rate',
    '0.9 could mean 0.9% or 90%; write the one you mean with its % sign',
  ],
  [
    inSuite('policy: { minPassRate: 90% }'),
    '2:11',
    'unknown-key',
    'Unknown key `minPassRate`; did you mean `minimumPassRate`?',
  ],
  [
    inSuite('match: { toolCallOrder: strict }'),
    '2:25',
    'unknown-value',
    '`toolCallOrder` cannot be "strict"; known here: `any`, `in-order`, `exact`',
  ],
  [
    inSuite('checks: noToolErrors'),
    '2:9',
    'wrong-type',
    '`checks` must be a list, not "noToolErrors"; write ["noToolErrors"]',
  ],
  [
    inSuite('checks: [noToolError]'),
    '2:10',
    'unknown-check',
    'Unknown check `noToolError`; did you mean `noToolErrors`?',
  ],
  [
    inSuite('recordings: { ignore: ["("] }'),
    '2:24',
    'bad-ignore-pattern',
    'The pattern "(" is no RE2 regular expression: error parsing regexp: missing closing ): `(`',
    beyondEditors,
  ],
  [
    inSuite('suite: Again'),
    '2:1',
    'duplicate-key',
    'The key `suite` is already in this mapping, at line 1',
    beyondEditors,
  ],
  [
    inSuite('client: { elicitation: [{ acept: { name: Ada } }] }'),
    '2:27',
    'unknown-answer',
    'Unknown answer `acept`; did you mean `accept`?',
  ],
  [
    inSuite('client: { roots: [workspace] }'),
    '2:19',
    'bad-root',
    '"workspace" is not a root; write a URI such as file:///workspace',
  ],
  [
    inSuite('client: { elicitations: [decline] }'),
    '2:11',
    'unknown-key',
    'Unknown key `elicitations`; did you mean `elicitation`?',
  ],
  [
    inSuite('client: { elicitation: accept }'),
    '2:24',
    'wrong-type',
    '`elicitation` must be a list, not "accept"; write ["accept"]',
  ],
  [inSuite('client: { sampling: models }'), '2:21', 'wrong-type', '`sampling` must be `model` or a list, not "models"'],
  [
    inSuite('client: { sampling: [{ txt: Hi }] }'),
    '2:24',
    'unknown-answer',
    'Unknown answer `txt`; did you mean `text`?',
  ],
  [
    inSuite('client: { sampling: [{ text: Hi, when: {} }] }'),
    '2:34',
    'empty-condition',
    '`when` is empty; write `message` or `pattern`',
    beyondEditors,
  ],
  [
    inSuite('setup: { toolCall: echo }'),
    '2:8',
    'wrong-type',
    '`setup` must be a list, not a mapping; begin each of its items with `- `',
  ],
  [inSuite('setup: [{ comand: [ls] }]'), '2:11', 'unknown-step', 'Unknown step `comand`; did you mean `command`?'],
  [
    inSuite('setup: [{ prompt: Hello }]'),
    '2:11',
    'unknown-step',
    'Unknown step `prompt`; known here: `toolCall`, `assert`, `readResource`, `getPrompt`, `complete`, `listTools`, `listResources`, `listResourceTemplates`, `listPrompts`, `ping`, `subscribe`, `waitForUpdate`, `wait`, `command`, `repeat`',
  ],
  [inSuite('setup: [toolCall]'), '2:9', 'unknown-step', '`toolCall` needs a value: write `toolCall: …`'],
  [
    inSuite('teardown: [{ assert: { judge: Good. } }]'),
    '2:22',
    'not-gating',
    'Only an assertion that gates is allowed here, no heuristic and no judge',
    beyondEditors,
  ],
  [inSuite('teardown: [{ command: [] }]'), '2:23', 'empty-command', 'A command has a program'],
  [
    inSuite('setup: [{ command: ls -l }]'),
    '2:20',
    'wrong-type',
    '`command` must be a list, not "ls -l"; write ["ls", "-l"]',
  ],
  [
    inSuite(`setup: [{ command: "ls 'a b'" }]`),
    '2:20',
    'wrong-type',
    `\`command\` must be a list, not "ls 'a b'"; write each of its words as an item, such as ["ls", "-l"]`,
  ],
  [inSuite('tearDown: [ping]'), '2:1', 'unknown-key', 'Unknown key `tearDown`; did you mean `teardown`?'],
  [
    inCase('setup: [{ toolCall: echo, arguments: { message: "{{nothing}}" } }]'),
    '4:53',
    'unknown-name',
    '`{{nothing}}` has no value here; known here: `iteration`, `uuid`, `workspace`',
    beyondEditors,
  ],
  [inStep('pong'), '6:9', 'unknown-step', 'Unknown step `pong`; did you mean `ping`?'],
  [
    asserting('elicitationRequested: 3'),
    '6:41',
    'wrong-type',
    '`elicitationRequested` must be text, not 3; write it in quotes',
  ],
  [inStep('{ wait: 1s, server: notes }'), '6:21', 'unknown-key', 'Unknown key `server`; known here: `wait`, `id`'],
  [inStep('{ ping: true, server: 3 }'), '6:31', 'wrong-type', '`server` must be text, not 3; write it in quotes'],
  [
    inStep('subscribe: note://7\n        server: files\n      - { waitForUpdate: note://7, server: notes }'),
    '8:9',
    'no-subscription',
    'No step before subscribes to "note://7" on the server "notes"; write `subscribe` with this URI first',
    beyondEditors,
  ],
  [inCase('tags: smoke'), '4:11', 'wrong-type', '`tags` must be a list, not "smoke"; write ["smoke"]'],
  [inCase('titel: Two'), '4:5', 'unknown-key', 'Unknown key `titel`; did you mean `title`?'],
  [inCase('required: maybe'), '4:15', 'wrong-type', '`required` must be true or false, not "maybe"'],
  [
    inCase('checks: { mode: add }'),
    '4:21',
    'unknown-value',
    '`mode` cannot be "add"; known here: `inherit`, `replace`, `extend`',
  ],
  [inCase('each: []'), '4:11', 'no-rows', 'A table has at least one row'],
  [
    inCase('each: [{ city: Oslo }]'),
    '4:14',
    'unused-column',
    'No step uses the column `city`; write `{{city}}` where it belongs, or remove it',
    beyondEditors,
  ],
  [
    inCase('id: "1"\n    steps: [{ toolCall: a }]\n  - id: "1"\n    title: Two'),
    '6:9',
    'duplicate-case-id',
    'The id `1` is taken by the case at line 4; choose another',
    beyondEditors,
  ],
  [inStep('toolcall: echo'), '6:9', 'unknown-step', 'Unknown step `toolcall`; did you mean `toolCall`?'],
  [inStep('toolCall: 7'), '6:19', 'wrong-type', '`toolCall` must be text, not 7; write it in quotes'],
  [
    inStep('toolCall: echo\n        args: { a: 1 }'),
    '7:9',
    'unknown-key',
    'Unknown key `args`; known here: `toolCall`, `id`, `arguments`, `server`, `renderTimeoutMs`, `capture`',
  ],
  [inStep('toolCall: echo\n        arguments: [1]'), '7:20', 'wrong-type', '`arguments` must be a mapping, not a list'],
  [
    inStep('toolCall: echo\n        capture: { id: id }'),
    '7:24',
    'bad-pointer',
    '"id" is not a JSON Pointer; write `/id`',
  ],
  [
    inStep('toolCall: echo\n        arguments: { a: "{{nope}}" }'),
    '7:25',
    'unknown-name',
    '`{{nope}}` has no value here; known here: `iteration`, `uuid`, `workspace`',
    beyondEditors,
  ],
  [inStep('interact: a'), '6:9', 'missing-key', 'The key `action` is missing'],
  [
    inStep('assert: toolResultContains'),
    '6:17',
    'unknown-assertion',
    '`toolResultContains` needs a value: write `toolResultContains: …`',
  ],
  [
    inStep('assert: [noToolErrors]'),
    '6:17',
    'wrong-type',
    '`assert` must be the name of a kind of assertion, or a mapping, not a list',
  ],
  [
    asserting('toolResultContain: x'),
    '6:19',
    'unknown-assertion',
    'Unknown assertion `toolResultContain`; did you mean `toolResultContains`?',
  ],
  [
    asserting('toolResultContains: 5'),
    '6:39',
    'wrong-type',
    '`toolResultContains` must be text, not 5; write it in quotes',
  ],
  [
    asserting('toolResultContains: x, tool: echo'),
    '6:42',
    'unknown-key',
    'Unknown key `tool`; known here: `toolResultContains`, `caseSensitive`, `path`, `toolName`, `latest`, `role`, `severity`',
  ],
  [
    asserting('toolResultMatches: "(?=x)"'),
    '6:38',
    'unsafe-pattern',
    'The pattern "(?=x)" is refused: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    beyondEditors,
  ],
  [asserting('toolResultEquals: 1, path: a/b'), '6:46', 'bad-pointer', '"a/b" is not a JSON Pointer; write `/a/b`'],
  [
    asserting('toolResultEquals: 1, tolerance: "0.1"'),
    '6:51',
    'wrong-type',
    '`tolerance` must be a number, not "0.1"; write it without quotes',
  ],
  [
    asserting('toolResultMatchesSchema: { requierd: [a] }'),
    '6:46',
    'bad-schema',
    'Unknown keyword `requierd` of JSON Schema 2020-12; did you mean `required`?',
    beyondEditors,
  ],
  [asserting('toolResultContent: image'), '6:38', 'unknown-block', '`image` needs a value: write `{ type: image }`'],
  [
    asserting('toolResultContent: { mimeType: image/png }'),
    '6:38',
    'missing-key',
    'The key `type` is missing; known here: `text`, `image`, `audio`, `resource`, `resource_link`',
  ],
  [
    asserting('toolResultContent: { type: text, width: 3 }'),
    '6:52',
    'unknown-key',
    'Unknown key `width`; known here: `type`, `text`',
  ],
  [asserting('toolError: {}'), '6:30', 'empty-error', 'Write at least one of `code`, `contains` and `matches`'],
  [
    asserting('anyOf: { toolResultContains: a }'),
    '6:26',
    'wrong-type',
    '`anyOf` must be a list, not a mapping; begin each of its items with `- `',
  ],
  [
    asserting('anyOf: [{ judge: nice }]'),
    '6:27',
    'bad-combination',
    '`anyOf` cannot wrap a `judge`; write what it looks for in one rubric',
    beyondEditors,
  ],
  [
    asserting('allOf: [{ toolResultContains: a, role: advisory }]'),
    '6:27',
    'bad-combination',
    'Write `role` and `severity` next to `allOf`',
    beyondEditors,
  ],
  [asserting('not: { not: noToolErrors }'), '6:24', 'bad-negation', '`not` cannot wrap another `not`'],
  [
    asserting('toMatchFile: ../a.json'),
    '6:32',
    'bad-snapshot',
    '"../a.json" is no path for a snapshot: it has to be inside the folder of this file, below a directory `snapshots` or with a name that ends in `.snap`, and not in a directory that begins with a dot; write `snapshots/name.json`',
    beyondEditors,
  ],
  [
    asserting('type: noEndingQuestion'),
    '6:17',
    'bad-role',
    '`noEndingQuestion` is a heuristic and cannot gate; write `role: advisory`',
    beyondEditors,
  ],
  [
    asserting('toolLatencyUnder: 5, severity: warn'),
    '6:17',
    'bad-role',
    '`severity` needs `role: advisory`',
    beyondEditors,
  ],
  [
    asserting('judge: Is it nice?'),
    '6:9',
    'missing-judge-model',
    'This judge has no model; set `model` next to its rubric, or `judgeModel` in the suite',
    beyondEditors,
  ],
  [asserting('toolCalledBefore: a'), '6:17', 'missing-key', 'The key `beforeToolName` is missing'],
];

describe('a mistake in an evals file', () => {
  it.each(mistakes)('is found at its place, with what to do: %s', (yaml, at, code, message, note) => {
    const { suite, findings } = readSuite(yaml, { file: 'notes.evals.yaml' });
    expect(suite).toBeNull();
    expect(findings.map((found) => [`${found.line}:${found.column}`, found.code, found.message])).toEqual([
      [at, code, message],
    ]);
    expect(isValidInEditor(parse(yaml, { uniqueKeys: false }))).toBe(note === beyondEditors);
  });

  it('is one of at least 40', () => {
    expect(mistakes.length).toBeGreaterThanOrEqual(40);
  });
});

describe('the examples of docs/evals.md', () => {
  const file = 'docs/evals.md';
  const blocks = listYamlBlocks(file, readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  const runnable = blocks.filter(({ text }) => ['suite', 'cases'].includes(judgeBlockKind(text)));

  it('are valid for the gate and for an editor', () => {
    expect(runnable.length).toBeGreaterThan(5);
    for (const { text } of runnable) {
      const isSuite = judgeBlockKind(text) === 'suite';
      const whole = isSuite ? text : `suite: Example\ncases:\n${text.replaceAll(/^(?=.)/gm, '  ')}`;
      const { findings } = readSuite(/^suite:/m.test(whole) ? whole : `suite: Example\n${whole}`, { file });
      expect({ text, findings }).toEqual({ text, findings: [] });
      expect([text, isValidInEditor(parse(whole))]).toEqual([text, true]);
    }
  });
});
