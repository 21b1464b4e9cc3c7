import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { contract } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';

function read(text: string) {
  const { suite, findings } = readSuite(text, { file: 'a.yaml' });
  return { suite, findings: findings.map(formatConfigurationIssue) };
}

/** A suite of one case with these steps, each on a line of its own from line 5, at column 9. */
const withSteps = (...steps: string[]): string =>
  ['suite: a', 'cases:', '  - title: b', '    steps:', ...steps.map((step) => `      - ${step}`)].join('\n');

describe('steps of evals files that call no tool', () => {
  it('get the shape of the wire, with every default filled in', () => {
    const { suite, findings } = read(
      withSteps(
        '{ readResource: note://1, capture: { text: /contents/0/text } }',
        '{ getPrompt: greet, arguments: { name: Ada } }',
        '{ complete: city, prompt: greet }',
        '{ complete: id, resourceTemplate: "note://{id}", value: "1", arguments: { a: b } }',
        '{ listTools: true, id: tools }',
        '{ listResources: true }',
        '{ listResourceTemplates: true }',
        '{ listPrompts: true }',
        '{ ping: true }',
        '{ subscribe: note://1 }',
        '{ waitForUpdate: note://1 }',
        '{ wait: 2s }',
        '{ command: [node, seed.js], exitCode: 3 }',
        '{ repeat: [{ toolCall: poll }, { assert: noToolErrors }], until: { toolResultContains: a }, every: 50ms }',
      ),
    );
    expect(findings).toEqual([]);
    expect(suite?.cases[0]?.steps.map(({ step }) => step)).toEqual([
      { id: 'step-1', kind: 'readResource', uri: 'note://1', capture: { text: '/contents/0/text' } },
      { id: 'step-2', kind: 'getPrompt', name: 'greet', arguments: { name: 'Ada' } },
      { id: 'step-3', kind: 'complete', argument: 'city', value: '', of: { prompt: 'greet' }, arguments: {} },
      {
        id: 'step-4',
        kind: 'complete',
        argument: 'id',
        value: '1',
        of: { resourceTemplate: 'note://{id}' },
        arguments: { a: 'b' },
      },
      { id: 'tools', kind: 'listTools' },
      { id: 'step-6', kind: 'listResources' },
      { id: 'step-7', kind: 'listResourceTemplates' },
      { id: 'step-8', kind: 'listPrompts' },
      { id: 'step-9', kind: 'ping' },
      { id: 'step-10', kind: 'subscribe', uri: 'note://1' },
      { id: 'step-11', kind: 'waitForUpdate', uri: 'note://1', withinMs: 10_000 },
      { id: 'step-12', kind: 'wait', ms: 2000 },
      { id: 'step-13', kind: 'command', command: ['node', 'seed.js'], exitCode: 3 },
      {
        id: 'step-14',
        kind: 'repeat',
        steps: [
          { id: 'step-14.1', kind: 'toolCall', serverName: 'server-under-test', toolName: 'poll', arguments: {} },
          { id: 'step-14.2', kind: 'assert', assertion: { type: 'noToolErrors' } },
        ],
        until: { type: 'toolResultContains', needle: 'a' },
        times: 10,
        everyMs: 50,
      },
    ]);
  });

  it.each([
    ['readResorce: note://1', '5:9: Unknown step `readResorce`; did you mean `readResource`? (unknown-step)'],
    ['listTools: 5', '5:20: `listTools` cannot be 5; write true (unknown-value)'],
    [
      'complete: city',
      '5:9: A `complete` step has either a `prompt` or a `resourceTemplate`; write one (bad-completion)',
    ],
    [
      '{ complete: city, prompt: a, resourceTemplate: b }',
      '5:9: A `complete` step has either a `prompt` or a `resourceTemplate`; write one (bad-completion)',
    ],
    ['wait: 2', '5:15: 2 is not a duration; write a number with its unit, such as 60s, 500ms or 2m (bad-duration)'],
    [
      'wait: 60s',
      '5:9: This step waits for 1 min, and an iteration may take 1 min; wait less, or raise `timeout` (long-wait)',
    ],
    [
      'waitForUpdate: note://1',
      '5:9: No step before subscribes to "note://1"; write `subscribe` with this URI first (no-subscription)',
    ],
    ['{ repeat: [], until: noToolErrors }', '5:19: A `repeat` has at least one step (no-steps)'],
    ['{ repeat: [{ ping: true }] }', '5:9: The key `until` is missing (missing-key)'],
    [
      '{ repeat: [{ toolCall: a }], until: { judge: good } }',
      '5:45: Only an assertion that gates is allowed here, no heuristic and no judge (not-gating)',
    ],
    [
      '{ repeat: [{ toolCall: a, capture: { b: /c } }], until: noToolErrors }',
      '5:35: A repeated step captures nothing; write `capture` next to `repeat`, for the result of its last step (repeated-capture)',
    ],
    [
      '{ repeat: [{ ping: true }], until: noToolErrors, times: 0 }',
      '5:65: `times` must be at least 1, not 0 (out-of-range)',
    ],
    [
      'command: node seed.js',
      '5:18: `command` must be a list, not "node seed.js"; write ["node", "seed.js"] (wrong-type)',
    ],
    ['command: []', '5:18: A command has a program (empty-command)'],
    ['{ command: [a], exitCode: 300 }', '5:35: `exitCode` must be at most 255, not 300 (out-of-range)'],
    ['{ getPrompt: a, arguments: { b: 1 } }', '5:41: `b` must be text, not 1; write it in quotes (wrong-type)'],
    [
      '{ ping: true, capture: { a: /b } }',
      '5:23: Unknown key `capture`; known here: `ping`, `id`, `server` (unknown-key)',
    ],
  ])('are refused with their line and a remedy: %s', (step, finding) => {
    expect(read(withSteps(step)).findings).toEqual([`a.yaml:${finding}`]);
  });
});

