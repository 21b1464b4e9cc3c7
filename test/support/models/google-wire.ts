import type { ModelReply } from './scripted-provider.ts';

const finishReasons = { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', 'content-filter': 'SAFETY' } as const;

/** Writes an answer as Google's generateContent does. */
export function buildGenerated(reply: ModelReply, { model, number }: { model: string; number: number }) {
  const { reasoning, text, toolCalls = [], finishReason = 'stop', usage = {} } = reply;
  const parts: Array<Record<string, unknown>> = [
    ...(reasoning === undefined ? [] : [{ text: reasoning.text, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...toolCalls.map(({ id, name, arguments: args }, index) => ({
      functionCall: { ...(id !== undefined && { id }), name, args },
      ...(index === 0 && reasoning !== undefined && { thoughtSignature: reasoning.signature }),
    })),
  ];
  const [input, cached, output, thought] = [
    usage.input ?? 10,
    usage.cacheRead ?? 0,
    usage.output ?? 5,
    usage.reasoning ?? 0,
  ];
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: finishReasons[finishReason] }],
    usageMetadata: {
      promptTokenCount: input + cached,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output - thought,
      thoughtsTokenCount: thought,
      totalTokenCount: input + cached + output,
    },
    modelVersion: model,
    responseId: `generated-${number}`,
  };
}

/** Writes a response as a stream: each part in a chunk of its own, texts in two. */
export function streamGenerated(response: ReturnType<typeof buildGenerated>): string {
  const { candidates, usageMetadata, ...rest } = response;
  const [{ content, finishReason } = { content: { parts: [] }, finishReason: 'STOP' }] = candidates;
  const pieces = content.parts.flatMap((part) => {
    const { text } = part;
    if (typeof text !== 'string' || text.length < 2) return [part];
    return [text.slice(0, 1), text.slice(1)].map((piece) => ({ ...part, text: piece }));
  });
  return pieces
    .map((part, index) => {
      const isLast = index === pieces.length - 1;
      const candidate = { index: 0, content: { role: 'model', parts: [part] }, ...(isLast && { finishReason }) };
      return `data: ${JSON.stringify({ ...rest, candidates: [candidate], ...(isLast && { usageMetadata }) })}\r\n\r\n`;
    })
    .join('');
}
