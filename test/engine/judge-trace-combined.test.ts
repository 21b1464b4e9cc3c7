import { describe, expect, it } from 'vitest';
import { judgeTrace, type TraceAssertion } from '../../src/engine/judge-trace.ts';
import type { InnerCheck } from '../../src/checks/assertion.ts';
import type { Step } from '../../src/cases/step.ts';
import { callStep } from '../support/factories/case-factory.ts';
import { createCallMessages, createCallSpan } from '../support/factories/trace-factory.ts';

const steps: Step[] = [callStep('get-sum')];
const judge = async (trace: unknown, assertion: InnerCheck) => {
  const items: TraceAssertion[] = [{ assertion, step: null }];
  return await judgeTrace(trace, items, steps);
};
const answer = (output: object, span: object = {}) => ({
  messages: createCallMessages('1', { output }),
  spans: [createCallSpan('1', span)],
});
const image = { type: 'image', mimeType: 'image/png', data: Buffer.alloc(9).toString('base64') };

describe('judgeTrace on several assertions as one', () => {
  const trace = { messages: createCallMessages('1') };
  const five: InnerCheck = { type: 'toolResultContains', needle: '5' };
  const six: InnerCheck = { type: 'toolResultContains', needle: '6' };
  const size = { type: 'toolResultSizeUnder', maxBytes: 9 } as const;

  it('judges each part on what the trace has of it', async () => {
    const called = { type: 'toolCalledAtLeastOnce', toolName: 'get-sum' } as const;
    expect(await judge(trace, { type: 'allOf', assertions: [five, called] })).toEqual({ kind: 'passed' });
    expect(await judge(trace, { type: 'anyOf', assertions: [six, size, five] })).toEqual({ kind: 'passed' });
    expect(await judge(trace, { type: 'allOf', assertions: [size, six] })).toEqual({
      kind: 'failed',
      reason: 'allOf: toolResultContains: the result of get-sum is "The sum is 5." and does not contain "6".',
      step: null,
    });
  });

  it('is unscored where a part that the trace lacks could decide', async () => {
    expect(await judge(trace, { type: 'anyOf', assertions: [six, size] })).toEqual({
      kind: 'unscored',
      reason: 'anyOf: toolResultSizeUnder could not be judged: the trace does not have what it is about.',
    });
    const negated: InnerCheck = { type: 'not', assertion: { type: 'allOf', assertions: [five, size] } };
    expect((await judge(trace, negated)).kind).toBe('unscored');
  });
});

describe('judgeTrace on content and errors', () => {
  const hasImage: InnerCheck = { type: 'toolResultContent', block: { type: 'image', minBytes: 9 } };
  const hasCode: InnerCheck = { type: 'toolError', error: { code: -32_602 } };
  const error = { type: 'error-text', value: 'Bad a' };

  it.each([
    ['passed', hasImage, answer({ type: 'json', value: { content: [image] } })],
    ['failed', hasImage, answer({ type: 'json', value: { content: [{ type: 'text', text: 'a' }] } })],
    ['unscored', hasImage, answer({ type: 'json', value: { content: [{ ...image, data: undefined }] } })],
    ['unscored', hasImage, answer({ type: 'text', value: 'An image' })],
    ['failed', hasImage, answer(error)],
    ['passed', hasCode, answer(error, { mcpErrorCode: -32_602 })],
    ['failed', hasCode, answer(error, { mcpErrorCode: -32_603 })],
    ['unscored', hasCode, answer(error)],
    ['failed', hasCode, answer({ type: 'json', value: { content: [], isError: true } })],
    ['passed', { type: 'toolError', error: { contains: 'bad' } }, answer(error)],
  ] as const)('is %s for %j of %j', async (kind, assertion, trace) => {
    expect((await judge(trace, assertion)).kind).toBe(kind);
  });
});
