import { isRecord, tryParseJson } from '../base/json.ts';
import { makeErrorAnswer, type OpenSession, type TapedAnswer } from '../engine/session-tape.ts';
import type { ObservedStep } from '../explore/exploration.ts';
import { dropOrderMarks } from '../explore/stability/any-order.ts';
import { volatileMark } from '../explore/stability/forms.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import { mapTexts } from '../workspace/placeholders.ts';

/** The workspace of played steps. */
export const playedWorkspace = '/workspace-of-the-case';

/**
 * Makes a function that opens sessions with a server which gives the answers of observed steps, one after the other. What is volatile in
 * them differs in each `run`.
 */
export function playSteps(
  steps: readonly ObservedStep[],
  { run, tools }: { run: 0 | 1; tools: ToolList },
): OpenSession {
  const answers = steps.map(({ observation: { outcome } }): TapedAnswer => {
    // What has any order comes in another one in each run.
    const arranged = dropOrderMarks(outcome, (items) => (run === 0 ? items : items.toReversed()));
    const { result, message } = { result: {}, message: '', ...fillMarks(arranged, run) };
    if (outcome.kind === 'error') return makeErrorAnswer(outcome.code, message);
    return outcome.kind === 'result' ? { kind: 'result', result } : { kind: 'error', error: new Error(outcome.kind) };
  });
  const declared = new Map(tools ?? []);
  for (const { request } of steps) {
    if (request.kind === 'tool' && !declared.has(request.tool)) declared.set(request.tool, unknownTool);
  }
  const next = async (): Promise<unknown> => {
    const answer = answers.shift() ?? makeErrorAnswer(-32_603, 'There is no further answer.');
    if (answer.kind === 'error') throw answer.error;
    return answer.result;
  };
  return async () => ({
    id: undefined,
    handshake: { protocol: 'legacy', protocolVersion: '2025-11-25', name: null, version: null },
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: null,
    offered: [],
    excess: null,
    toolListChanges: 0,
    hasTasks: false,
    callTool: async () => {
      const result = await next();
      const content: unknown = isRecord(result) ? result['content'] : undefined;
      if (!isRecord(result) || !Array.isArray(content)) throw new Error('The result has no content.');
      return { ...result, content };
    },
    listTools: async () => declared,
    request: next,
    subscribe: async () => void (await next()),
    waitForUpdate: async () => void (await next()),
    [Symbol.asyncDispose]: async () => {},
  });
}

const unknownTool: ToolDeclaration = {
  description: null,
  inputSchema: { type: 'object' },
  outputSchema: null,
  annotations: null,
  isReadOnly: false,
  taskSupport: 'forbidden',
  appUri: null,
  isForApps: true,
  isForModels: true,
};

/** What stands for a volatile part of a text, and for a value whose type is not known, in each run. */
const fillers = [
  { text: 'one', value: 'one' },
  { text: 'other', value: 2 },
] as const;

/** Fills the marks of volatile parts. Values in structured content and in JSON are of another type in each run. */
function fillMarks<Value>(value: Value, run: 0 | 1): Value {
  const { text: word, value: member } = fillers[run];
  const fillText = (text: string) => text.replaceAll(volatileMark, word).replaceAll('{{workspace}}', playedWorkspace);
  const fillDocument = (document: unknown): unknown => {
    if (document === volatileMark) return member;
    if (typeof document === 'string') return fillText(document);
    if (Array.isArray(document)) return document.map(fillDocument);
    if (!isRecord(document)) return document;
    return Object.fromEntries(Object.entries(document).map(([name, each]) => [fillText(name), fillDocument(each)]));
  };
  const fillJson = (text: string) => {
    const document = /^\s*[[{]/.test(text) && text.includes(volatileMark) ? tryParseJson(text) : undefined;
    if (typeof document !== 'object' || document === null) return fillText(text);
    const indent = /^\s*[[{]\n( *)/.exec(text)?.[1]?.length ?? 0;
    return JSON.stringify(fillDocument(document), null, indent);
  };
  const filled = mapTexts(value, fillJson);
  if (!isRecord(value) || !isRecord(filled) || !isRecord(value['result'])) return filled;
  const { structuredContent: structured } = value['result'];
  if (structured === undefined || !isRecord(filled['result'])) return filled;
  return { ...filled, result: { ...filled['result'], structuredContent: fillDocument(structured) } };
}
