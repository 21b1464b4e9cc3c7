import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import type { IncomingMessage } from 'node:http';

import { modernVersion } from '../../mcp/protocol.ts';
import { readHeader } from './exchange.ts';
import { readMeta, rpcErrorCodes } from './messages.ts';
import type { RequestMessage, RpcError } from './messages.ts';

/** Which member of `params` the `Mcp-Name` header repeats, by method (MCP 2026-07-28, Streamable HTTP, Standard Headers). */
const namedBy = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * Checks what MCP 2026-07-28 asks of every HTTP request: it names its protocol version in the body, and the headers that
 * proxies route by agree with the body. Null when they do; else the error to answer with status 400. `Mcp-Param-*` is not
 * checked: only the server knows its tools' schemas, and on stdio no proxy routes by it.
 */
export function judgeRoutingHeaders(message: RequestMessage, request: IncomingMessage): RpcError | null {
  const version = readMeta(message.params)[PROTOCOL_VERSION_META_KEY];
  const versionHeader = readHeader(request, 'mcp-protocol-version');
  if (typeof version !== 'string') {
    if (versionHeader === modernVersion) {
      const text = `The request lacks params._meta[${JSON.stringify(PROTOCOL_VERSION_META_KEY)}].`;
      return { code: rpcErrorCodes.invalidParams, message: text };
    }
    return refuseVersion(versionHeader ?? message.params['protocolVersion'] ?? null);
  }
  const name = message.params[namedBy.get(message.method) ?? ''];
  const expected: Array<[header: string, bodyValue: unknown]> = [
    ['MCP-Protocol-Version', version],
    ['Mcp-Method', message.method],
    ...(typeof name === 'string' ? [['Mcp-Name', name] satisfies [string, string]] : []),
  ];
  for (const [header, bodyValue] of expected) {
    const value = readHeader(request, header.toLowerCase());
    if (value !== undefined && decodeHeaderValue(value) === bodyValue) continue;
    const text = `The ${header} header is ${JSON.stringify(value ?? null)}, but the body says ${JSON.stringify(bodyValue)}.`;
    return { code: rpcErrorCodes.headerMismatch, message: text, data: { header } };
  }
  return version === modernVersion ? null : refuseVersion(version);
}

function refuseVersion(requested: unknown): RpcError {
  return {
    code: rpcErrorCodes.unsupportedProtocolVersion,
    message: `This server speaks MCP ${modernVersion} only.`,
    data: { supported: [modernVersion], requested },
  };
}

/** Values that a header cannot hold come as `=?base64?…?=` over UTF-8; undefined where that is not canonical Base64. */
function decodeHeaderValue(value: string): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes.toString('utf8') : undefined;
}
