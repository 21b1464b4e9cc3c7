import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { type CallOutput, readText } from './transcript.ts';

/**
 * Renders what came back from a tool as a model is shown it: text as text, images and sounds as files, links and other blocks as
 * JSON. A result without blocks is its structured content.
 */
export function renderForModel(output: CallOutput): LanguageModelV4ToolResultOutput {
  if (output.kind === 'error') return { type: 'error-text', value: output.message };
  const { result } = output;
  if (result.isError === true) return { type: 'error-text', value: readText(result) };
  const { content } = result;
  if (content.length === 0) return { type: 'text', value: JSON.stringify(result.structuredContent ?? {}) };
  if (content.every(({ type }) => type === 'text')) return { type: 'text', value: readText(result) };
  return { type: 'content', value: content.map(renderBlock) };
}

type Rendered = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];

function renderBlock(block: CallToolResult['content'][number]): Rendered {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'file', data: { type: 'data', data: block.data }, mediaType: block.mimeType };
    case 'resource':
      return { type: 'text', text: 'text' in block.resource ? block.resource.text : JSON.stringify(block.resource) };
    case 'resource_link':
      return { type: 'text', text: JSON.stringify(block) };
    default:
      return { type: 'text', text: JSON.stringify(block) };
  }
}
