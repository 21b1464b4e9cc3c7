import { isRecord } from '../../base/json.ts';
import { type Clock, race } from '../../base/time.ts';
import { classifyCallFault } from '../../mcp/faults.ts';
import type { Session } from '../../mcp/session.ts';
import type { Observation, Outcome } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import { fillReferences } from './placeholders.ts';
import { writeRequest } from './write-request.ts';
import { readResult, type World, type WorldSource } from './world.ts';

/** The means to reach a server at a URL. Disposing it ends a server that was started for it. */
export interface RemoteServer extends AsyncDisposable {
  openSession(): Promise<Session>;
}

const noFiles = { added: [], changed: [], removed: [] };

/** The parts of an exploration that a server at a URL does not allow. */
const missing = [
  {
    subject: 'files and network',
    reason: 'the server at a URL works with its own files and network, so no effect on them is seen',
  },
  {
    subject: 'fresh worlds',
    reason: 'each session reaches the same process at the URL, so replays keep its state, its time zone and its paths',
  },
];

/** Makes a source of worlds from a server at a URL: each world is a new session with the same server. */
export function openRemoteWorlds(
  server: RemoteServer,
  { clock, signal, callMs }: { clock: Clock; signal: AbortSignal; callMs: number },
): WorldSource {
  return {
    sandbox: 'none',
    isShared: true,
    isGivenWorkspace: false,
    missing,
    open: async () => createRemoteWorld(await server.openSession(), { clock, signal, callMs }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function createRemoteWorld(
  session: Session,
  { clock, signal, callMs }: { clock: Clock; signal: AbortSignal; callMs: number },
): World {
  let results: unknown[] = [];
  let isLost = false;
  /** Resolves with undefined if no answer comes in time. */
  const ask = async (start: (options: { signal: AbortSignal }) => Promise<unknown>): Promise<unknown> => {
    const controller = new AbortController();
    const asked = start({ signal: AbortSignal.any([signal, controller.signal]) });
    // After the time is over, the request ends with the reason of the signal, which says nothing more.
    asked.catch(() => {});
    const onTimeout = () => {
      controller.abort();
      return undefined;
    };
    return await race(asked, { signals: [signal], timeout: { clock, afterMs: callMs, onTimeout } });
  };
  const start = (request: ExploredRequest, options: { signal: AbortSignal }): Promise<unknown> => {
    if (request.kind === 'tool') {
      const { tool, arguments: args, asTask } = request;
      return session.callTool(tool, args, { ...options, ...(asTask === true && { taskSupport: 'required' }) });
    }
    return session.request(writeRequest(request), options);
  };
  return {
    handshake: session.handshake,
    capabilities: session.capabilities,
    startNoise: null,
    get isLost() {
      return isLost;
    },
    hadFile: () => false,
    beginSession: (earlier = []) => {
      results = [...earlier];
    },
    get results() {
      return results;
    },
    restoreFiles: async () => await Promise.resolve(false),
    send: async (request): Promise<Observation> => {
      const filled = fillReferences(request, results);
      const answer = await ask(async (options) => await start(filled, options)).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      signal.throwIfAborted();
      const outcome = 'error' in answer ? readFault(answer.error) : readAnswer(answer.result);
      function readAnswer(result: unknown): Outcome {
        return result === undefined ? { kind: 'silent', isAlive: true } : readResult(request.kind, result);
      }
      results.push('result' in answer ? answer.result : undefined);
      isLost = outcome.kind === 'ended' || outcome.kind === 'silent';
      return { outcome, files: noFiles, noise: null };
    },
    list: async (method, key) => {
      // All pages are read.
      const result = await ask(async (options) => await session.request({ method }, options));
      return isRecord(result) && Array.isArray(result[key]) ? result[key].filter(isRecord) : null;
    },
    [Symbol.asyncDispose]: async () => await session[Symbol.asyncDispose](),
  };
}

/** A connection that breaks says no more than a process that ends. */
function readFault(error: unknown): Outcome {
  const fault = classifyCallFault(error);
  if (fault.kind === 'answered') return { kind: 'error', code: fault.code ?? 0, message: fault.message };
  if (fault.kind === 'malformed') return { kind: 'malformed', message: fault.message };
  return { kind: 'ended', exitCode: null, signal: null, lastLines: [fault.message] };
}
