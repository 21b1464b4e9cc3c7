import { inspect } from 'node:util';
import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { createRedactor, type Redactor } from '../../../src/base/redaction.ts';
import type {
  ModelAnswer,
  ModelCall,
  ModelName,
  ModelRequest,
  ModelSession,
  ModelSource,
} from '../../../src/models/language-model.ts';
import { createFingerprinter } from '../../../src/models/recordings/fingerprint.ts';
import {
  findUsable,
  parseRecording,
  printRecording,
  type ReadRecording,
  type Recording,
} from '../../../src/models/recordings/format.ts';
import { listTools } from '../../../src/models/recordings/files.ts';
import { compileIgnore } from '../../../src/models/recordings/ignore.ts';
import { createRecorder, mergeRecording, type Recorder } from '../../../src/models/recordings/recorded-answer.ts';
import { createRecordedSource, type RecordingsMode } from '../../../src/models/recordings/source.ts';

/** Everything that a conversation is made of. What is in it decides every call. */
export interface Scenario {
  model: ModelName;
  system: string;
  prompts: string[];
  tools: ModelCall['tools'];
  parameters: Omit<ModelCall, 'prompt' | 'tools'>;
  /** What each tool returns. */
  outputs: Record<string, LanguageModelV4ToolResultPart['output']>;
  /** The tools that the scripted model calls together, answer by answer, before it answers in words. */
  script: string[][];
}

export function createScenario(changes: Partial<Scenario> = {}): Scenario {
  return {
    model: { provider: 'anthropic', name: 'claude-haiku-4.5' },
    system: 'You help people find their notes.',
    prompts: ['What does note 7 say?'],
    tools: [
      {
        type: 'function',
        name: 'read_note',
        description: 'Reads a note.',
        inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      },
      { type: 'function', name: 'list_notes', description: 'Lists all notes.', inputSchema: { type: 'object' } },
    ],
    parameters: { temperature: 0 },
    outputs: {
      read_note: { type: 'content', value: [{ type: 'text', text: '{"id":7,"text":"Buy milk","readAt":"12:00"}' }] },
      list_notes: { type: 'json', value: { content: [], structuredContent: { notes: [{ id: 7, title: 'Milk' }] } } },
    },
    script: [['read_note']],
    ...changes,
  };
}

const usage: ModelAnswer['usage'] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/**
 * A model that is a pure function of the call. It says the whole call, keys sorted, so that no two calls that differ have the same
 * answer.
 */
export function answerPurely({ script }: Pick<Scenario, 'script'>, call: ModelCall): ModelAnswer {
  // What travels; an object's prototype does not.
  const saw = inspect(JSON.parse(JSON.stringify(call)), {
    depth: null,
    sorted: true,
    maxStringLength: null,
    maxArrayLength: null,
    breakLength: Infinity,
  });
  const lastUser = call.prompt.findLastIndex(({ role }) => role === 'user');
  const step = call.prompt.slice(lastUser).filter(({ role }) => role === 'assistant').length;
  const calls = script[step] ?? [];
  // The ids that recordings use, so that a replayed conversation is the recorded one in every part.
  const earlier = call.prompt.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool-call'),
  ).length;
  return {
    content: [
      { type: 'text', text: `saw ${saw.length} ${hashText(saw)}` },
      ...calls.map((toolName, index) => ({
        type: 'tool-call' as const,
        toolCallId: `call${String(earlier + index + 1).padStart(5, '0')}`,
        toolName,
        input: '{"id":7}',
      })),
    ],
    finishReason: { unified: calls.length === 0 ? 'stop' : 'tool-calls', raw: undefined },
    usage,
    isReplayed: false,
  };
}

/** FNV-1a, so that the tests share no hash with what they test. */
function hashText(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16);
}

export interface ScriptedSource extends ModelSource {
  calls: number;
}

export function createScriptedSource(
  scenario: Scenario,
  answer: (call: ModelCall) => ModelAnswer = (call) => answerPurely(scenario, call),
): ScriptedSource {
  const source: ScriptedSource = {
    calls: 0,
    findProblem: () => null,
    openSession: async ({ model }) => ({
      model,
      answer: async (call) => {
        source.calls += 1;
        return answer(call);
      },
    }),
  };
  return source;
}

