import { ServerStartError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { clipText } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { probeStdio, type StdioPeer } from '../mcp/probe-stdio.ts';
import { type Handshake, listEras } from '../mcp/protocol.ts';
import type { ProcessWitness } from '../model/process-end.ts';
import { type ChildPool, type ChildSource, createChildPool, type PoolEvents } from './bridge/child-pool.ts';
import { type Child, connectChild, type ProcessChild } from './bridge/child.ts';
import { openSessionChannel, openStatelessChannel, type StdioChannel } from './bridge/channel.ts';
import type { ProtocolAdapter } from './bridge/exchange.ts';
import { type Bridge, createToken, openBridge } from './bridge/listen.ts';
import {
  createNotification,
  createRequest,
  type Message,
  type RequestMessage,
  type ResponseMessage,
} from './bridge/bridge-messages.ts';
import { continueOpening, holdOpen, isSameOpening } from './bridge/opening.ts';
import { serveSessions } from './bridge/sessions.ts';
import { shareChild } from './bridge/shared-child.ts';
import { recordExits, type SessionExits } from './bridge/session.ts';
import { createStatelessServer } from './bridge/stateless-server.ts';
import { serveStateless } from './bridge/stateless.ts';
import { startServerProcess } from './container-file.ts';
import type { ProcessExit } from './process.ts';
import { waitForReadiness } from './ready.ts';
import type {
  ReachedServer,
  ServerInstance,
  ServerOptions,
  SessionPlan,
  StartContext,
  WantedProtocol,
} from './running-server.ts';
import {
  createExitError,
  createLostError,
  createRevisionError,
  createUnstableError,
  tailLines,
} from './start-error.ts';
import { recordVisits, type SharedProcessRecord, toProcessEnd, witnessSessions, witnessShared } from './witness.ts';

/** The most sessions at the same time; each may need a process. */
const defaultMaxSessions = 32;

/**
 * The time limit of an idle session: long enough for a model's answer between two calls. It is shorter if the next session waits for this
 * one.
 */
const idleTimeoutMs = { iteration: 5 * 60_000, run: 60_000 };

/**
 * Checks that the command speaks MCP on stdio. Clients in this process speak with its processes through their pipes; it is served over
 * HTTP once another client needs that. Other output on stdout is skipped with one warning: many servers
 * print a greeting there, and most clients ignore it.
 */
export async function openStdioServer(
  start: StartContext,
  options: Pick<ServerOptions, 'isolation' | 'sessions' | 'maxSessions' | 'protocol' | 'isWitnessed'>,
): Promise<ReachedServer> {
  const { clock, logger, tail } = start;
  let noise: string | null = null;
  const warn = createNonProtocolWarning(logger);
  const warnOfNonProtocolOutput = (line: string) => {
    noise ??= line;
    warn(line);
  };
  const isUsed = options.isolation === 'run' || options.sessions.count !== 0;
  const { handshake, first } = await probeCommand(start, options.protocol, { isUsed, warnOfNonProtocolOutput });
  const isStateless = handshake.protocol === 'modern';
  const isShared = isStateless || options.isolation === 'run';
  const lost = Promise.withResolvers<ServerStartError>();
  const { pool, exits, witness } = openProcesses(start, {
    first,
    isShared,
    sessions: options.sessions,
    warnOfNonProtocolOutput,
    onEnded: (exit, child, isLast) => {
      if (isLast) lost.resolve(createUnstableError(exit, tail));
      else if (isLoss(exit, { child, isShared, isWitnessed: options.isWitnessed })) {
        lost.resolve(createLostError(exit, tail));
      }
    },
  });
  const { channel, createAdapter } = isStateless
    ? reachStateless(pool)
    : reachSessions(isShared ? shareChild(pool, { clock, logger }) : giveEach(pool), {
        exits,
        clock,
        logger,
        idleTimeoutMs: idleTimeoutMs[options.isolation],
        maxSessions: options.maxSessions ?? defaultMaxSessions,
      });
  const token = createToken();
  let bridge: Promise<Bridge> | undefined;
  return {
    endpoint: { channel },
    openUrl: async () => (await (bridge ??= openBridge(createAdapter(), { token, clock, logger }))).url,
    token,
    protocol: handshake.protocol,
    report: {
      transport: 'stdio',
      name: handshake.name,
      version: handshake.version,
      protocolVersion: handshake.protocolVersion,
      protocolVersions: [],
      isolation: isStateless ? 'stateless' : isShared ? 'one process for the run' : 'process per iteration',
    },
    planSessions: (plan) => {
      if (!isShared) pool.setPlan(plan);
    },
    lost: lost.promise,
    witness,
    findNoise: () => noise,
    openInstance: (own) => openInstance(own, { isStateless, warnOfNonProtocolOutput }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([
        channel[Symbol.asyncDispose](),
        (await bridge?.catch(() => undefined))?.[Symbol.asyncDispose](),
        pool[Symbol.asyncDispose](),
      ]);
    },
  };
}

/** The processes of a server, and the witness of their ends. */
interface Processes {
  pool: ChildPool;
  exits: SessionExits;
  witness: ProcessWitness;
}

function openProcesses(
  start: StartContext,
  {
    first,
    isShared,
    sessions,
    warnOfNonProtocolOutput,
    onEnded,
  }: {
    /** A process that runs already, for the first session; null if there is none. */
    first: ProcessChild | null;
    isShared: boolean;
    sessions: SessionPlan;
    warnOfNonProtocolOutput: (line: string) => void;
    onEnded: PoolEvents['onEnded'];
  },
): Processes {
  const { clock, logger } = start;
  const visits = recordVisits(clock);
  const exits = recordExits();
  const records = new Map<ProcessChild, SharedProcessRecord>();
  const pool = createChildPool({
    startChild: () =>
      connectChild(startServerProcess(start, { readsStdin: true }), { onNonProtocolOutput: warnOfNonProtocolOutput }),
    first,
    // The shared process is replaced only on demand, when the previous one has already ended.
    plan: isShared ? onDemand : sessions,
    logger,
    events: {
      onTaken: (child) => void (isShared && records.set(child, visits.begin(child))),
      onEnded: (exit, child, isLast) => {
        records.get(child)?.end(toProcessEnd(exit));
        records.delete(child);
        onEnded(exit, child, isLast);
      },
    },
  });
  return { pool, exits, witness: isShared ? witnessShared(visits, pool) : witnessSessions(exits) };
}

/** Starts a process when a session needs it. */
const onDemand: SessionPlan = { count: null, warmProcesses: 0, isExclusive: false };

/** Opens the server once more, for one iteration. Its first process starts with the first request. */
function openInstance(
  start: StartContext,
  { isStateless, ...options }: { isStateless: boolean; warnOfNonProtocolOutput: (line: string) => void },
): ServerInstance {
  const { pool, exits, witness } = openProcesses(start, {
    ...options,
    first: null,
    isShared: isStateless,
    sessions: onDemand,
    onEnded: () => {},
  });
  const channel = isStateless
    ? openStatelessChannel(createStatelessServer(pool))
    : openSessionChannel({ source: giveEach(pool), exits });
  return {
    endpoint: { channel },
    witness,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([channel[Symbol.asyncDispose](), pool[Symbol.asyncDispose]()]);
    },
  };
}

