import { describe, expect, it } from 'vitest';
import { findLatestCall } from '../../src/engine/trace-calls.ts';
import { readTrace } from '../../src/engine/trace-reader.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep } from '../support/factories/case-factory.ts';
import { createCallMessages, createCallSpan } from '../support/factories/trace-factory.ts';

const isAssert = assertStep({ type: 'noToolErrors' });
const prompt = (id: string): Step => ({ id, kind: 'prompt', prompt: 'Add.' });
const interact: Step = { id: 'click', kind: 'interact', toolName: 'a', action: { kind: 'wait', ms: 1 } };

/** The text of what is found before the step at `position`, or why nothing is. */
function find(trace: object, steps: readonly Step[], { position, toolName }: { position: number; toolName?: string }) {
  const record = readTrace(trace);
  if (record === null) throw new Error('The trace of the test has no messages.');
  const latest = findLatestCall(record, steps, { position, toolName });
  if (latest.kind === 'found') return latest.call.output.text;
  return latest.kind === 'none' ? null : latest.reason;
}

const cannotPlace = 'the trace does not tell which tool results came before it';

describe('the latest result of a case that pins its calls', () => {
  const steps = [callStep('a'), isAssert, callStep('b'), isAssert];
  const [a, b] = [
    createCallMessages('1', { toolName: 'a', text: 'A' }),
    createCallMessages('2', { toolName: 'b', text: 'B' }),
  ];
  const messages = [...a, ...b];

  it('is found by its position among the calls', () => {
    expect(find({ messages }, steps, { position: 1 })).toBe('A');
    expect(find({ messages }, steps, { position: 3 })).toBe('B');
    expect(find({ messages }, steps, { position: 3, toolName: 'a' })).toBe('A');
  });

  it('is missing before the first call, and for a tool that is not called', () => {
    expect(find({ messages }, [isAssert, ...steps], { position: 0 })).toBeNull();
    expect(find({ messages }, steps, { position: 3, toolName: 'c' })).toBeNull();
  });

  it('is found by the step that a span or its parent names, in whatever order the results stand', () => {
    const spans = [
      createCallSpan('1', { authoredStepId: 'a' }),
      createCallSpan('2', { parentId: 'step' }),
      { id: 'step', category: 'step', authoredStepId: 'b' },
    ];
    expect(find({ messages: [...b, ...a], spans }, steps, { position: 1 })).toBe('A');
    expect(find({ messages: [...b, ...a] }, steps, { position: 1 })).toBe(cannotPlace);
  });

  it('is found without ids and names', () => {
    const bare = messages.map(({ role, content }) => ({
      role,
      content: content.map(({ toolCallId: _id, toolName: _name, ...part }) => part),
    }));
    expect(find({ messages: bare }, steps, { position: 1 })).toBe('A');
    expect(find({ messages: bare }, steps, { position: 3, toolName: 'a' })).toBe('A');
  });

  it.each([
    [
      'texts alone',
      [
        { role: 'user', content: 'Pinned tool call: a' },
        { role: 'assistant', content: 'executed' },
      ],
    ],
    ['a result of the first alone', a],
    ['no result of the second', [...a, ...b.slice(0, 1)]],
    ['a result of the second that cannot be read', [...a, ...createCallMessages('2', { toolName: 'b', output: null })]],
  ])('is unknown where the trace has %s', (_what, messages) => {
    const spans = [createCallSpan('1', { authoredStepId: 'a' })];
    expect(find({ messages, spans }, steps, { position: 3, toolName: 'b' })).toBe(
      'the trace has no result of the tool call in step "b"',
    );
  });

  it('of one tool does not need the results of another', () => {
    const spans = [createCallSpan('1', { authoredStepId: 'a' })];
    expect(find({ messages: a, spans }, steps, { position: 3, toolName: 'a' })).toBe('A');
    expect(find({ messages: a }, steps, { position: 3, toolName: 'a' })).toBe(
      'the trace has no result of the tool call in step "a"',
    );
  });

  it('is unknown if there are more calls than the steps pin', () => {
    const extra = [...messages, ...createCallMessages('3', { toolName: 'c' })];
    expect(find({ messages: extra }, steps, { position: 1 })).toBe(cannotPlace);
  });
});

describe('the latest result of a case of prompts', () => {
  const steps = [prompt('first'), isAssert, prompt('second'), isAssert];
  const messages = [...createCallMessages('1', { text: 'A' }), ...createCallMessages('2', { text: 'B' })];
  const spans = [createCallSpan('1', { promptIndex: 0, stepIndex: 4 }), createCallSpan('2', { promptIndex: 1 })];

  it('is found by the turn that its span names', () => {
    expect(find({ messages, spans }, steps, { position: 1 })).toBe('A');
    expect(find({ messages, spans }, steps, { position: 3 })).toBe('B');
  });

  it('is found without spans after the last prompt, and not before', () => {
    expect(find({ messages }, steps, { position: 3 })).toBe('B');
    expect(find({ messages }, steps, { position: 1 })).toBe(cannotPlace);
  });

  it.each([
    ['calls are pinned', [callStep('get-sum'), ...steps], 2],
    ['a widget is used', [...steps.slice(0, 2), interact, ...steps.slice(2)], 1],
    ['an assertion stands before the first prompt', [isAssert, ...steps], 2],
  ])('is not found by turns where %s', (_what, steps, position) => {
    expect(find({ messages, spans }, steps, { position })).toBe(cannotPlace);
  });

  it('is missing if no tool was called', () => {
    expect(find({ messages: [{ role: 'assistant', content: 'Five.' }] }, steps, { position: 3 })).toBeNull();
    expect(find({ messages, spans }, steps, { position: 3, toolName: 'multiply' })).toBeNull();
  });

  it.each([
    ['a turn that counts a call', { prompts: [{ actualToolCalls: [{ toolName: 'get-sum' }] }] }],
    ['a call by its span alone', { spans: [createCallSpan('1', { toolName: 'get-sum' })] }],
    ['a call without its result', { messages: messages.slice(0, 1) }],
  ])('is unknown where the trace has %s', (_what, trace) => {
    const found = find({ messages: [], ...trace }, steps, { position: 3 });
    expect([
      'the trace has none of the tool calls that it counts',
      'the trace has no result, or no name, of one of the tool calls before it',
    ]).toContain(found);
  });

  it('is the later one if a result appears twice', () => {
    const twice = [...messages, ...createCallMessages('1', { text: 'A again' }).slice(1)];
    expect(find({ messages: twice }, steps, { position: 3 })).toBe('A again');
  });
});

describe('the latest result of a case of both', () => {
  const steps = [callStep('a'), prompt('ask'), isAssert];
  const asked = createCallMessages('2', { toolName: 'b', text: 'B' });

  it('is only found where the pinned results are there too', () => {
    const pinned = createCallMessages('1', { toolName: 'a', text: 'A' });
    const spans = [createCallSpan('1', { authoredStepId: 'a' })];
    expect(find({ messages: [...pinned, ...asked], spans }, steps, { position: 2 })).toBe('B');
    expect(find({ messages: asked }, steps, { position: 2 })).toBe(
      'the trace has no result of the tool call in step "a"',
    );
    expect(find({ messages: asked }, steps, { position: 2, toolName: 'b' })).toBe('B');
  });
});
