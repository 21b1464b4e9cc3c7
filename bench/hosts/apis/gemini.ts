import { isRecord, type JsonObject } from '../../../src/base/json.ts';
import {
  joinTexts,
  type ProviderApi,
  readObject,
  readRecords,
  readText,
  type SeenMessage,
  type SeenPart,
  type SeenResult,
  writeEvents,
  writeJson,
} from '../seen.ts';

function readPart(part: JsonObject): SeenPart {
  const { text, inlineData } = part;
  if (typeof text === 'string') return { kind: 'text', text };
  const { mimeType, data } = readObject(inlineData);
  if (readText(mimeType).startsWith('image/')) return { kind: 'image', text: readText(data) };
  return { kind: 'other', text: JSON.stringify(part) };
}

/** Reads a response of a function: its output or error as a text, and the parts that it carries. */
function readResponse(call: JsonObject): SeenResult {
  const response = readObject(call['response']);
  const { output, error } = response;
  const value = output ?? error ?? response;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return {
    id: null,
    parts: [{ kind: 'text', text }, ...readRecords(call['parts']).map(readPart)],
    isError: 'error' in response,
  };
}

const pathForm = /\/models\/([^/:]+):(generateContent|streamGenerateContent)/;

/** The contents of Gemini. */
export const gemini: ProviderApi = {
  matches: (path) => pathForm.test(path),
  read(body, path) {
    const [, model = '', method] = pathForm.exec(path) ?? [];
    const results: SeenResult[] = [];
    const messages: SeenMessage[] = [];
    for (const content of readRecords(body['contents'])) {
      const parts = readRecords(content['parts']);
      const responses = parts.flatMap(({ functionResponse }) => (isRecord(functionResponse) ? [functionResponse] : []));
      results.push(...responses.map(readResponse));
      const own = parts.filter((part) => !('functionResponse' in part) && !('functionCall' in part)).map(readPart);
      if (own.length > 0) messages.push({ role: readText(content['role']), parts: own });
    }
    const instruction = readObject(body['systemInstruction']);
    const tools = readRecords(body['tools']);
    return {
      model,
      isStream: method === 'streamGenerateContent',
      system: joinTexts(readRecords(instruction['parts']).map(readPart)),
      messages,
      tools: tools
        .flatMap((tool) => readRecords(tool['functionDeclarations']))
        .map((tool) => ({
          namespace: null,
          name: readText(tool['name']),
          description: readText(tool['description']),
          schema: readObject(tool['parametersJsonSchema'] ?? tool['parameters']),
        })),
      otherTools: JSON.stringify(tools.filter((tool) => !('functionDeclarations' in tool))),
      results,
    };
  },
  write(answer, { model, isStream }) {
    const parts: JsonObject[] =
      answer.kind === 'text'
        ? [{ text: answer.text }]
        : answer.calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } }));
    const value = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
      modelVersion: model,
    };
    return isStream ? writeEvents([{ data: value }]) : writeJson(value);
  },
};
