import type { ModelAnswer } from '../models/language-model.ts';
import type { ConfiguredServer, ProviderRequest, RequestKind, ShownServers, Wire } from './driver.ts';

const title: ModelAnswer = {
  content: [{ type: 'text', text: 'A short title' }],
  finishReason: { unified: 'stop', raw: undefined },
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  },
  isReplayed: true,
};

/** Classifies a request by its path and its tools. One without tools is a title; the main conversation always has some. */
export function classifyByTools(request: ProviderRequest, wire: Wire): RequestKind {
  const { method, path } = request;
  const answer = (status: number, value: unknown): RequestKind => ({
    kind: 'side',
    answer: { status, contentType: 'application/json', body: JSON.stringify(value) },
  });
  if (method === 'HEAD' || path === '/') return answer(200, {});
  if (wire.toProviderPath(path) !== null) {
    return wire.readTools(request).length > 0
      ? { kind: 'main' }
      : { kind: 'side', answer: wire.printAnswer(title, request) };
  }
  if (/\/models(?:\?|$)/.test(path)) return answer(200, { object: 'list', data: [], models: [], has_more: false });
  return { kind: 'side', answer: wire.printError(404, 'Not found.') };
}

/** A shorter beginning can occur by chance. */
const shortestBeginning = 24;

/**
 * Finds the instructions of the servers in the texts of a request, without the host's words around them: the longest beginning of each that
 * occurs there, as hosts cut them. White space does not matter, as hosts indent them.
 */
export function findInstructions(
  texts: readonly string[],
  servers: readonly ConfiguredServer[],
): ShownServers['instructions'] {
  const searched = texts.map(collapse);
  const found = servers.flatMap(({ instructions }) => {
    const whole = collapse(instructions ?? '');
    const longest = searched.map((text) => measureBeginning(whole, text)).reduce((one, two) => Math.max(one, two), 0);
    return longest === 0 ? [] : [whole.slice(0, longest)];
  });
  return found.length === 0 ? null : found.join('\n\n');
}

/** Returns the length of the longest beginning of a text that another one contains; 0 if that is too short to be meant. */
function measureBeginning(whole: string, text: string): number {
  let [low, high] = [Math.min(shortestBeginning, whole.length), whole.length];
  if (low === 0 || !text.includes(whole.slice(0, low))) return 0;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (text.includes(whole.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