export interface Exchange {
  call: ModelCall;
  answer: ModelAnswer;
}

/** Leads a conversation as an iteration does: prompts one after the other, and tools until the model calls none. */
export async function converse(
  session: ModelSession,
  scenario: Scenario,
  exchanges: Exchange[] = [],
): Promise<Exchange[]> {
  const { signal } = new AbortController();
  const prompt: LanguageModelV4Message[] = [{ role: 'system', content: scenario.system }];
  for (const text of scenario.prompts) {
    prompt.push({ role: 'user', content: [{ type: 'text', text }] });
    for (;;) {
      const call = { prompt: [...prompt], tools: scenario.tools, ...scenario.parameters };
      const answer = await session.answer(call, { signal });
      exchanges.push({ call, answer });
      const toolCalls = answer.content.filter((part) => part.type === 'tool-call');
      prompt.push({
        role: 'assistant',
        content: answer.content
          .filter((part) => part.type === 'text' || part.type === 'tool-call')
          .map((part) => (part.type === 'text' ? part : { ...part, input: JSON.parse(part.input) })),
      });
      if (toolCalls.length === 0) break;
      prompt.push({
        role: 'tool',
        content: toolCalls.map(({ toolCallId, toolName }) => ({
          type: 'tool-result' as const,
          toolCallId,
          toolName,
          output: scenario.outputs[toolName] ?? { type: 'error-text', value: 'Unknown tool.' },
        })),
      });
    }
  }
  return exchanges;
}

export const recordedOn = Date.parse('2026-03-01T10:00:00.000Z');
export const day = 24 * 3_600_000;

/** Why a provider without a key cannot be called. */
export const noKey = 'ANTHROPIC_API_KEY is not set.';

export interface SourceSetup {
  mode: RecordingsMode;
  recording?: ReadRecording | null;
  live?: ModelSource | null;
  hasKey?: boolean;
  ignore?: string[];
  redactor?: Redactor;
  maximumAgeMs?: number;
  nowMs?: number;
  reuse?: 'uncalled' | null;
  onReuse?: (request: ModelRequest, tools: readonly string[]) => void;
}

export function createSource(setup: SourceSetup): { source: ModelSource; recorder: Recorder } {
  const redactor = setup.redactor ?? createRedactor();
  const recorder = createRecorder({ redactor });
  const fingerprinter = createFingerprinter({ redactor, ignore: compileIgnore(setup.ignore ?? []) });
  const source = createRecordedSource({
    mode: setup.mode,
    findCase: () => ({ recording: setup.recording ?? null, reuse: setup.reuse ?? null, fingerprinter }),
    live: setup.live ?? null,
    findProviderProblem: () => (setup.hasKey === true ? null : noKey),
    maximumAgeMs: () => setup.maximumAgeMs ?? 30 * day,
    now: () => setup.nowMs ?? recordedOn,
    recorder,
    ...(setup.onReuse !== undefined && { onReuse: setup.onReuse }),
  });
  return { source, recorder };
}

export function createRequest(model: ModelName, iterationNumber = 1): ModelRequest {
  return { model, caseId: 'reads-a-note', iterationNumber, apiKeys: new Map() };
}

export const providerPackage = { name: '@ai-sdk/anthropic', version: '4.0.105' };

/** Records iterations of a scenario, and reads the recording as a file would bring it back. */
export async function record(
  scenario: Scenario,
  setup: Omit<SourceSetup, 'mode'> & { iterations?: number } = {},
): Promise<Recording> {
  const { source, recorder } = createSource({ live: createScriptedSource(scenario), ...setup, mode: 'record' });
  for (let iteration = 1; iteration <= (setup.iterations ?? 1); iteration += 1) {
    await converse(await source.openSession(createRequest(scenario.model, iteration)), scenario);
  }
  const [collected] = recorder.list();
  return reread(mergeRecording(null, collected!, providerPackage));
}

/** Returns a recording as its files would bring it back. */
export function reread(recording: Recording): Recording {
  const read = findUsable(parseRecording(printRecording(recording), 'recording.jsonl', listTools(recording)));
  if (read === null) throw new Error('The recording cannot be read back.');
  return read;
}
