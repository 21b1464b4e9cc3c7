import type { IncomingMessage } from 'node:http';
import { LOG_LEVEL_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { describeError } from '../../base/errors.ts';
import { modernVersion } from '../../mcp/protocol.ts';
import type { ProcessExit } from '../process.ts';
import type { ChildPool } from './child-pool.ts';
import type { ProcessChild } from './child.ts';
import { type Exchange, type ProtocolAdapter, readHeader, refuse } from './exchange.ts';
import {
  type Message,
  type NotificationMessage,
  readMeta,
  renderError,
  type RequestMessage,
  type RpcError,
  rpcErrorCodes,
} from './messages.ts';
import { openReply, type Reply } from './reply.ts';
import { createRequestIds, type RequestIds } from './request-ids.ts';
import { describeEnd } from './session.ts';

/** The statuses for errors of the protocol itself; errors of a tool are results (MCP 2026-07-28). */
const statusByErrorCode = new Map<number, number>([
  [rpcErrorCodes.methodNotFound, 404],
  [rpcErrorCodes.headerMismatch, 400],
  [rpcErrorCodes.missingClientCapability, 400],
  [rpcErrorCodes.unsupportedProtocolVersion, 400],
]);

/**
 * The most messages that a server may send to a call before the call is cancelled. Above this, the server probably continues: its
 * messages would reach the next request, which stdio cannot distinguish.
 */
const maxMessagesBeforeCancel = 1000;

/** A request that waits for its answer. */
interface Waiting {
  request: RequestMessage;
  reply: Reply;
  /** The number of messages that the server is known to have sent for it. */
  messages: number;
}

/** The process that serves, with the requests that it has not answered. */
interface Serving {
  child: ProcessChild;
  requestIds: RequestIds<Waiting>;
}

/**
 * Serves the stateless protocol (MCP 2026-07-28). The requests of all clients go to one process. If a client closes a response stream,
 * the server gets `notifications/cancelled`, the form of cancelling on stdio. After a process has ended, the next request starts another.
 */
export function serveStateless(pool: ChildPool): ProtocolAdapter {
  /** Has more than one entry only while the output of an ended process is still being read. */
  const servings = new Set<Serving>();
  let current: Promise<Serving> | undefined;

  /** Disconnects a client that does not read, instead of waiting for it: the others use the same process. */
  const onMessage = (message: Message, { requestIds }: Serving): undefined => {
    if (message.kind === 'response') {
      const answered = requestIds.resolve(message);
      const status = statusByErrorCode.get(message.error?.code ?? 0) ?? 200;
      answered?.owner.reply.end(answered.message.text, status);
    } else if (message.kind === 'notification') {
      const located = requestIds.locate(message) ?? attribute(message, requestIds.listOwners());
      if (located === undefined) return undefined;
      located.owner.messages += 1;
      void located.owner.reply.send(located.message.text);
    } else {
      // In this revision, servers send no requests. A client does not answer one, but counts it towards the limits of the server's
      // traffic.
      const owners = requestIds.listOwners();
      for (const owner of owners) owner.messages += 1;
      void findOnlyCall(owners)?.reply.send(message.text);
    }
    return undefined;
  };
  const finish = (serving: Serving, exit: ProcessExit | null) => {
    servings.delete(serving);
    for (const { request, reply } of serving.requestIds.listOwners()) {
      reply.end(renderError(request.id, describeEnd(exit)));
    }
    serving.requestIds.clear();
  };
  const start = async (): Promise<Serving> => {
    const serving: Serving = { child: await pool.take(), requestIds: createRequestIds() };
    servings.add(serving);
    serving.child.setListener({
      onMessage: (message) => onMessage(message, serving),
      onExit: (exit) => finish(serving, exit),
    });
    return serving;
  };
  const ensureServing = async (): Promise<Serving> => {
    for (;;) {
      const asked = (current ??= start());
      const serving = await asked.catch(() => undefined);
      if (serving !== undefined && !serving.child.hasEnded && !serving.child.isEnding) return serving;
      // Requests that wait at the same time share the next process.
      if (current === asked) current = undefined;
      if (serving === undefined) return await asked;
      if (serving.child.isEnding) finish(serving, null);
    }
  };

  // Starts the process now, so that it is ready for the first request, which also reports a failed start.
  ensureServing().catch(() => {});

  const forward = async (request: RequestMessage, exchange: Exchange) => {
    const { child, requestIds } = await ensureServing();
    const waiting: Waiting = { request, reply: openReply(exchange.response, { format: 'auto' }), messages: 0 };
    if (exchange.signal.aborted) return;
    exchange.signal.addEventListener('abort', () => {
      const cancelled = requestIds.cancel((owner) => owner === waiting, {});
      for (const notification of cancelled) void child.send(notification);
      if (cancelled.length === 0 || waiting.messages <= maxMessagesBeforeCancel) return;
      child.expel(`A request was given up after the server had sent ${waiting.messages} messages to it`);
    });
    await child.send(requestIds.assign(request, waiting));
  };
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
      try {
        if (message.kind === 'request') {
          const fault = judgeRoutingHeaders(message, exchange.request);
          if (fault === null) await forward(message, exchange);
          else refuse(exchange, 400, { id: message.id, ...fault });
          return;
        }
        // Over HTTP, no message cancels a request, and its id could be the id of another client's request here.
        if (message.method !== 'notifications/cancelled') await (await ensureServing()).child.send(message);
        exchange.response.writeHead(202).end();
      } catch (error) {
        const id = message.kind === 'request' ? { id: message.id } : {};
        refuse(exchange, 503, { ...id, message: describeError(error), data: { reason: 'server_exited' } });
      }
    },
    get: refuseMethod,
    delete: refuseMethod,
    tick: () => {
      for (const { requestIds } of servings) for (const { reply } of requestIds.listOwners()) reply.keepAlive();
    },
    [Symbol.asyncDispose]: async () => {
      for (const serving of servings) finish(serving, null);
      await pool[Symbol.asyncDispose]();
    },
  };
}

/**
 * Finds the request of a log message, which names none on stdio: the only request that can have caused it. Undefined if there are
 * several.
 */
function attribute(message: NotificationMessage, owners: readonly Waiting[]) {
  const asking = owners.filter((owner) => readMeta(owner.request.params)[LOG_LEVEL_META_KEY] !== undefined);
  const [owner] = owners.length === 1 ? owners : asking;
  return owner === undefined || (owners.length > 1 && asking.length > 1) ? undefined : { owner, message };
}

/** Finds the only request in flight that is no subscription, or the only subscription; undefined if there are several. */
function findOnlyCall(owners: readonly Waiting[]): Waiting | undefined {
  const calls = owners.filter(({ request }) => request.method !== 'subscriptions/listen');
  const candidates = calls.length === 0 ? owners : calls;
  return candidates.length === 1 ? candidates[0] : undefined;
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
