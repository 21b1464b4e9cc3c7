import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ToolOutput } from '../models/conversation.ts';
import { type CallOutput, readText } from './call-output.ts';

/**
 * Renders what came back from a tool as a model is shown it: text as text, images as images, links and other blocks as JSON. A result
 * without blocks is its structured content.
 */
export function renderForModel(output: CallOutput): ToolOutput {
  if (output.kind === 'error') return renderError(output.message);
  const { result } = output;
  if (result.isError === true) return renderError(readText(result));
  if (result.content.length > 0) return { content: result.content.map(renderBlock), isError: false };
  return { content: [{ type: 'text', text: JSON.stringify(result.structuredContent ?? {}) }], isError: false };
}

export function renderError(text: string): ToolOutput {
  return { content: [{ type: 'text', text }], isError: true };
}

function renderBlock(block: CallToolResult['content'][number]): ToolOutput['content'][number] {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image', mediaType: block.mimeType, data: block.data };
    case 'resource':
      return { type: 'text', text: 'text' in block.resource ? block.resource.text : JSON.stringify(block.resource) };
    default:
      return { type: 'text', text: JSON.stringify(block) };
  }
}
