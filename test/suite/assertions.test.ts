import { describe, expect, it } from 'vitest';
import { formatConfigurationIssue } from '../../src/base/errors.ts';
import { readSuite } from '../../src/suite/read.ts';

/** The assertion that a one-step case makes of `written`, in the API's shape. */
function readAssertion(written: string): unknown {
  const { suite, findings } = readSuite(`suite: a\ncases: [{ title: b, steps: [{ assert: ${written} }] }]`, {
    file: 'a',
  });
  expect(findings).toEqual([]);
  const step = suite?.cases[0]?.steps[0]?.step;
  return step?.kind === 'assert' ? step.assertion : undefined;
}

function readStep(written: string): unknown {
  const { suite, findings } = readSuite(`suite: a\ncases: [{ title: b, steps: [${written}] }]`, { file: 'a' });
  expect(findings).toEqual([]);
  return suite?.cases[0]?.steps[0]?.step;
}

describe('assertions', () => {
  it.each([
    ['noToolErrors', { type: 'noToolErrors' }],
    ['finalAssistantMessageNonEmpty', { type: 'finalAssistantMessageNonEmpty' }],
    ['widgetRendered', { type: 'widgetRendered' }],
    ['{ widgetRendered: a }', { type: 'widgetRendered', toolName: 'a' }],
    ['{ widgetNoConsoleErrors: a }', { type: 'widgetNoConsoleErrors', toolName: 'a' }],
    ['{ widgetRenderLatencyUnder: 5, toolName: a }', { type: 'widgetRenderLatencyUnder', ms: 5, toolName: 'a' }],
    ['{ toolCalledWith: a }', { type: 'toolCalledWith', toolName: 'a', args: { args: {} } }],
    [
      '{ toolCalledWith: a, arguments: { b: 1 }, argumentMatching: exact, minCount: 2 }',
      { type: 'toolCalledWith', toolName: 'a', args: { args: { b: 1 }, argumentMatching: 'exact' }, minCount: 2 },
    ],
    ['{ toolCalledAtLeastOnce: a }', { type: 'toolCalledAtLeastOnce', toolName: 'a' }],
    ['{ toolNeverCalled: a }', { type: 'toolNeverCalled', toolName: 'a' }],
    ['{ firstToolWas: a }', { type: 'firstToolWas', toolName: 'a' }],
    ['{ responseContains: a, caseSensitive: true }', { type: 'responseContains', needle: 'a', caseSensitive: true }],
    ['{ responseMatches: "a+" }', { type: 'responseMatches', pattern: 'a+' }],
    ['{ tokenBudgetUnder: 9 }', { type: 'tokenBudgetUnder', tokens: 9 }],
    ['{ turnCountUnder: 9 }', { type: 'turnCountUnder', turns: 9 }],
    ['{ toolName: t, toolResultContains: a }', { type: 'toolResultContains', needle: 'a', toolName: 't' }],
    ['{ type: toolResultContains, needle: a }', { type: 'toolResultContains', needle: 'a' }],
    ['{ toolResultMatches: "a+" }', { type: 'toolResultMatches', pattern: 'a+' }],
    ['{ toolResultEquals: null, path: /a~1b/0 }', { type: 'toolResultEquals', value: null, path: '/a~1b/0' }],
    ['{ toolResultMatchesSchema: { type: object } }', { type: 'toolResultMatchesSchema', schema: { type: 'object' } }],
    [
      '{ toolResultMatchesSchema: true, latest: true }',
      { type: 'toolResultMatchesSchema', schema: true, latest: true },
    ],
    [
      '{ type: toolResultMatchesSchema, schema: true, toolName: a }',
      { type: 'toolResultMatchesSchema', schema: true, toolName: 'a' },
    ],
    ['{ toolCalledBefore: a, beforeToolName: b }', { type: 'toolCalledBefore', toolName: 'a', beforeToolName: 'b' }],
    ['{ toolCallCountUnder: 3, toolName: a }', { type: 'toolCallCountUnder', count: 3, toolName: 'a' }],
    ['{ onlyToolsCalled: [a, b] }', { type: 'onlyToolsCalled', toolNames: ['a', 'b'] }],
    ['argumentsMatchToolSchema', { type: 'argumentsMatchToolSchema' }],
    ['{ argumentsMatchToolSchema: a }', { type: 'argumentsMatchToolSchema', toolName: 'a' }],
    ['noDestructiveToolCalled', { type: 'noDestructiveToolCalled' }],
    ['{ toolResultSizeUnder: 9 }', { type: 'toolResultSizeUnder', maxBytes: 9 }],
    ['{ responseCloseTo: five, maxDistance: 0.2 }', { type: 'responseCloseTo', reference: 'five', maxDistance: 0.2 }],
    ['{ type: noToolErrors, role: advisory }', { type: 'noToolErrors', role: 'advisory' }],
    [
      '{ turnCountUnder: 9, role: advisory, severity: warn }',
      { type: 'turnCountUnder', turns: 9, role: 'advisory', severity: 'warn' },
    ],
    ['{ type: noEndingQuestion, role: advisory }', { type: 'noEndingQuestion', role: 'advisory' }],
    ['{ toolErrorNamesInput: a, role: advisory }', { type: 'toolErrorNamesInput', toolName: 'a', role: 'advisory' }],
    ['{ not: { toolResultContains: a } }', { type: 'not', assertion: { type: 'toolResultContains', needle: 'a' } }],
    ['{ not: noToolErrors }', { type: 'not', assertion: { type: 'noToolErrors' } }],
    [
      '{ not: { toolResultMatchesSchema: true, latest: true }, role: advisory }',
      {
        type: 'not',
        assertion: { type: 'toolResultMatchesSchema', schema: true, latest: true },
        role: 'advisory',
      },
    ],
    [
      '{ type: not, assertion: { toolCalledWith: a, arguments: { b: 1 } } }',
      { type: 'not', assertion: { type: 'toolCalledWith', toolName: 'a', args: { args: { b: 1 } } } },
    ],
    ['{ toolResultIsError: false }', { type: 'toolResultIsError', isError: false }],
    ['{ toolLatencyUnder: 9 }', { type: 'toolLatencyUnder', ms: 9 }],
    ['{ textVisible: a, toolName: t }', { kind: 'textVisible', text: 'a', toolName: 't' }],
    ['{ elementVisible: { css: a }, toolName: t }', { kind: 'elementVisible', target: { css: 'a' }, toolName: 't' }],
    ['{ elementHidden: { text: a }, toolName: t }', { kind: 'elementHidden', target: { text: 'a' }, toolName: 't' }],
    [
      '{ inputValue: { testId: a }, equals: "", toolName: t }',
      { kind: 'inputValue', target: { testId: 'a' }, equals: '', toolName: 't' },
    ],
    ['{ widgetToolCalled: a, toolName: t }', { kind: 'widgetToolCalled', calledToolName: 'a', toolName: 't' }],
  ])('reads %s', (written, assertion) => {
    expect(readAssertion(written)).toEqual(assertion);
    // The shape it is turned into is accepted too.
    expect(readAssertion(JSON.stringify(assertion))).toEqual(assertion);
  });
});

