import type { LanguageModelV4FinishReason, LanguageModelV4Prompt, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from '@modelcontextprotocol/client';
import { isRecord, tryParseJson } from '../base/json.ts';
import type { SamplingAnswer } from '../model/client-abilities.ts';
import {
  type FunctionTool,
  isCutOff,
  type ModelAnswer,
  type ModelCall,
  type ModelSession,
} from '../models/language-model.ts';
import { toAssistantMessage, toToolMessage, type ToolResult } from '../models/model-messages.ts';
import type { CallOrigin } from './span-parts.ts';
import type { Transcript } from './transcript.ts';

type SamplingResult = CreateMessageResult | CreateMessageResultWithTools;
type SamplingMessage = CreateMessageRequestParams['messages'][number];
type Block = Exclude<SamplingMessage['content'], unknown[]>;

/**
 * Answers a sampling request of a server with the case's model.
 *
 * @throws {ModelError} if the model gives no answer
 */
export type SampleModel = (request: CreateMessageRequestParams, origin: CallOrigin | null) => Promise<SamplingResult>;

/** Creates the sampling function of an iteration. It answers concurrent requests one after the other. */
export function createSampleModel(
  openModel: () => Promise<ModelSession>,
  { transcript, signal }: { transcript: Transcript; signal: AbortSignal },
): SampleModel {
  let last: Promise<unknown> = Promise.resolve();
  return async (request, origin) => {
    const answering = last.then(async () => {
      const session = await openModel();
      const askedAtMs = transcript.elapsedMs();
      const answer = await session.answer(toModelCall(request), { signal });
      transcript.addSample(answer, { model: session.model, origin, askedAtMs });
      return toResult(answer, session.model.name);
    });
    last = answering.catch(() => {});
    return await answering;
  };
}

/** Returns the text of a sampling request. Excludes the system prompt of the server. */
export function readSamplingText({ messages }: CreateMessageRequestParams): string {
  return messages
    .flatMap(({ content }) => listBlocks(content))
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');
}

/** Converts a scripted answer into the result for the server. */
export function toSamplingResult(answer: SamplingAnswer): SamplingResult {
  const shared = { role: 'assistant' as const, model: 'scripted' };
  if ('text' in answer) {
    return { ...shared, stopReason: 'endTurn', content: { type: 'text', text: answer.text } };
  }
  if ('image' in answer) {
    const { image: data, mimeType } = answer;
    return { ...shared, stopReason: 'endTurn', content: { type: 'image', data, mimeType } };
  }
  const uses = Array.isArray(answer.toolUse) ? answer.toolUse : [answer.toolUse];
  return {
    ...shared,
    stopReason: 'toolUse',
    content: uses.map(({ name, input = {} }, index) => ({ type: 'tool_use', id: `use_${index + 1}`, name, input })),
  };
}

function listBlocks(content: SamplingMessage['content']): Block[] {
  return Array.isArray(content) ? content : [content];
}

function toModelCall(request: CreateMessageRequestParams): ModelCall {
  const { messages, systemPrompt, maxTokens, temperature, tools = [], toolChoice } = request;
  const names = new Map<string, string>();
  const prompt: LanguageModelV4Prompt = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }];
  for (const { role, content } of messages) {
    const blocks = listBlocks(content);
    if (role === 'assistant') {
      prompt.push(toAssistantMessage({ content: blocks.flatMap((block) => toAssistantPart(block, names)) }));
      continue;
    }
    const results = blocks.flatMap((block) => toToolResult(block, names));
    if (results.length > 0) prompt.push(toToolMessage(results));
    const parts = blocks.flatMap(toUserPart);
    if (parts.length > 0) prompt.push({ role: 'user', content: parts });
  }
  return {
    prompt,
    tools: tools.map(({ name, description, inputSchema }): FunctionTool => ({
      type: 'function',
      name,
      ...(description !== undefined && { description }),
      inputSchema,
    })),
    ...(toolChoice?.mode !== undefined && {
      toolChoice: { type: toolChoice.mode } satisfies LanguageModelV4ToolChoice,
    }),
    ...(temperature !== undefined && { temperature }),
    maxOutputTokens: maxTokens,
  };
}

function toAssistantPart(block: Block, names: Map<string, string>): ModelAnswer['content'] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type !== 'tool_use') return [];
  names.set(block.id, block.name);
  return [{ type: 'tool-call', toolCallId: block.id, toolName: block.name, input: JSON.stringify(block.input) }];
}

function toToolResult(block: Block, names: ReadonlyMap<string, string>): ToolResult[] {
  if (block.type !== 'tool_result') return [];
  const { toolUseId: toolCallId, content, isError = false } = block;
  const parts = content.flatMap((part): ToolResult['content'] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    return part.type === 'image' ? [{ type: 'file', mediaType: part.mimeType, data: part.data }] : [];
  });
  return [{ toolCallId, toolName: names.get(toolCallId) ?? 'tool', content: parts, isError }];
}

type UserPart = Extract<LanguageModelV4Prompt[number], { role: 'user' }>['content'][number];

function toUserPart(block: Block): UserPart[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type !== 'image' && block.type !== 'audio') return [];
  return [{ type: 'file', mediaType: block.mimeType, data: { type: 'data', data: block.data } }];
}

const stopReasons: { readonly [Reason in LanguageModelV4FinishReason['unified']]?: string } = {
  stop: 'endTurn',
  'tool-calls': 'toolUse',
};

function toResult(answer: ModelAnswer, model: string): SamplingResult {
  const { content, finishReason } = answer;
  const stopReason = isCutOff(answer) ? 'maxTokens' : (stopReasons[finishReason.unified] ?? finishReason.unified);
  const blocks = content.flatMap((part): Block[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'tool-call') return [];
    const input = tryParseJson(part.input);
    const { toolCallId: id, toolName: name } = part;
    return [{ type: 'tool_use', id, name, input: isRecord(input) ? input : {} }];
  });
  const [only = { type: 'text', text: '' }] = blocks;
  // Only requests with tools allow several blocks in the answer.
  const isPlain = blocks.length <= 1 && only.type === 'text';
  return { role: 'assistant', model, stopReason, content: isPlain ? only : blocks };
}
