import type { IncomingMessage } from 'node:http';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { modernVersion } from '../../mcp/protocol.ts';
import { type Exchange, type ProtocolAdapter, readHeader, refuse } from './exchange.ts';
import { createError, readMeta, type RequestMessage, type RpcError, rpcErrorCodes } from './bridge-messages.ts';
import { createReplies } from './reply.ts';
import { describeFailedStart } from './session.ts';
import type { StatelessServer } from './stateless-server.ts';

/** Serves the stateless protocol (MCP 2026-07-28) over HTTP. A client cancels a request by closing its response stream. */
export function serveStateless(server: StatelessServer): ProtocolAdapter {
  const replies = createReplies();
  const refuseMethod = async (exchange: Exchange) =>
    refuse(exchange, 405, { message: 'Method not allowed.', headers: { allow: 'POST' } });

  return {
    post: async (message, exchange) => {
      if (message.kind === 'response') {
        refuse(exchange, 400, {
          code: rpcErrorCodes.invalidRequest,
          message: 'This server asks nothing, so expects no answer.',
        });
        return;
      }
      if (message.kind === 'notification') {
        try {
          await server.notify(message);
          exchange.response.writeHead(202).end();
        } catch (error) {
          refuse(exchange, 503, describeFailedStart(error));
        }
        return;
      }
      const fault = judgeRoutingHeaders(message, exchange.request);
      if (fault !== null) {
        refuse(exchange, 400, { id: message.id, ...fault });
        return;
      }
      const reply = replies.open(exchange.response, { format: 'auto' });
      await server
        .request(message, reply, exchange.signal)
        .catch((error: unknown) => reply.end(createError(message.id, describeFailedStart(error)), 503));
    },
    get: refuseMethod,
    delete: refuseMethod,
    tick: () => replies.keepAlive(),
    [Symbol.asyncDispose]: async () => server.end(),
  };
}

/** Maps each method to the member of `params` that the `Mcp-Name` header repeats (MCP 2026-07-28, Streamable HTTP, Standard Headers). */
const namedBy = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * Checks the requirements of MCP 2026-07-28 for every HTTP request: the body names the protocol version, and the headers for routing by
 * proxies match the body. Null if it is valid; else the error for status 400. `Mcp-Param-*` is not checked: only the server knows its
 * tools' schemas, and with stdio no proxy routes by them.
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

/** Decodes `=?base64?…?=` over UTF-8, the form of values that a header cannot hold; undefined if it is not canonical Base64. */
function decodeHeaderValue(value: string): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes.toString('utf8') : undefined;
}