describe('steps', () => {
  it.each([
    ['{ prompt: a }', { id: 'step-1', kind: 'prompt', prompt: 'a' }],
    ['{ id: x, prompt: a }', { id: 'x', kind: 'prompt', prompt: 'a' }],
    [
      '{ toolCall: a }',
      { id: 'step-1', kind: 'toolCall', serverName: 'server-under-test', toolName: 'a', arguments: {} },
    ],
    [
      '{ toolCall: a, server: s, renderTimeoutMs: 5 }',
      { id: 'step-1', kind: 'toolCall', serverName: 's', toolName: 'a', arguments: {}, renderTimeoutMs: 5 },
    ],
    [
      '{ kind: toolCall, toolName: a, serverName: s }',
      { id: 'step-1', kind: 'toolCall', serverName: 's', toolName: 'a', arguments: {} },
    ],
    [
      '{ interact: t, action: { kind: click, target: { role: { role: button } }, clickType: double } }',
      {
        id: 'step-1',
        kind: 'interact',
        toolName: 't',
        action: { kind: 'click', target: { role: { role: 'button' } }, clickType: 'double' },
      },
    ],
  ])('reads %s', (written, step) => {
    expect(readStep(written)).toEqual(step);
    const { serverName, ...rest } = step as Record<string, unknown>;
    expect(readStep(JSON.stringify(serverName === '' ? rest : step))).toEqual(step);
  });

  it.each([
    '{ kind: toolCall, toolName: a, serverName: s, serverId: i }',
    '{ kind: toolCall, toolName: a, serverId: i }',
  ])('refuses the id of a server in %s', (written) => {
    const text = `suite: a\ncases:\n  - title: b\n    steps:\n      - toolCall: a\n      - ${written}`;
    const { suite, findings } = readSuite(text, { file: 'a.yaml' });
    expect(suite).toBeNull();
    expect(findings.map(formatConfigurationIssue)).toEqual([
      `a.yaml:6:${9 + written.indexOf('serverId')}: The id "i" of a server is unknown before the gate connects the server; remove \`serverId\`, and write the name of the server as \`serverName\` where there are several (server-id)`,
    ]);
  });

  it('locates the id of a server in the fixtures of a suite and of each case, once each', () => {
    const text = [
      'suite: a',
      'setup: [ping, { kind: toolCall, toolName: a, serverId: i }]',
      'cases:',
      '  - title: b',
      '    steps: [{ toolCall: a }]',
      '    teardown:',
      '      - ping',
      '      - kind: toolCall',
      '        toolName: a',
      '        serverId: i',
      '  - title: c',
      '    steps: [{ toolCall: a }]',
    ].join('\n');
    const { findings } = readSuite(text, { file: 'a.yaml' });
    expect(findings.map(({ code, line, column }) => [code, line, column])).toEqual([
      ['server-id', 2, 46],
      ['server-id', 10, 9],
    ]);
  });
});
