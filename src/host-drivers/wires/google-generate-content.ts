import { isRecord, type JsonObject, listRecords, tryParseJson } from '../../base/json.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
import type { ProviderRequest, Wire } from '../driver.ts';
import { printEventStream, readContentTexts, readEventStream } from './openai-parts.ts';

type Content = ModelAnswer['content'][number];
type FinishReason = ModelAnswer['finishReason'];

/** All others mean that something was withheld or broken. */
const finishReasons: ReadonlyArray<readonly [string, FinishReason['unified']]> = [
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
];

const callPath = /^\/v1(?:beta)?(\/models\/([^/:?]+):(generateContent|streamGenerateContent)(?:\?|$).*)$/;

/** Google's own API for Gemini. */
export const googleGenerateContent: Wire = {
  id: 'google-generate-content',
  toProviderPath: (path) => callPath.exec(path)?.[1] ?? null,
  readModel: ({ path }) => callPath.exec(path)?.[2] ?? null,
  readTools: ({ body }) =>
    listRecords(isRecord(body) ? body['tools'] : undefined)
      .flatMap(({ functionDeclarations }) => listRecords(functionDeclarations))
      .flatMap(({ name, description, parametersJsonSchema, parameters }) => {
        if (typeof name !== 'string') return [];
        const schema = parametersJsonSchema ?? parameters;
        const described = typeof description === 'string' ? description : null;
        return [{ name, description: described, schema: isRecord(schema) ? schema : {} }];
      }),
  readTexts: (request) => {
    const { systemInstruction } = isRecord(request.body) ? request.body : {};
    const all = [...(isRecord(systemInstruction) ? [systemInstruction] : []), ...readContents(request)];
    return all.flatMap(({ parts }) => readContentTexts(parts));
  },
  readResults,
  readAnswer: ({ contentType, body }) => {
    const chunks = /event-stream/.test(contentType) ? readEventStream(body) : [tryParseJson(body)].filter(isRecord);
    const failed = chunks.find(({ error }) => error !== undefined);
    if (failed !== undefined) throw new Error(`The answer is an error: ${JSON.stringify(failed['error'])}`);
    const parts = joinParts(chunks.flatMap((chunk) => readParts(readCandidate(chunk)['content'])));
    const content = parts.map(readPart);
    return {
      content,
      finishReason: readFinish(chunks, content),
      usage: readUsage(chunks.findLast(({ usageMetadata }) => isRecord(usageMetadata))?.['usageMetadata']),
    };
  },
  printAnswer: (answer, request) => {
    const response = printResponse(answer, googleGenerateContent.readModel(request) ?? '');
    if (request.path.includes(':streamGenerateContent')) return printEventStream([response]);
    return { status: 200, contentType: 'application/json', body: JSON.stringify(response) };
  },
  printError: (status, message) => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify({ error: { code: status, message, status: 'INVALID_ARGUMENT' } }),
  }),
};

function readContents({ body }: ProviderRequest): JsonObject[] {
  return listRecords(isRecord(body) ? body['contents'] : undefined);
}

function readParts(content: unknown): JsonObject[] {
  return listRecords(isRecord(content) ? content['parts'] : undefined);
}

function readCandidate({ candidates }: JsonObject): JsonObject {
  return listRecords(candidates)[0] ?? {};
}

function readResults(request: ProviderRequest): ReturnType<Wire['readResults']> {
  const contents = readContents(request);
  const last = contents.findLastIndex(({ role }) => role === 'model');
  // A host may keep the parts of one answer as several contents.
  const before = contents.slice(0, last + 1).findLastIndex(({ role }) => role !== 'model');
  const asked = contents
    .slice(before + 1, last + 1)
    .flatMap(readParts)
    .flatMap(({ functionCall }) => (isRecord(functionCall) ? [functionCall['id']] : []));
  const results: Array<{ callId: number; output: { content: unknown; attached?: JsonObject[] } }> = [];
  for (const part of contents.slice(last + 1).flatMap(readParts)) {
    const { functionResponse: returned } = part;
    if (isRecord(returned)) {
      const { id, name: _name, willContinue: _, scheduling: __, ...content } = returned;
      const index = id === undefined ? -1 : asked.indexOf(id);
      results.push({ callId: index === -1 ? results.length : index, output: { content } });
      continue;
    }
    // Hosts add images after a result, because it has only data.
    const latest = results.at(-1);
    if (latest !== undefined && part['text'] === undefined) (latest.output.attached ??= []).push(part);
  }
  return results;
}