/** Gives each session a process of its own: the first one that of the readiness check, if it would initialize it in the same way. */
function giveEach(pool: ChildPool): ChildSource {
  return {
    take: async ({ first }) => {
      const child = await pool.take({ accepts: (opening) => isSameOpening(opening, first) });
      return child.opening === null ? child : continueOpening(child, child.opening);
    },
  };
}

/** The ways to the processes of a server: for clients in this process, and for others over HTTP. */
interface Ways {
  channel: StdioChannel;
  createAdapter: () => ProtocolAdapter;
}

function reachStateless(pool: ChildPool): Ways {
  const server = createStatelessServer(pool);
  return { channel: openStatelessChannel(server), createAdapter: () => serveStateless(server) };
}

/** Reaches servers of the protocol with sessions, of which each session takes one. */
export function reachSessions(source: ChildSource, options: Omit<Parameters<typeof serveSessions>[0], 'source'>): Ways {
  return {
    channel: openSessionChannel({ source, exits: options.exits }),
    createAdapter: () => serveSessions({ ...options, source }),
  };
}

/**
 * Checks if the end of a process leaves the results of other calls open. It does not if a witness is used, or if each session has its own
 * process. A process that exits with 0 and owes no answer has not failed.
 */
function isLoss(
  exit: ProcessExit,
  { child, isShared, isWitnessed }: { child: ProcessChild; isShared: boolean; isWitnessed: boolean },
): boolean {
  return isShared && !isWitnessed && (exit.code !== 0 || child.isAnswering);
}

/** The most messages of a server during the readiness check that wait for the first session. */
const maxUnread = 100;

