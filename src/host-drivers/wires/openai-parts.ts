import { isRecord, type JsonObject, tryParseJson } from '../../base/json.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
import type { ProviderResponse } from '../driver.ts';

/** Lists the texts of a content: a text, or a list of parts that can have one. */
export function readContentTexts(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isRecord).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

/** Lists the objects of a stream of events. */
export function readEventStream(text: string): JsonObject[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const event = line.startsWith('data:') ? tryParseJson(line.slice('data:'.length).trim()) : undefined;
    return isRecord(event) ? [event] : [];
  });
}

/** Prints events, each with its type if it has one. A text is printed as it is. */
export function printEventStream(events: ReadonlyArray<JsonObject | string>): ProviderResponse {
  const body = events
    .map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`;
      const { type } = event;
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
  return { status: 200, contentType: 'text/event-stream', body };
}

/** Prints an error as the APIs of OpenAI do. */
export function printOpenAiError(status: number, message: string): ProviderResponse {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  return { status, contentType: 'application/json', body: JSON.stringify({ error }) };
}

/** Reads the tokens of an answer. The APIs of OpenAI name the two kinds `prompt` and `completion`, or `input` and `output`. */
export function readOpenAiUsage(
  usage: unknown,
  [input, output]: readonly ['prompt', 'completion'] | readonly ['input', 'output'],
): ModelAnswer['usage'] {
  const count = (counts: unknown, name: string) => {
    const value = isRecord(counts) ? counts[name] : undefined;
    return typeof value === 'number' ? value : undefined;
  };
  const counts = isRecord(usage) ? usage : {};
  const total = count(counts, `${input}_tokens`);
  const cacheRead = count(counts[`${input}_tokens_details`], 'cached_tokens');
  const noCache = total === undefined ? undefined : total - (cacheRead ?? 0);
  const reasoning = count(counts[`${output}_tokens_details`], 'reasoning_tokens');
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite: undefined },
    outputTokens: { total: count(counts, `${output}_tokens`), text: undefined, reasoning },
  };
}