/** Joins the texts that a stream cut. Thoughts and answers stay apart. */
function joinParts(parts: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const isSame = typeof last?.['text'] === 'string' && last['thought'] === part['thought'];
    if (isSame && typeof part['text'] === 'string') {
      joined[joined.length - 1] = { ...last, ...part, text: `${String(last['text'])}${part['text']}` };
    } else joined.push(part);
  }
  return joined;
}

/**
 * Keeps a part as it is, for a replay: signatures of thoughts are sent back to the provider. Hosts do not keep the ids of calls, so that the place of
 * the part makes one.
 */
function readPart(part: JsonObject, index: number): Content {
  const { text, thought, functionCall } = part;
  const providerMetadata = { google: { part: JSON.stringify(part) } };
  if (isRecord(functionCall)) {
    const [toolName, input] = [String(functionCall['name']), JSON.stringify(functionCall['args'] ?? {})];
    return { type: 'tool-call', toolCallId: `call_${index + 1}`, toolName, input, providerMetadata };
  }
  if (typeof text !== 'string') return { type: 'custom', kind: 'google.part', providerMetadata };
  if (thought === true) return { type: 'reasoning', text, providerMetadata };
  return Object.keys(part).length === 1 ? { type: 'text', text } : { type: 'text', text, providerMetadata };
}

function readFinish(chunks: readonly JsonObject[], content: readonly Content[]): FinishReason {
  const raw = chunks.map((chunk) => readCandidate(chunk)['finishReason']).findLast((reason) => reason !== undefined);
  if (typeof raw === 'string') {
    const unified = finishReasons.find(([name]) => name === raw)?.[1] ?? 'other';
    const isCall = unified === 'stop' && content.some(({ type }) => type === 'tool-call');
    return { unified: isCall ? 'tool-calls' : unified, raw };
  }
  const feedback = chunks.map(({ promptFeedback }) => promptFeedback).find(isRecord);
  if (typeof feedback?.['blockReason'] === 'string') {
    return { unified: 'content-filter', raw: feedback['blockReason'] };
  }
  throw new Error('The answer has no finish reason.');
}

function readUsage(counts: unknown): ModelAnswer['usage'] {
  const count = (name: string) => {
    const value = isRecord(counts) ? counts[name] : undefined;
    return typeof value === 'number' ? value : undefined;
  };
  const [total, cacheRead, said, reasoning] = [
    count('promptTokenCount'),
    count('cachedContentTokenCount'),
    count('candidatesTokenCount'),
    count('thoughtsTokenCount'),
  ];
  const noCache = total === undefined ? undefined : total - (cacheRead ?? 0);
  const output = said === undefined && reasoning === undefined ? undefined : (said ?? 0) + (reasoning ?? 0);
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: said, reasoning },
  };
}

function printPart(part: Content): JsonObject[] {
  const kept = 'providerMetadata' in part ? part.providerMetadata?.['google']?.['part'] : undefined;
  const whole = typeof kept === 'string' ? tryParseJson(kept) : undefined;
  if (part.type === 'tool-call') {
    const called = isRecord(whole) && isRecord(whole['functionCall']) ? whole['functionCall'] : {};
    const functionCall = { ...called, name: part.toolName, args: tryParseJson(part.input) ?? {} };
    return [{ ...(isRecord(whole) ? whole : {}), functionCall }];
  }
  if (part.type === 'text') return [{ ...(isRecord(whole) ? whole : {}), text: part.text }];
  return isRecord(whole) ? [whole] : [];
}

function printResponse({ content, finishReason, usage }: ModelAnswer, model: string): JsonObject {
  const { unified, raw } = finishReason;
  const reason = raw ?? finishReasons.find(([, name]) => name === unified)?.[0] ?? 'STOP';
  const { total: input = 0, cacheRead = 0 } = usage.inputTokens;
  const { total: output = 0, reasoning = 0 } = usage.outputTokens;
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: content.flatMap(printPart) }, finishReason: reason }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cacheRead,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + output,
    },
    modelVersion: model,
    responseId: 'recorded',
  };
}