/**
 * Starts the server and waits for its handshake. The process is kept for the first session, if one will come and nothing but `initialize`
 * was asked. Else it ends before the next process starts, which may need the same port or lock file.
 */
async function probeCommand(
  start: StartContext,
  protocol: WantedProtocol,
  { isUsed, warnOfNonProtocolOutput }: { isUsed: boolean; warnOfNonProtocolOutput: (line: string) => void },
): Promise<{ handshake: Handshake; first: ProcessChild | null }> {
  const { command, tail } = start;
  let isChecked = false;
  const child = connectChild(startServerProcess(start, { readsStdin: true }), {
    // If the check fails, its error quotes the line, so a warning would repeat it.
    onNonProtocolOutput: (line) => isChecked && warnOfNonProtocolOutput(line),
  });
  const question = listEras(protocol.value)[0] === 'legacy' ? 'initialize' : 'server/discover';
  const describeNonProtocolOutput = () =>
    child.nonProtocolOutput === null
      ? ''
      : ` On stdout, where only MCP messages belong, it wrote: ${JSON.stringify(child.nonProtocolOutput)}.`;
  const unread: Message[] = [];
  const asked: Array<{ request: RequestMessage; answer: ResponseMessage }> = [];
  let isKept = false;
  try {
    const peer = createPeer(child, (message, request) => {
      if (message.kind === 'response' && message.id === request.id) asked.push({ request, answer: message });
      else if (unread.length <= maxUnread) unread.push(message);
    });
    const probe = await waitForReadiness(() => probeStdio(peer, protocol.value), {
      ...start,
      exited: child.exited.then((exit) =>
        createExitError(command, exit, { tail, remark: describeNonProtocolOutput() }),
      ),
      createTimeoutError: () => {
        const time = formatDuration(start.readyTimeoutMs);
        return new ServerStartError(
          `The server under test did not answer ${question} on stdio within ${time}.${describeNonProtocolOutput()}`,
          {
            stderrTail: tail.readLines(tailLines),
            hint:
              child.nonProtocolOutput === null
                ? 'If the command serves HTTP, give its URL with server-url as well; if it only needs longer, raise the ready timeout.'
                : 'A server on stdio writes its logs to stderr. If the command serves HTTP, give its URL with server-url as well.',
          },
        );
      },
    });
    if (probe.ok) {
      isChecked = true;
      if (child.nonProtocolOutput !== null) warnOfNonProtocolOutput(child.nonProtocolOutput);
      const [exchange, ...others] = asked;
      if (isUsed && exchange?.request.method === 'initialize' && others.length === 0 && unread.length <= maxUnread) {
        isKept = true;
        holdOpen(child, { params: exchange.request.params, answer: exchange.answer, unread });
      }
      return { handshake: probe.handshake, first: isKept ? child : null };
    }
    if ('offered' in probe) throw createRevisionError(probe.offered, protocol, tail);
    throw new ServerStartError(
      `The server under test answered ${question} with something else than an MCP handshake: ${clipText(probe.answer, 500)}`,
      {
        stderrTail: tail.readLines(tailLines),
        hint: 'Check that the command starts an MCP server.',
      },
    );
  } finally {
    if (!isKept) await child.stop();
  }
}

/**
 * Adapts the child for the handshake: one request at a time, with numbers as ids, because some servers take no text. It counts from 0, as
 * the gate's client does, so that a client that goes on uses no id again.
 */
export function createPeer(
  child: Pick<Child, 'send' | 'setListener'>,
  onMessage: (message: Message, request: RequestMessage) => void = () => {},
): StdioPeer {
  let nextId = 0;
  return {
    request: (method, params) =>
      new Promise((resolve) => {
        const request = createRequest(nextId, method, params);
        nextId += 1;
        child.setListener({
          onMessage: (message) => {
            onMessage(message, request);
            if (message.kind !== 'response' || message.id !== request.id) return undefined;
            resolve({ result: message.result, isError: message.error !== null, text: message.text });
            return undefined;
          },
          onExit: () => {},
        });
        void child.send(request);
      }),
    notify: (method, params) => child.send(createNotification(method, params)),
  };
}

function createNonProtocolWarning(logger: Logger): (line: string) => void {
  let hasWarned = false;
  return (line) => {
    if (hasWarned) return;
    hasWarned = true;
    logger.warning(
      `The server under test writes to stdout, where only MCP messages belong; such lines are skipped. First: ${JSON.stringify(line)}. Its logs belong on stderr.`,
    );
  };
}
