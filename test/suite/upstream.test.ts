import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { meetsMinimumPassRate } from '../../src/model/rate.ts';
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
        isRequired: false,
        runs: 3,
        checks: { mode: 'replace', list: [{ type: 'toolCalledAtLeastOnce', toolName: 'add' }] },
        steps: [{ step: { id: 's1' } }, { step: { id: 's2', serverName: 'server-under-test' } }],
      },
      { id: 'on', isRequired: false, runs: 1, checks: { mode: 'inherit' }, location: { line: 21, column: 5 } },
    ]);
    expect(suite?.policy.minimumPassRate).toEqual({ value: 0, source: 'a.yaml:9' });
    expect(suite?.policy.cases).toEqual([
      { name: 'c_add', value: 0.8, source: 'a.yaml:9' },
      { name: 'on', value: 0, source: 'a.yaml:21' },
    ]);
  });

  it('has the minimum of any suite where it gives no threshold', () => {
    const { suite } = readSuite(writeFile(), { file: 'a.yaml' });
    expect(suite?.policy).toMatchObject({ minimumPassRate: null, cases: [] });
  });

  it('requires a case without a threshold to pass in full', () => {
    const other = '  - { id: other, title: other, passThreshold: 0.5, steps: [{ kind: prompt, id: a, prompt: a }] }';
    expect(readSuite(writeFile({ top: [other] }), { file: 'a.yaml' }).suite?.policy).toMatchObject({
      minimumPassRate: { value: 0, source: 'a.yaml:14' },
      cases: [{ name: 'other', value: 0.5, source: 'a.yaml:14' }],
      required: [{ name: 'c_add', value: true, source: 'a.yaml:9' }],
    });
  });

  it('requires a case whose threshold is 1', () => {
    const { suite } = readSuite(writeFile({ defaults: ['passThreshold: 1'] }), { file: 'a.yaml' });
    expect(suite?.policy).toMatchObject({
      minimumPassRate: { value: 0, source: 'a.yaml:8' },
      cases: [],
      required: [{ name: 'c_add', value: true, source: 'a.yaml:8' }],
    });
  });

  it('lets a case pass exactly when its threshold does, whatever the number of iterations', () => {
    const shares = fc
      .tuple(fc.nat(100), fc.integer({ min: 1, max: 100 }))
      .map(([part, whole]) => Math.min(1, part / whole));
    const millionths = fc.nat(1_000_000).map((count) => count / 1_000_000);
    const threshold = fc.oneof(shares, millionths, fc.constantFrom(0.333_333_43, 0.7));
    fc.assert(
      fc.property(threshold, fc.integer({ min: 1, max: 100 }), (passThreshold, runs) => {
        const defaults = [`repetitions: ${runs}`, `passThreshold: ${passThreshold.toFixed(12)}`];
        const { suite } = readSuite(writeFile({ defaults }), { file: 'a.yaml' });
        const rate = suite?.policy.cases[0]?.value ?? (suite?.policy.required.length === 1 ? 1 : Number.NaN);
        const counts = Array.from({ length: runs + 1 }, (_, passed) => passed);
        expect(counts.find((passed) => meetsMinimumPassRate(passed, runs, rate))).toBe(
          counts.find((passed) => passed / runs >= passThreshold - 1e-12),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('uses its only server as the server under test', () => {
    const text = writeFile()
      .replace('{ name: demo }', '{ name: demo, id: srv_1 }')
      .replace('serverName: demo, toolName', 'serverName: demo, serverId: srv_1, toolName');
    const { suite, findings } = readSuite(text, { file: 'a.yaml' });
    expect(findings).toEqual([]);
    expect(suite?.cases[0]?.steps[1]?.step).toEqual({
      id: 's2',
      kind: 'toolCall',
      serverName: 'server-under-test',
      toolName: 'add',
      arguments: {},
    });
  });

  it('keeps the names of several servers apart', () => {
    const text = writeFile().replace('[{ name: demo }]', '[{ name: demo }, { name: other }]');
    expect(readSuite(text, { file: 'a' }).suite?.cases[0]?.steps[1]?.step).toMatchObject({ serverName: 'demo' });
  });

  it.each([
    [
      writeFile().replace('serverName: demo, toolName', 'serverName: demo, serverId: srv_2, toolName'),
      'a.yaml:13:53: The id "srv_2" of a server is unknown before the gate connects the server; remove `serverId`, and write the name of the server as `serverName` where there are several (server-id)',
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
    [writeFile().replace('"1"', '1'), 'a.yaml:1:16: `schemaVersion` cannot be 1; write "1" or "2" (unknown-value)'],
    [writeFile({ caseLines: ['runs: 3'] }), 'a.yaml:14:5: Unknown key `runs`; known here: `id`, `title`'],
  ])('is refused where its meaning would be lost (%#)', (text, finding) => {
    const findings = listFindings(text);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.slice(0, finding.length)).toBe(finding);
  });
});
