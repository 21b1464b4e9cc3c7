import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { readSuite } from '../../src/suite/read.ts';

function writeFile(options: { defaults?: string[]; caseLines?: string[]; top?: string[] } = {}): string {
  return [
    'schemaVersion: "1"',
    'mode: agentWorkflow',
    'suite: { id: s_demo, name: Demo }',
    'target: { servers: [{ name: demo }] }',
    'defaults:',
    '  model: anthropic/claude-haiku-4.5',
    '  validity: {}',
    ...(options.defaults ?? []).map((line) => `  ${line}`),
    'cases:',
    '  - id: c_add',
    '    title: adds numbers',
    '    steps:',
    '      - { id: s1, kind: prompt, prompt: "add 2 and 3" }',
    '      - { id: s2, kind: toolCall, serverName: demo, toolName: add, arguments: {} }',
    ...(options.caseLines ?? []).map((line) => `    ${line}`),
    ...(options.top ?? []),
  ].join('\n');
}

function listFindings(text: string): string[] {
  return readSuite(text, { file: 'a.yaml' }).findings.map(formatConfigurationIssue);
}

describe("upstream's suite file", () => {
  it('is read with the same meaning', () => {
    const { suite, findings } = readSuite(
      writeFile({
        defaults: ['repetitions: 3', 'passThreshold: 0.8', 'captureLevel: full', 'toolPolicy: { mode: default }'],
        caseLines: ['assertions: [{ type: toolCalledAtLeastOnce, toolName: add }]', 'isNegativeTest: false'],
        top: [
          '  - { id: off, title: off, disabled: true, steps: [{ kind: prompt, id: a, prompt: a }] }',
          '  - { id: on, title: on, passThreshold: 0, repetitions: 1, steps: [{ kind: prompt, id: a, prompt: a }] }',
        ],
      }),
      { file: 'a.yaml' },
    );
    expect(findings).toEqual([]);
    expect(suite).toMatchObject({ id: 's_demo', name: 'Demo', model: 'anthropic/claude-haiku-4.5', checks: [] });
    expect(suite?.cases).toMatchObject([
      {
        id: 'c_add',
        // Of three iterations, 0.8 asks for 2.4: all of them.
        isRequired: true,
        runs: 3,
        checks: { mode: 'replace', list: [{ type: 'toolCalledAtLeastOnce', toolName: 'add' }] },
        steps: [{ step: { id: 's1' } }, { step: { id: 's2', serverName: '' } }],
      },
      { id: 'on', isRequired: false, runs: 1, checks: { mode: 'inherit' }, location: { line: 21, column: 5 } },
    ]);
  });

  it('keeps the names of several servers apart', () => {
    const text = writeFile().replace('[{ name: demo }]', '[{ name: demo }, { name: other }]');
    expect(readSuite(text, { file: 'a' }).suite?.cases[0]?.steps[1]?.step).toMatchObject({ serverName: 'demo' });
  });

  it.each([
    [
      writeFile({ defaults: ['repetitions: 10', 'passThreshold: 0.7'] }),
      'a.yaml:9:3: Some but not all iterations of the case `c_add` must pass, which this product cannot express; demand all of them, or set a pass rate of the whole suite (unsupported-upstream)',
    ],
    [
      writeFile({ defaults: ['toolPolicy: { mode: readOnly }'] }),
      'a.yaml:8:15: This product cannot honour a `toolPolicy`; limit the tools in the server under test (unsupported-upstream)',
    ],
    [
      writeFile({ defaults: ['provider: openai'] }),
      'a.yaml:6:3: This product cannot honour a `provider` apart from the model; write the model as `provider/name` (unsupported-upstream)',
    ],
    [
      writeFile({ caseLines: ['import: { status: unresolved }'] }),
      'a.yaml:14:13: This product cannot honour a case that was not imported; mend it or set `disabled: true` (unsupported-upstream)',
    ],
    [
      writeFile().replace('agentWorkflow', 'serverContract'),
      'a.yaml:2:7: This product cannot honour `mode: serverContract`; upstream reserves it (unsupported-upstream)',
    ],
    [
      writeFile({ top: ['reportingMode: summary'] }),
      'a.yaml:14:16: This product cannot honour this reporting mode; write `standard` (unsupported-upstream)',
    ],
    [writeFile({ caseLines: ['disabled: true'] }), 'a.yaml:9:3: No case is enabled (no-cases)'],
    [writeFile().replace('"1"', '1'), 'a.yaml:1:16: `schemaVersion` cannot be 1; write "1" (unknown-value)'],
    [writeFile({ caseLines: ['runs: 3'] }), 'a.yaml:14:5: Unknown key `runs`; known here: `id`, `title`'],
  ])('is refused where its meaning would be lost (%#)', (text, finding) => {
    const findings = listFindings(text);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.slice(0, finding.length)).toBe(finding);
  });
});
