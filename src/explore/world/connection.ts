import { describeError } from '../../base/errors.ts';
import { isRecord, type JsonObject } from '../../base/json.ts';
import { type Clock, race } from '../../base/time.ts';
import { announceNames } from '../../mcp/abilities.ts';
import { probeStdio, describeModernClient } from '../../mcp/probe-stdio.ts';
import type { Handshake } from '../../mcp/protocol.ts';
import type { Ability } from '../../model/client-abilities.ts';
import { findReason } from '../../model/process-end.ts';
import { connectChild } from '../../server/bridge/child.ts';
import {
  createNotification,
  createRequest,
  type Message,
  type MessageId,
  type RequestMessage,
  type ResponseMessage,
  createError,
  createResult,
  rpcErrorCodes,
} from '../../server/bridge/bridge-messages.ts';
import type { ProcessExit, ServerProcess } from '../../server/process.ts';
import type { AskedRequest } from '../exploration.ts';
import { callAsTask } from './call-as-task.ts';
import type { CallReply, Reply, SendRequest } from './reply.ts';

/** Answers a request of the server to its client; null if the client does not offer it. */
export type AnswerClient = (method: string, params: JsonObject) => { result: JsonObject; asked: AskedRequest } | null;

/** A conversation with one process, with one request at a time. Disposing it ends the process. */
export interface Connection extends AsyncDisposable {
  readonly handshake: Handshake;
  /** The capabilities that the server declares in its handshake. */
  readonly capabilities: JsonObject;
  /** True if the process has ended. */
  readonly hasEnded: boolean;
  readonly request: SendRequest;
  /** Calls a tool as a task, and waits for the end of the task, for the time of a call. */
  callAsTask(params: JsonObject): Promise<CallReply>;
  /** Takes the first line on stdout that is no message, once; null if there is none. */
  takeNoise(): string | null;
  /** Takes the requests of the server to its client since the last time. */
  takeAsked(): AskedRequest[];
}

/** The limits of one request, in milliseconds. */
export interface RequestLimits {
  callMs: number;
  /** For a ping after a call that was not answered. */
  pingMs: number;
}

/** The handshake failed: the message says how, and quotes the server. */
export class HandshakeError extends Error {}

/** The most answers for one request. A server that asks again and again would never end. */
const maxAnswers = 8;
/** The same for roots, which some servers ask for before each step. */
const maxRoots = 200;

/**
 * Connects to a process on stdio and completes the handshake. The client announces the abilities that it `offers`, and answers the requests for
 * these.
 *
 * @throws {HandshakeError} if the process ends, stays silent for `readyMs` or does not speak MCP
 */
