import { describeError } from '../../base/errors.ts';
import { isRecord, type JsonObject } from '../../base/json.ts';
import { type Clock, race } from '../../base/time.ts';
import { probeStdio, describeModernClient } from '../../mcp/probe-stdio.ts';
import type { Handshake } from '../../mcp/protocol.ts';
import { connectChild } from '../../server/bridge/child.ts';
import {
  createNotification,
  createRequest,
  type Message,
  type MessageId,
  type ResponseMessage,
  createError,
  createResult,
  rpcErrorCodes,
} from '../../server/bridge/bridge-messages.ts';
import type { ProcessExit, ServerProcess } from '../../server/process.ts';

/** The answer to a request, or the event that came instead. */
export type Reply =
  | { kind: 'response'; response: ResponseMessage }
  | { kind: 'ended'; exit: ProcessExit }
  | { kind: 'silent'; isAlive: boolean };

/** A conversation with one process, with one request at a time. Disposing it ends the process. */
export interface Connection extends AsyncDisposable {
  readonly handshake: Handshake;
  /** The capabilities that the server declares in its handshake. */
  readonly capabilities: JsonObject;
  /** True if the process has ended. */
  readonly hasEnded: boolean;
  /** Sends a request and waits for the answer, the end of the process, or the end of the time: that of a call by default. */
  request(method: string, params: JsonObject, afterMs?: number): Promise<Reply>;
  /** Takes the first line on stdout that is no message, once; null if there is none. */
  takeNoise(): string | null;
}

/** The limits of one request, in milliseconds. */
export interface RequestLimits {
  callMs: number;
  /** For a ping after a call that was not answered. */
  pingMs: number;
}

/** The handshake failed: the message says how, and quotes the server. */
export class HandshakeError extends Error {}

/**
 * Connects to a process on stdio and completes the handshake. The client announces no abilities, and answers requests of the server with
 * an error.
 *
 * @throws {HandshakeError} if the process ends, stays silent for `readyMs` or does not speak MCP
 */
export async function connect(
  server: ServerProcess,
  { clock, limits, readyMs, signal }: { clock: Clock; limits: RequestLimits; readyMs: number; signal: AbortSignal },
): Promise<Connection> {
  const child = connectChild(server);
  const waiting = new Map<MessageId, (response: ResponseMessage) => void>();
  let progressCount = 0;
  let noiseTaken: string | null = null;
  let nextId = 0;
  let capabilities: JsonObject = {};
  const onMessage = (message: Message) => {
    if (message.kind === 'response') waiting.get(message.id)?.(message);
    else if (message.kind === 'request') void child.send(answerServer(message));
    else if (message.method === 'notifications/progress') progressCount += 1;
    return undefined;
  };
  child.setListener({ onMessage, onExit: () => {} });

  /** Resolves with null if no answer comes in time. */
  const ask = async (method: string, params: JsonObject, afterMs: number): Promise<Reply | null> => {
    nextId += 1;
    const id = nextId;
    const answer = new Promise<Reply>((resolve) => {
      waiting.set(id, (response) => resolve({ kind: 'response', response }));
    });
    const ended = child.exited.then((exit): Reply => ({ kind: 'ended', exit }));
    void child.send(createRequest(id, method, params));
    try {
      return await race(Promise.race([answer, ended]), {
        signals: [signal],
        timeout: { clock, afterMs, onTimeout: () => null },
      });
    } finally {
      waiting.delete(id);
    }
  };

  const peer = {
    request: async (method: string, params: JsonObject) => {
      const reply = await ask(method, params, readyMs);
      if (reply === null || reply.kind === 'silent') throw new HandshakeError(`it did not answer ${method}`);
      if (reply.kind === 'ended') throw new HandshakeError(describeExit(reply.exit));
      const { result, error, text } = reply.response;
      if (isRecord(result) && isRecord(result['capabilities'])) capabilities = result['capabilities'];
      return { result, isError: error !== null, text };
    },
    notify: async (method: string, params: JsonObject) => await child.send(createNotification(method, params)),
  };
  try {
    const probe = await probeStdio(peer, 'auto');
    if (!probe.ok) {
      throw new HandshakeError(
        'offered' in probe ? `it offers only ${probe.offered.join(', ')}` : `it answered ${probe.answer.slice(0, 200)}`,
      );
    }
    const { handshake } = probe;
    const extra = handshake.protocol === 'modern' ? describeModernClient() : {};
    const pingMethod = handshake.protocol === 'modern' ? 'server/discover' : 'ping';
    return {
      handshake,
      capabilities,
      get hasEnded() {
        return child.hasEnded;
      },
      takeNoise: () => {
        const noise = child.nonProtocolOutput;
        if (noise === noiseTaken) return null;
        noiseTaken = noise;
        return noise;
      },
      request: async (method, params, afterMs = limits.callMs) => {
        const before = progressCount;
        const meta = { ...extra, progressToken: nextId + 1 };
        const reply = await ask(method, { ...params, _meta: meta }, afterMs);
        if (reply !== null) return reply;
        void child.send(createNotification('notifications/cancelled', { requestId: nextId }));
        const isMoving = progressCount > before;
        const ping = isMoving ? null : await ask(pingMethod, { _meta: extra }, limits.pingMs);
        return { kind: 'silent', isAlive: isMoving || ping?.kind === 'response' };
      },
      [Symbol.asyncDispose]: () => child.stop(),
    };
  } catch (error) {
    await child.stop();
    if (error instanceof HandshakeError) throw error;
    signal.throwIfAborted();
    throw new HandshakeError(describeError(error));
  }
}

function answerServer({ id, method }: { id: MessageId; method: string }): Message {
  if (method === 'ping') return createResult(id, {});
  return createError(id, {
    code: rpcErrorCodes.methodNotFound,
    message: `This client does not offer ${method}.`,
  });
}

function describeExit({ code, signal, error, lastLines }: ProcessExit): string {
  const how = error === undefined ? `it ended with ${signal ?? `exit code ${code}`}` : error.message;
  const last = lastLines.at(-1);
  return last === undefined ? how : `${how}; its last line: ${last}`;
}