describe('setup and teardown in evals files', () => {
  const text = [
    'suite: a',
    'setup: [{ command: [seed, suite] }]',
    'teardown: [{ command: [clean, suite] }]',
    'cases:',
    '  - title: "b {{n}}"',
    '    each: [{ n: 7 }]',
    '    setup: [{ toolCall: add, arguments: { n: "{{n}}" }, capture: { id: /id } }]',
    '    teardown: [{ toolCall: drop, arguments: { id: "{{id}}" } }]',
    '    steps: [{ toolCall: get, arguments: { id: "{{id}}" } }]',
  ].join('\n');

  it('are those of the suite and of the case, in the order in which they run', () => {
    const { suite, findings } = read(text);
    expect(findings).toEqual([]);
    const [testCase] = suite?.cases ?? [];
    expect(testCase?.setup.map(({ step, location }) => [step.id, step.kind, location.line])).toEqual([
      ['setup-1', 'command', 2],
      ['setup-2', 'toolCall', 7],
    ]);
    expect(testCase?.teardown.map(({ step, location }) => [step.id, step.kind, location.line])).toEqual([
      ['teardown-1', 'toolCall', 8],
      ['teardown-2', 'command', 3],
    ]);
    expect(testCase?.setup[1]?.step).toMatchObject({ arguments: { n: 7 } });
  });

  it('may be written as their name alone where they need no value', () => {
    const readKinds = (step: (name: string) => string) => {
      const names = ['ping', 'listTools', 'listResources', 'listResourceTemplates', 'listPrompts'];
      const { suite } = read(
        `suite: S\ncases: [{ title: C, setup: [${step('ping')}], steps: [${names.map(step).join(', ')}, { repeat: [${step('ping')}], until: noToolErrors }] }]`,
      );
      return suite?.cases.map(({ setup, steps }) => [...setup, ...steps].map((located) => located.step));
    };
    expect(readKinds((name) => name)).toEqual(readKinds((name) => `{ ${name}: true }`));
    expect(
      readKinds((name) => name)
        ?.flat()
        .map(({ kind }) => kind),
    ).toHaveLength(7);
  });

  it('travel with the other settings of the gate, and to no other service', () => {
    const { suite } = read(text);
    if (suite === null) throw new Error('The suite cannot be read.');
    const [embedded] = compileSuite(suite, { dialect: 'embedded' });
    expect(embedded?.advancedConfig?.setup).toMatchObject([{ kind: 'command' }, { serverName: 'server-under-test' }]);
    expect(embedded?.advancedConfig?.teardown).toMatchObject([
      { serverName: 'server-under-test' },
      { kind: 'command' },
    ]);
    const [hosted] = compileSuite(suite, { dialect: contract });
    expect(hosted?.advancedConfig).toBeUndefined();
  });

  it.each([
    ['setup: [{ prompt: hello }]', /^a\.yaml:3:11: Unknown step `prompt`; known here: /],
    ['teardown: [{ assert: { judge: good } }]', /^a\.yaml:3:22: Only an assertion that gates is allowed here/],
    ['setup: [{ toolCall: a, arguments: { b: "{{c}}" } }]', /^a\.yaml:3:40: `\{\{c\}\}` has no value here/],
  ])('are refused with their line: %s', (line, finding) => {
    const { findings } = read(['suite: a', 'cases: [{ title: b, steps: [{ toolCall: c }] }]', line].join('\n'));
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(finding);
  });
});
