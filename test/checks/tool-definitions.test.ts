import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../../src/checks/evidence.ts';
import { judgeAssertion } from '../../src/engine/judge-assertion.ts';
import { createEvidence, createToolResult } from '../support/factories/evidence-factory.ts';

const inputSchema = {
  type: 'object',
  required: ['city'],
  properties: { city: { type: 'string' }, unit: { enum: ['C', 'F'] } },
  additionalProperties: false,
};
const define = (overrides: Partial<ToolDefinition> = {}): ToolDefinition => ({
  description: null,
  inputSchema,
  annotations: null,
  ...overrides,
});
const tools = new Map([
  ['weather', define({ annotations: { readOnlyHint: true } })],
  ['drop', define({ annotations: { destructiveHint: true } })],
  ['old', define({ description: 'DEPRECATED: use weather.' })],
  ['new', define({ description: 'Replaces the deprecated tool old.' })],
]);
const withCalls = (...calls: Array<[toolName: string, args?: Record<string, unknown>]>) =>
  createEvidence({ tools, toolCalls: calls.map(([toolName, args = {}]) => ({ toolName, arguments: args })) });

describe('judgeAssertion on what the server declares of its tools', () => {
  const fit = { type: 'argumentsMatchToolSchema' };

  it('passes arguments that fit the inputSchema of their tool', async () => {
    const evidence = withCalls(['weather', { city: 'Oslo' }], ['weather', { city: 'Oslo', unit: 'C' }]);
    expect(await judgeAssertion(fit, evidence)).toEqual({
      state: 'passed',
      reason: 'argumentsMatchToolSchema: the arguments of 2 calls fit the inputSchema of the tool.',
    });
  });

  it.each([
    [{}, "missing required (it must have required property 'city')"],
    [{ city: 5 }, 'wrong type (/city must be string)'],
    [{ city: 'Oslo', unit: 'K' }, 'not in enum (/unit must be equal to one of the allowed values)'],
    [{ city: 'Oslo', town: 'x' }, 'forbidden key (it must NOT have additional properties: "town")'],
  ])('classifies what is wrong with the arguments %j', async (args, violation) => {
    expect(await judgeAssertion(fit, withCalls(['weather', args]))).toEqual({
      state: 'failed',
      reason: `argumentsMatchToolSchema: weather was called against its inputSchema: ${violation}.`,
    });
  });

  it('ranks a violation above a tool that is not listed, which it does not measure', async () => {
    expect((await judgeAssertion(fit, withCalls(['gone'], ['weather']))).state).toBe('failed');
    expect(await judgeAssertion(fit, withCalls(['gone']))).toEqual({
      state: 'unmeasured',
      reason: 'argumentsMatchToolSchema: the server lists no inputSchema of gone.',
    });
    expect((await judgeAssertion({ ...fit, toolName: 'weather' }, withCalls(['gone']))).state).toBe('passed');
  });

  it('does not measure arguments against a schema that cannot be used', async () => {
    const broken = createEvidence({
      tools: new Map([['a', define({ inputSchema: { type: 'objekt' } })]]),
      toolCalls: [{ toolName: 'a', arguments: {} }],
    });
    expect((await judgeAssertion(fit, broken)).state).toBe('unmeasured');
  });

  it.each([
    ['noDestructiveToolCalled', 'weather', 'passed'],
    ['noDestructiveToolCalled', 'drop', 'failed'],
    ['noDestructiveToolCalled', 'gone', 'unmeasured'],
    ['noDeprecatedToolCalled', 'new', 'passed'],
    ['noDeprecatedToolCalled', 'old', 'failed'],
  ])('judges %s by the declaration of %s: %s', async (type, toolName, state) => {
    expect((await judgeAssertion({ type, role: 'advisory' }, withCalls([toolName]))).state).toBe(state);
  });

  it('does not measure what is destructive if no tool carries annotations', async () => {
    const bare = createEvidence({ tools: new Map([['a', define()]]), toolCalls: [{ toolName: 'a', arguments: {} }] });
    expect(await judgeAssertion({ type: 'noDestructiveToolCalled' }, bare)).toEqual({
      state: 'unmeasured',
      reason:
        'noDestructiveToolCalled: no tool carries annotations, so the server does not say which tools are destructive.',
    });
  });

  it.each(['argumentsMatchToolSchema', 'noDestructiveToolCalled', 'noDeprecatedToolCalled'])(
    'does not measure %s without a list of tools',
    async (type) => {
      expect(await judgeAssertion({ type, role: 'advisory' }, createEvidence())).toEqual({
        state: 'unmeasured',
        reason: `${type}: the list of tools was not captured.`,
      });
    },
  );

  it.each([
    ['There is no city of that name.', 'passed'],
    ['No weather for Atlantis.', 'passed'],
    ['Something went wrong.', 'failed'],
  ])('judges toolErrorNamesInput by the message %j: %s', async (text, state) => {
    const error = createToolResult({ toolName: 'weather', arguments: { city: 'Atlantis' }, text, isError: true });
    const check = { type: 'toolErrorNamesInput', role: 'advisory' };
    expect((await judgeAssertion(check, createEvidence({ tools, toolResults: [error] }))).state).toBe(state);
  });

  it.each([
    [{ limit: 2 }, { items: [1, 2] }, 'failed'],
    [{ page_size: 2 }, [1, 2], 'failed'],
    [{ limit: 3 }, { items: [1, 2] }, 'passed'],
    [{ limit: 2 }, { items: [1, 2], nextCursor: null }, 'passed'],
    [{}, { items: [1, 2] }, 'passed'],
  ])('judges fullPageHasContinuation by the arguments %j and the page %j: %s', async (args, page, state) => {
    const toolResults = [createToolResult({ arguments: args, structuredContent: page })];
    const check = { type: 'fullPageHasContinuation', role: 'advisory' };
    expect((await judgeAssertion(check, createEvidence({ toolResults }))).state).toBe(state);
  });
});
