import { isRecord, listRecords } from '../base/json.ts';
import { isRequestStep, type Step } from '../cases/step.ts';
import type { Reply } from '../checks/evidence.ts';
import { formQuestion, readReply } from './request-step.ts';

/**
 * Reads the answers to the requests before a step from a trace of an embedded engine; null if the trace lacks one of them, as those of a
 * hosted service do.
 */
export function readTracedReplies(trace: unknown, steps: readonly Step[], position: number): Reply[] | null {
  const { messages, spans } = isRecord(trace) ? trace : {};
  const parts = listRecords(messages)
    .flatMap(({ content }) => listRecords(content))
    .filter(({ type, toolCallId }) => type === 'tool-result' && /^request_\d+$/.test(String(toolCallId)));
  const replies: Reply[] = [];
  for (const step of steps.slice(0, position)) {
    if (!isRequestStep(step)) continue;
    const { reply } = formQuestion(step);
    if (reply === null) continue;
    const part = parts[replies.length];
    const output = part?.['output'];
    if (part === undefined || !isRecord(output)) return null;
    const span = listRecords(spans).find(
      ({ category, authoredStepId }) => category === 'request' && authoredStepId === step.id,
    );
    const nothing = { structuredContent: undefined, mimeTypes: [] };
    replies.push({
      ...reply,
      latencyMs: 0,
      ...(part['isError'] === true
        ? { ...nothing, text: String(output['value']), error: readError(output['value'], span) }
        : { ...readReply(step.kind, output['value']), error: null }),
    });
  }
  return replies;
}

function readError(message: unknown, span: Record<string, unknown> | undefined): NonNullable<Reply['error']> {
  const code = span?.['mcpErrorCode'];
  return { code: typeof code === 'number' ? code : null, message: String(message) };
}