export async function connect(
  server: ServerProcess,
  {
    clock,
    limits,
    readyMs,
    signal,
    answer,
    offers,
  }: {
    clock: Clock;
    limits: RequestLimits;
    readyMs: number;
    signal: AbortSignal;
    answer: AnswerClient;
    offers: readonly Ability[];
  },
): Promise<Connection> {
  const child = connectChild(server);
  const waiting = new Map<MessageId, (response: ResponseMessage) => void>();
  let progressCount = 0;
  let noiseTaken: string | null = null;
  let nextId = 0;
  let capabilities: JsonObject = {};
  const announced = announceNames(offers);
  let asked: AskedRequest[] = [];
  let answers = 0;
  let rootsGiven = 0;
  /** Answers a request of the server; null if the client does not offer it, or has answered too often. */
  const answerOne = (method: string, params: unknown): JsonObject | null => {
    const given = answer(method, isRecord(params) ? params : {});
    if (given === null || !offers.includes(given.asked.ability)) return null;
    if (given.asked.ability === 'roots') {
      // The answer is always the same, so that one of them counts.
      if (rootsGiven === 0) asked.push(given.asked);
      rootsGiven += 1;
      return rootsGiven <= maxRoots ? given.result : null;
    }
    answers += 1;
    if (answers <= maxAnswers) {
      asked.push(given.asked);
      return given.result;
    }
    if (given.asked.ability !== 'elicitation' || answers > 2 * maxAnswers) return null;
    asked.push({ ...given.asked, answer: 'cancel' });
    return { action: 'cancel' };
  };
  const answerServer = ({ id, method, params }: RequestMessage): Message | null => {
    if (method === 'ping') return createResult(id, {});
    const result = answerOne(method, params);
    if (result !== null) return createResult(id, result);
    // A server that does not accept a refusal gets none any more.
    if (answers > 2 * maxAnswers) return null;
    const message = `This client does not offer ${method}.`;
    return createError(id, { code: rpcErrorCodes.methodNotFound, message });
  };
  /** Answers the questions of an `input_required` result; null if the client does not answer each of them. */
  const answerQuestions = (questions: unknown): JsonObject | null => {
    const entries = Object.entries(isRecord(questions) ? questions : {}).map(([key, question]) => {
      const { method, params } = isRecord(question) ? question : {};
      return [key, typeof method === 'string' ? answerOne(method, params) : null] as const;
    });
    return answers > maxAnswers || entries.some(([, result]) => result === null) ? null : Object.fromEntries(entries);
  };
  const onMessage = (message: Message) => {
    if (message.kind === 'response') waiting.get(message.id)?.(message);
    else if (message.kind === 'request') {
      const own = answerServer(message);
      if (own !== null) void child.send(own);
    } else if (message.method === 'notifications/progress') progressCount += 1;
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
    const probe = await probeStdio(peer, 'auto', announced);
    if (!probe.ok) {
      throw new HandshakeError(
        'offered' in probe ? `it offers only ${probe.offered.join(', ')}` : `it answered ${probe.answer.slice(0, 200)}`,
      );
    }
    const { handshake } = probe;
    const extra = handshake.protocol === 'modern' ? describeModernClient(announced) : {};
    const pingMethod = handshake.protocol === 'modern' ? 'server/discover' : 'ping';
    const request: SendRequest = async (method, params, afterMs = limits.callMs) => {
      const before = progressCount;
      answers = 0;
      rootsGiven = 0;
      let round: JsonObject = {};
      for (;;) {
        const meta = { ...extra, progressToken: nextId + 1 };
        const reply = await ask(method, { ...params, ...round, _meta: meta }, afterMs);
        if (reply === null) break;
        const required = handshake.protocol === 'modern' ? readInputRequired(reply) : null;
        if (required === null) return reply;
        const inputResponses = answerQuestions(required['inputRequests']);
        // It asks for more than it gets.
        if (inputResponses === null) return { kind: 'silent', isAlive: true };
        const { requestState } = required;
        round = { inputResponses, ...(requestState !== undefined && { requestState }) };
      }
      void child.send(createNotification('notifications/cancelled', { requestId: nextId }));
      const isMoving = progressCount > before;
      const ping = isMoving ? null : await ask(pingMethod, { _meta: extra }, limits.pingMs);
      return { kind: 'silent', isAlive: isMoving || ping?.kind === 'response' };
    };
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
      takeAsked: () => {
        const taken = asked;
        asked = [];
        return taken;
      },
      request,
      callAsTask: async (params) => await callAsTask(request, params, { clock, signal, limitMs: limits.callMs }),
      [Symbol.asyncDispose]: () => child.stop(),
    };
  } catch (error) {
    await child.stop();
    if (error instanceof HandshakeError) throw error;
    signal.throwIfAborted();
    throw new HandshakeError(describeError(error));
  }
}

/** Reads a result of 2026-07-28 that asks the client for something first; null for another answer. */
function readInputRequired(reply: Reply): JsonObject | null {
  const result = reply.kind === 'response' ? reply.response.result : undefined;
  return isRecord(result) && result['resultType'] === 'input_required' ? result : null;
}

function describeExit({ code, signal, error, lastLines }: ProcessExit): string {
  const how = error === undefined ? `it ended with ${signal ?? `exit code ${code}`}` : error.message;
  const reason = findReason(lastLines);
  return reason === null ? how : `${how}; it wrote: ${reason}`;
}
