import type { HostProfile } from '../hosts/profile.ts';
import { showResult, type ShownPart } from '../hosts/show-result.ts';
import type { ToolOutput } from '../models/conversation.ts';
import type { CallOutput } from './call-output.ts';

/**
 * Renders the answer of a tool as a host shows it. `server` is the name of the server in the configuration of the host. A JSON-RPC error is
 * shown as the error of a tool is.
 */
export function renderInHost(profile: HostProfile, output: CallOutput, server: string): ToolOutput {
  const result =
    output.kind === 'result' ? output.result : { content: [{ type: 'text', text: output.message }], isError: true };
  const { parts, isMarkedError } = showResult(profile, { ...result });
  const isPrefixed = result.isError === true && profile.results.error?.value === 'prefixed';
  // The first part stands for the words of the host, which are written here.
  const shown = isPrefixed ? addPrefix(parts.slice(1), `MCP server ${JSON.stringify(server)}: `) : parts;
  return { content: shown.map(renderPart), isError: isMarkedError === true };
}

function addPrefix([first, ...others]: readonly ShownPart[], prefix: string): ShownPart[] {
  if (first?.kind !== 'text')
    return [{ kind: 'text', text: prefix }, ...(first === undefined ? [] : [first]), ...others];
  return [{ kind: 'text', text: `${prefix}${first.text}` }, ...others];
}

function renderPart(part: ShownPart): ToolOutput['content'][number] {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'file', mediaType: part.mimeType, data: part.data };
    case 'note':
      return { type: 'text', text: `(${part.about.replace(/^an? /, '')})` };
    case 'file':
      return { type: 'text', text: `(a file with ${part.about}, which cannot be read here)` };
  }
}
