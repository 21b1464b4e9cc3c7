import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { convertFiles, type SourceFormat } from '../../src/convert/convert.ts';
import { judgePredicate } from '../../src/engine/predicates.ts';
import type { Suite } from '../../src/model/suite.ts';
import { readSuite } from '../../src/suite/read.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

function convert(format: SourceFormat, value: unknown) {
  const text = format === 'gleanwork' ? JSON.stringify(value, null, 2) : stringify(value);
  const { findings, ...rest } = convertFiles(format, [{ file: 'a.file', text }]);
  return { ...rest, lines: text.split('\n'), findings: findings.map(formatConfigurationIssue) };
}

function read(text: string | null): Suite {
  const { suite, findings } = readSuite(text ?? '', { file: 'a.evals.yaml' });
  if (suite === null) throw new Error(JSON.stringify(findings));
  return suite;
}

/** Whether the only case passes for a result of its tool. */
async function passes(text: string | null, result: { text: string; isError?: boolean }): Promise<boolean> {
  const [testCase] = read(text).cases;
  const evidence = createEvidence({ toolResults: [createToolResult({ toolName: 'read_file', ...result })] });
  const states = [];
  for (const { step } of testCase?.steps ?? []) {
    if (step.kind === 'assert') states.push((await judgePredicate(step.assertion, evidence)).state);
  }
  return states.every((state) => state === 'passed');
}

/** Every refusal names the line on which the key stands. */
function expectLine({ findings, lines }: ReturnType<typeof convert>, key: string): void {
  const line = lines.findIndex((each) => each.includes(key)) + 1;
  expect(findings.join('\n')).toContain(`a.file:${line}:`);
}

describe('a dataset of @gleanwork/mcp-server-tester', () => {
  const testCase = { id: 'read-config', toolName: 'read_file', args: { path: '/tmp/config.json' } };
  const dataset = (expectation: unknown, more = {}) => ({
    name: 'file-ops',
    cases: [{ ...testCase, expect: expectation, ...more }],
  });

  it('becomes a suite with a call in each case', () => {
    const cases = [{ ...testCase, description: 'Reads', tags: ['fast'], iterations: 3, metadata: { owner: 'a' } }];
    const { text, findings } = convert('gleanwork', { name: 'file-ops', metadata: {}, cases });
    expect(findings).toEqual([]);
    const suite = read(text);
    expect(suite.name).toBe('file-ops');
    expect(suite.cases).toMatchObject([
      {
        id: 'read-config',
        title: 'Reads',
        tags: ['fast'],
        runs: 3,
        failOnToolError: false,
        steps: [{ step: { kind: 'toolCall', toolName: 'read_file', arguments: { path: '/tmp/config.json' } } }],
      },
    ]);
  });

  it('has a rate for a case with a threshold, and requires the others', () => {
    const cases = [
      { ...testCase, iterations: 10, accuracyThreshold: 0.8 },
      { ...testCase, id: 'other' },
    ];
    const { policy } = read(convert('gleanwork', { name: 'file-ops', cases }).text);
    expect(JSON.parse(JSON.stringify(policy))).toMatchObject({
      minimumPassRate: { value: 0 },
      required: [{ name: 'other', value: true }],
    });
    expect(JSON.stringify(policy)).toContain('0.8');
  });

  it.each<[string, unknown, { text: string; isError?: boolean }, boolean]>([
    ['a text', { containsText: 'version' }, { text: 'the version' }, true],
    ['a text in other letters', { containsText: 'version' }, { text: 'the Version' }, false],
    ['all texts', { containsText: ['a', 'b'] }, { text: 'a' }, false],
    ['a pattern', { matchesPattern: String.raw`^v\d+\s` }, { text: 'v12\u00A0x' }, true],
    ['a pattern that is not met', { matchesPattern: '^v.$' }, { text: 'v\r' }, false],
    ['an error', { isError: true }, { text: 'x', isError: true }, true],
    ['an error that is none', { isError: true }, { text: 'x' }, false],
    ['no error', { isError: false }, { text: 'x', isError: true }, false],
    ['the message of an error', { isError: ['Missing', 'gone'] }, { text: 'file is GONE', isError: true }, true],
    ['another message', { isError: 'gone' }, { text: 'refused', isError: true }, false],
    ['a message without an error', { isError: 'gone' }, { text: 'gone' }, false],
  ])('judges %s as the tester does', async (_what, expectation, result, expected) => {
    const { text, findings } = convert('gleanwork', dataset(expectation));
    expect(findings).toEqual([]);
    expect(await passes(text, result)).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['snapshot', dataset({ snapshot: 'a' })],
    ['schema', dataset({ schema: 'a' })],
    ['response', dataset({ response: {} })],
    ['responseSize', dataset({ responseSize: { maxBytes: 1 } })],
    ['passesJudge', dataset({ passesJudge: { rubric: 'correctness' } })],
    ['toolsTriggered', dataset({ toolsTriggered: { calls: [] } })],
    ['mcp_host', dataset({}, { mode: 'mcp_host' })],
    ['scenario', dataset({}, { scenario: 'Find it' })],
    ['matchesPattern', dataset({ matchesPattern: '(?=a)' })],
    ['isError', dataset({ isError: [] })],
  ])('refuses %s with its line', (key, value) => {
    const converted = convert('gleanwork', value);
    expect(converted.text).toBeNull();
    expectLine(converted, key);
  });

  it('refuses a case without a tool', () => {
    expect(convert('gleanwork', { name: 'a', cases: [{ id: 'a', args: {} }] }).findings.join()).toContain('toolName');
  });
});

