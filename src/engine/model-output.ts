import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isRecord, tryParseJson } from '../base/json.ts';
import type { ToolOutput } from '../models/conversation.ts';
import type { CallOutput } from './call-output.ts';

/** A server and its instructions for models; null if it gives none. */
export interface InstructingServer {
  name: string;
  instructions: string | null;
}

/**
 * Builds the system prompt: that of the case, then the complete instructions of each server, with the server's name if there are several.
 * Null if all are empty.
 */
export function renderSystemPrompt(system: string | null, servers: readonly InstructingServer[]): string | null {
  const parts = renderInstructions(servers);
  const all = system === null ? parts : [system, ...parts];
  return all.length === 0 ? null : all.join('\n\n');
}

/** Renders the instructions of each server that gives some, with the server's name if there are several. */
export function renderInstructions(servers: readonly InstructingServer[]): string[] {
  return servers.flatMap(({ name, instructions }) => {
    if (instructions === null || instructions.trim() === '') return [];
    const owner = servers.length > 1 ? `the server ${JSON.stringify(name)}` : 'the server';
    return [`Instructions of ${owner}:\n${instructions}`];
  });
}

/**
 * Renders the answer of a tool for a model: text as text, files as files, links as JSON. Appends structured content as one line of JSON,
 * unless a text block has the same content.
 */
export function renderForModel(output: CallOutput): ToolOutput {
  if (output.kind === 'error') return renderError(output.message);
  const { content, structuredContent, isError = false } = output.result;
  const shown = content.map(renderBlock);
  const isRepeated = content.some((block) => block.type === 'text' && saysSame(block.text, structuredContent));
  if (structuredContent !== undefined && !isRepeated) {
    shown.push({ type: 'text', text: JSON.stringify(structuredContent) });
  }
  if (shown.length === 0 && !isError) shown.push({ type: 'text', text: '{}' });
  return { content: shown, isError };
}

export function renderError(text: string): ToolOutput {
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * Checks if a text repeats structured content as JSON, as MCP asks servers to do, or repeats its only value, as SDKs wrap results that are
 * not objects. Sending both would cost the tokens twice.
 */
function saysSame(text: string, structured: unknown): boolean {
  if (structured === undefined) return false;
  const [only, ...others] = isRecord(structured) ? Object.values(structured) : [];
  const json = tryParseJson(text);
  if (isDeepStrictEqual(json, structured)) return true;
  return only !== undefined && others.length === 0 && (text === only || isDeepStrictEqual(json, only));
}

function renderBlock(block: CallToolResult['content'][number]): ToolOutput['content'][number] {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'file', mediaType: block.mimeType, data: block.data };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return { type: 'text', text: resource.text };
      return { type: 'file', mediaType: resource.mimeType ?? 'application/octet-stream', data: resource.blob };
    }
    case 'resource_link': {
      // Drops icons: they are for people, and their URLs may contain whole images.
      const { icons: _icons, ...link } = block;
      return { type: 'text', text: JSON.stringify(link) };
    }
  }
}
