import { isRecord, listRecords } from '../base/json.ts';
import { clipText } from '../base/text.ts';
import type { SpanRecord } from './encode.ts';

/** The most characters of one attribute. All spans of a request share the few megabytes that collectors accept. */
const maxContentLength = 32_000;

/**
 * Adds the conversation to the spans of an iteration: the arguments and the result to each tool call, and all messages to the span of the
 * iteration, which has no parent. The trace is an open document; invalid parts of it add nothing.
 */
export function addContent(spans: readonly SpanRecord[], trace: unknown): SpanRecord[] {
  const messages = listRecords(isRecord(trace) ? trace['messages'] : null);
  const parts = messages.flatMap(({ content }) => listRecords(content));
  const ofCall = (id: unknown, type: string) =>
    parts.find((part) => part['type'] === type && part['toolCallId'] === id);
  return spans.map((span) => {
    const id = span.attributes['gen_ai.tool.call.id'];
    const content =
      span.parentSpanId === null
        ? { 'mcp_eval_ci.iteration.messages': messages.length === 0 ? undefined : print(messages) }
        : id === undefined
          ? {}
          : {
              'gen_ai.tool.call.arguments': print(ofCall(id, 'tool-call')?.['input']),
              'gen_ai.tool.call.result': print(readOutput(ofCall(id, 'tool-result')?.['output'])),
            };
    return { ...span, attributes: { ...span.attributes, ...content } };
  });
}

function readOutput(output: unknown): unknown {
  return isRecord(output) ? output['value'] : undefined;
}

/** Returns undefined if there is no value. */
function print(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return clipText(typeof value === 'string' ? value : JSON.stringify(value), maxContentLength);
}
