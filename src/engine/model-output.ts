import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isRecord, tryParseJson } from '../base/json.ts';
import type { ToolOutput } from '../models/conversation.ts';
import type { CallOutput } from './call-output.ts';

/** What a server says of its own use; null where it says nothing. */
export interface InstructingServer {
  name: string;
  instructions: string | null;
}

/**
 * Writes the system prompt: that of the case, then the whole instructions of each server, under its name where there are several. Null
 * where there is nothing to say.
 */
export function renderSystemPrompt(system: string | null, servers: readonly InstructingServer[]): string | null {
  const parts = servers.flatMap(({ name, instructions }) => {
    if (instructions === null || instructions.trim() === '') return [];
    const owner = servers.length > 1 ? `the server ${JSON.stringify(name)}` : 'the server';
    return [`Instructions of ${owner}:\n${instructions}`];
  });
  const all = system === null ? parts : [system, ...parts];
  return all.length === 0 ? null : all.join('\n\n');
}

/**
 * Renders what came back from a tool as a model is shown it: text as text, files as files, links as JSON. Structured content follows as
 * JSON on one line, unless a text says the same.
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
 * Whether a text is structured content as JSON, which MCP asks servers to send, or the only value in it, as SDKs wrap what is no object.
 * Twice the same costs tokens twice.
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
      // Pictures for people, which may be whole in their address.
      const { icons: _icons, ...link } = block;
      return { type: 'text', text: JSON.stringify(link) };
    }
  }
}