describe('a configuration of promptfoo with the provider mcp', () => {
  const call = JSON.stringify({ tool: 'read_file', args: { path: 'a' } });
  const config = (assert: unknown, more = {}) => ({
    description: 'Files',
    providers: [{ id: 'mcp', config: { enabled: true, server: { command: 'node', args: ['build/index.js'] } } }],
    prompts: ['{{prompt}}'],
    tests: [{ description: 'Reads', vars: { prompt: call }, assert }],
    ...more,
  });

  it('becomes a suite with a call in each case', () => {
    const tests = [{ vars: { prompt: '{"toolName":"list","arguments":{"a":1}}' } }, { vars: { prompt: call } }];
    const { text, findings } = convert('promptfoo', config([], { tests, evaluateOptions: { repeat: 2 } }));
    expect(findings).toEqual([]);
    expect(read(text).cases).toMatchObject([
      { title: 'Test 1', runs: 2, steps: [{ step: { toolName: 'list', arguments: { a: 1 } } }] },
      { title: 'Test 2', runs: 2, failOnToolError: false, steps: [{ step: { toolName: 'read_file' } }] },
    ]);
  });

  it.each<[string, unknown, string, boolean]>([
    ['contains', 'Hello', 'Hello you', true],
    ['contains', 'Hello', 'hello you', false],
    ['contains', 42, 'is 42', true],
    ['icontains', 'Hello', 'hello you', true],
    ['not-contains', 'Hello', 'Hello you', false],
    ['not-icontains', 'Hello', 'nothing', true],
    ['contains-any', ['Hi', 'Hello'], 'Hello you', true],
    ['contains-all', ['Hi', 'Hello'], 'Hello you', false],
    ['icontains-all', ['YOU', 'hello'], 'Hello you', true],
    ['not-contains-any', ['Hi', 'Hello'], 'Hello you', false],
    ['not-contains-all', ['Hi', 'Hello'], 'Hello you', true],
  ])('judges %s %j as promptfoo does', async (type, value, result, expected) => {
    const { text, findings } = convert('promptfoo', config([{ type, value }]));
    expect(findings).toEqual([]);
    expect(await passes(text, { text: result })).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['llm-rubric', config([{ type: 'llm-rubric', value: 'is good' }])],
    ['is-json', config([{ type: 'is-json' }])],
    ['weight', config([{ type: 'contains', value: 'Hello', weight: 2 }])],
    ['value: type', config([{ type: 'contains', value: 'type' }])],
    ['value: say', config([{ type: 'contains', value: 'say "a"' }])],
    ['{{name}}', config([{ type: 'contains', value: '{{name}}' }])],
    ['contains-any', config([{ type: 'contains-any', value: 'a,b' }])],
    ['defaultTest', config([], { defaultTest: {} })],
    ['transformResponse', config([], { providers: [{ id: 'mcp', config: { transformResponse: 'content' } }] })],
    ['read {{file}}', config([], { prompts: ['read {{file}}'], tests: [{ vars: { file: 'a' } }] })],
    ['many', config([], { tests: [{ vars: { prompt: call, many: ['a', 'b'] } }] })],
    ['openai', config([], { providers: ['openai:gpt-5'] })],
  ])('refuses %s with its line', (key, value) => {
    const converted = convert('promptfoo', value);
    expect(converted.text).toBeNull();
    expectLine(converted, key);
  });
});
