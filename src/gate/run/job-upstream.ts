import { join } from 'node:path';
import type { Redactor } from '../../base/redaction.ts';
import type { Clock } from '../../base/time.ts';
import type { OpenProxy } from '../../server/running-server.ts';
import { refuseRequest, type UpstreamSession } from '../../upstream/exchange.ts';
import { createHiding, type HiddenValue } from '../../upstream/hidden-values.ts';
import { joinSessions, openRecord, type RecordSession } from '../../upstream/record.ts';
import { nameRecording, type RecordedSession, type Recording, recordingVersion } from '../../upstream/recording.ts';
import { findSession, openReplay, type ReplaySession } from '../../upstream/replay.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { FileSuite, PlannedSuite } from '../plan/plan-suites.ts';
import type { PlannedUpstream } from '../plan/plan-upstream.ts';
import { openUpstreamRoute } from './upstream-route.ts';

/** The answers of the APIs that the servers of a gate use. Disposing it removes the certificate. */
export interface JobUpstream extends AsyncDisposable {
  /** Opens the answers for the servers of one iteration. */
  openIteration(planned: FileSuite, iteration: { caseId: string; number: number }): IterationUpstream;
  /** Opens the proxy for processes that serve no suite; null if some suite lets the server reach the network. */
  readonly openInitial: OpenProxy | null;
  /** Opens the proxy for processes that serve no iteration of a suite; null if the suite lets the server reach the network. */
  openIdle(planned: FileSuite): OpenProxy | null;
  /** Lists the recordings that were made. */
  collect(): MadeUpstream[];
}

interface IterationUpstream {
  readonly openProxy: OpenProxy;
  /** Names a request without a recorded answer; null if there is none. */
  findLack(): string | null;
  /** Keeps what was recorded. Called when the servers have ended. */
  finish(): void;
}

/** The recording of a case, ready to be written. */
export interface MadeUpstream {
  /** Relative to the working directory. */
  path: string;
  title: string;
  /** Null if the server sent no request. */
  recording: Recording | null;
  /** What could not be recorded, one sentence each. */
  problems: string[];
}

interface JobUpstreamContext {
  environment: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  redactor: Redactor;
}

/**
 * Opens the recordings of the suites; null if no suite has any.
 *
 * @throws {ConfigurationError} if answers are recorded and a variable names a proxy that cannot be used
 */
export function openJobUpstream(
  { suites, servers }: { suites: readonly PlannedSuite[]; servers: readonly PlannedServer[] },
  { environment, clock, redactor }: JobUpstreamContext,
): JobUpstream | null {
  const users = suites.filter((planned) => planned.kind === 'file' && planned.upstream !== null);
  if (users.length === 0) return null;
  const isRecording = users.some((planned) => planned.kind === 'file' && planned.upstream?.recordings === null);
  const route = openUpstreamRoute({ environment, clock, isSending: isRecording });
  const { serve } = route;
  const hidden = listHiddenValues(servers);
  const made = new Map<
    string,
    { planned: FileSuite; caseId: string; sessions: RecordedSession[]; problems: string[] }
  >();
  const openRecording = ({ settings, secrets }: PlannedUpstream): RecordSession =>
    openRecord({ settings, hidden, names: secrets, redactor, forward: route.send });
  const replay = (
    { settings, secrets }: PlannedUpstream,
    exchanges: Parameters<typeof openReplay>[0],
    isLenient = false,
  ) => openReplay(exchanges, { settings, hiding: createHiding(hidden, { names: secrets, redactor }), isLenient });
  /** Opens answers for processes that serve no iteration, of these suites. Nothing that they send is recorded or missed. */
  const openIdle = (own: readonly PlannedUpstream[]): OpenProxy | null => {
    const [first] = own;
    if (first === undefined) return null;
    const block = own.flatMap((upstream) => upstream.block);
    if (first.recordings === null) return serve(blockHosts(openRecording(first), block));
    const exchanges = own.flatMap(({ recordings }) =>
      [...(recordings?.values() ?? [])].flatMap(({ sessions }) => findSession(sessions, 1)),
    );
    return serve(blockHosts(replay(first, exchanges, true), block));
  };
  const all = suites.map((planned) => (planned.kind === 'file' ? planned.upstream : null));
  const own = all.filter((upstream) => upstream !== null);
  const keep = (planned: FileSuite, { caseId, number }: { caseId: string; number: number }, session: RecordSession) => {
    const key = JSON.stringify([planned.suite.id, caseId]);
    const entry = made.get(key) ?? { planned, caseId, sessions: [], problems: [] };
    const { exchanges, problems } = session.finish();
    const others = entry.sessions.filter(({ iteration }) => iteration !== number);
    made.set(key, {
      ...entry,
      sessions: [...others, { iteration: number, exchanges }],
      problems: [...entry.problems, ...problems],
    });
  };
  return {
    openInitial: own.length < all.length ? null : openIdle(own),
    openIdle: ({ upstream }) => (upstream === null ? null : openIdle([upstream])),
    openIteration: (planned, iteration) => {
      const { upstream } = planned;
      if (upstream === null) throw new Error('Recordings were planned for a suite that has none.');
      if (upstream.recordings === null) {
        const session = openRecording(upstream);
        return {
          openProxy: serve(blockHosts(session, upstream.block)),
          findLack: () => null,
          finish: () => keep(planned, iteration, session),
        };
      }
      const sessions = upstream.recordings.get(iteration.caseId)?.sessions ?? [];
      const session: ReplaySession = replay(upstream, findSession(sessions, iteration.number));
      return {
        openProxy: serve(blockHosts(session, upstream.block)),
        findLack: () => session.findMiss(),
        finish: () => {},
      };
    },
    collect: () =>
      [...made.values()].map(({ planned, caseId, sessions, problems }) => {
        const title = planned.suite.cases.find(({ id }) => id === caseId)?.title ?? caseId;
        const joined = joinSessions(sessions);
        const isEmpty = joined.every(({ exchanges }) => exchanges.length === 0);
        return {
          path: join(planned.upstream?.shown ?? '.', nameRecording(caseId)),
          title,
          recording: isEmpty ? null : { version: recordingVersion, case: title, sessions: joined },
          problems: [...new Set(problems)],
        };
      }),
    [Symbol.asyncDispose]: async () => await route[Symbol.asyncDispose](),
  };
}

/** Lists the variables of servers that hold secrets, and those that the job passes on. */
export function listHiddenValues(
  servers: ReadonlyArray<Pick<PlannedServer, 'environment' | 'secrets'>>,
): HiddenValue[] {
  return servers.flatMap(({ environment, secrets }) => {
    const known = new Set(secrets.map((secret) => secret.reveal()));
    return [...environment].flatMap(([name, secret]) => {
      const value = secret.reveal();
      return known.has(value) ? [{ name, value }] : [];
    });
  });
}

/** Refuses requests to these hosts, without noting them. */
function blockHosts(session: UpstreamSession, block: readonly string[]): UpstreamSession {
  if (block.length === 0) return session;
  const isBlocked = (host: string) =>
    block.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name));
  return {
    answer: async (request) =>
      isBlocked(request.url.hostname) || isBlocked(request.url.host)
        ? refuseRequest('The suite blocks this host.')
        : await session.answer(request),
    refuse: (what) => session.refuse(what),
  };
}
