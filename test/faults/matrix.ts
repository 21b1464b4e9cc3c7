import { alter, cutJson, full, limit, page, redirect, refuse, unknownFields } from '../support/faults/answers.ts';
import {
  drip,
  endInBody,
  halfOpen,
  pourForever,
  resetAfter,
  resetBefore,
  resetInBody,
  silence,
  slice,
} from '../support/faults/deliveries.ts';
import { type Blow, C, D, done, F, I, K, type Letter, type Phase, R, under, W, X } from '../support/faults/letters.ts';
import type { ConnectFault } from '../support/faults/connections.ts';
import { writeTests } from '../support/faults/fault-world.ts';
import type { QuietClock } from '../support/faults/quiet-clock.ts';
import type { Fault } from '../support/faults/service-front.ts';
import * as relay from '../support/faults/relay-trials.ts';
import * as run from '../support/faults/run-trials.ts';
import * as job from '../support/faults/job-trials.ts';

/** As much as a phase needs that does not read results page by page. */
const oneTest = writeTests(['one']);

/** Cases that no timeout of a job outlasts. */
const endlessTests = '- title: long\n  steps:\n    - toolCall: work\n      arguments: { seconds: 500 }\n';

/**
 * The required outcome of a job, by fault and phase. A cell is a letter: R retried, and inconclusive if retries do not help ·
 * I inconclusive · F an error at once that the user must correct · D created once, whatever the service answers · K no effect ·
 * C the gate still cancels the run · W a warning, the verdict is unchanged · X stopped. The seeds of `run-cell.ts` make several
 * jobs of each cell.
 */
export const phases = {
  /** The first call of all. */
  P0: { route: 'projects', usual: 1, attempts: 10, inputs: { tunnel: 'never', tests: oneTest } },
  /** Asking for a tunnel. */
  P1: { route: 'grant', usual: 1, attempts: 5, inputs: { tunnel: 'always', tests: oneTest } },
  /** Waiting until the server answers. */
  P2: { route: 'grant', usual: 1, attempts: 1, inputs: { tunnel: 'always', tests: oneTest } },
  /** Connecting to the relay. */
  P3: { route: 'grant', usual: 1, attempts: 1, inputs: { tunnel: 'always', tests: oneTest } },
  /** Creating the suite. */
  P4a: { route: 'create-suite', usual: 1, attempts: 5, inputs: { tunnel: 'never', tests: oneTest } },
  /** Starting the run: five attempts, a look whether it is there, five more. */
  P4: { route: 'run', usual: 1, attempts: 10, inputs: { tunnel: 'never', tests: oneTest } },
  /** Asking after it. */
  P5: { route: 'poll', usual: 5, attempts: 10, inputs: { tunnel: 'never' } },
  /** Reading its iterations. */
  P6: { route: 'page', usual: 3, attempts: 10, inputs: { tunnel: 'never' } },
  /** Cancelling a run whose time is over. */
  P9a: { route: 'cancel', usual: 1, attempts: 5, inputs: { tunnel: 'never', timeout: '1m', tests: endlessTests } },
  /** Leaving nothing behind. */
  P9: { route: 'close', usual: 1, attempts: 5, inputs: { tunnel: 'always', tests: oneTest } },
  /** Clearing up for a process that was killed. */
  PP: { route: 'close', usual: 1, attempts: 5, inputs: { tunnel: 'always', tests: oneTest } },
} as const satisfies Record<string, Phase>;

export type PhaseName = keyof typeof phases;

export interface Row {
  /** Of the fault; several rows may have the same, where its kinds end differently. */
  fault: number;
  what: string;
  blows: readonly Blow[];
  cells: Partial<Record<PhaseName, Letter>>;
  /** Whether the service speaks TLS. */
  hasTls?: boolean;
  /** Whether it goes by, so that a job that meets it once or twice ends with its true verdict. */
  passes?: boolean;
}

const answers = (...faults: Fault[]): Blow[] => faults.map((fault) => ({ answer: () => fault }));
/** The service has done what it was asked for by then. */
const late = (...faults: Fault[]): Blow[] => answers(...faults).map(done);
const connects = (...faults: ConnectFault[]): Blow[] => faults.map((fault) => ({ connect: () => fault }));
const badCertificates: Blow[] = (['untrusted', 'expired', 'wrongHost'] as const).map((name) => ({
  connect: ({ certificates }) => ({ certificate: certificates![name] }),
}));

const dates = { date: 'Tue, 02 Jan 2001 10:00:00 GMT', 'retry-after': 'Tue, 02 Jan 2001 10:00:09 GMT' };
const clocked = (make: (clock: QuietClock) => Fault): Blow => done({ answer: ({ clock }) => make(clock) });
const drips = [clocked(drip), clocked(pourForever)];
const without = (field: string) => alter((value) => ({ ...value, [field]: undefined }));

/** A grant that is asked for to the end is not given up while a request for it may be under way. */
const patientGrant = { isPatient: true, says: /429 RATE_LIMITED/, mayNote: true };

/** The gate cancels a run that is still in progress when the time is up. */
const patientPoll = { isPatient: true, says: /The gate was not over after 40 min/ };

export const matrix: readonly Row[] = [
  {
    fault: 1,
    what: 'the name does not resolve',
    blows: connects('ENOTFOUND', 'EAI_AGAIN'),
    passes: true,
    cells: {
      P0: R(),
      P4a: R({ runs: 0 }),
      P9a: C,
      P1: R({ says: /localhost/ }),
      P3: relay.unreachable(['ENOTFOUND', 'EAI_AGAIN']),
      P4: R({ attempts: 5, runs: 0 }),
      P5: R(),
      P6: R(),
      P9: W(),
    },
  },
  {
    fault: 2,
    what: 'the service does not listen',
    blows: connects('ECONNREFUSED'),
    passes: true,
    cells: {
      P0: R(),
      P4a: R({ runs: 0 }),
      P9a: C,
      P1: R(),
      P3: relay.unreachable(['ECONNREFUSED']),
      P4: R({ attempts: 5, runs: 0 }),
      P5: R(),
      P6: R(),
      P9: W(),
    },
  },
  {
    fault: 3,
    what: 'a certificate that is not to be trusted',
    blows: badCertificates,
    hasTls: true,
    cells: {
      P0: I({ says: /NODE_EXTRA_CA_CERTS/ }),
      P4a: F(/NODE_EXTRA_CA_CERTS/),
      P9a: C,
      P1: F(/NODE_EXTRA_CA_CERTS/),
      P3: relay.untrusted,
      P4: F(/NODE_EXTRA_CA_CERTS/),
      P5: I(),
      P6: I(),
      P9: W({ once: false }),
    },
  },
  {
    fault: 4,
    what: '429 with seconds',
    blows: answers(limit({ 'retry-after': '7' })),
    passes: true,
    cells: {
      P0: R({ isPatient: true, waitsMs: 7000 }),
      P4a: R({ isPatient: true, waitsMs: 7000 }),
      P9a: C,
      P1: R({ ...patientGrant, waitsMs: 7000 }),
      P4: R({ isPatient: true, waitsMs: 7000, runs: 0 }),
      P5: R({ ...patientPoll, waitsMs: 7000 }),
      P6: R({ isPatient: true, waitsMs: 7000 }),
      P9: under(answers(limit({ 'retry-after': '1' })), W()),
    },
  },
  {
    fault: 5,
    what: '429 with a date, on a clock that is years off',
    blows: answers(limit(dates)),
    passes: true,
    cells: {
      P0: R({ isPatient: true, waitsMs: 9000 }),
      P4a: R({ isPatient: true, waitsMs: 9000 }),
      P9a: C,
      P1: R({ ...patientGrant, waitsMs: 9000 }),
      P4: R({ isPatient: true, waitsMs: 9000, runs: 0 }),
      P5: R({ ...patientPoll, waitsMs: 9000 }),
      P6: R({ isPatient: true, waitsMs: 9000 }),
      P9: W({ once: false }),
    },
  },
  {
    fault: 6,
    what: '429 without a wait that makes sense',
    blows: answers(limit(), limit({ 'retry-after': '0' }), limit({ 'retry-after': 'soon' })),
    passes: true,
    cells: {
      P0: R({ isPatient: true }),
      P4a: R({ isPatient: true, runs: 0 }),
      P9a: C,
      P1: R({ ...patientGrant }),
      P4: R({ isPatient: true, runs: 0 }),
      P5: R({ ...patientPoll }),
      P6: R({ isPatient: true }),
      P9: W(),
    },
  },
  {
    fault: 6,
    what: '429 with a wait beyond the deadline',
    blows: answers(limit({ 'retry-after': '99999' })),
    cells: {
      P0: I({ tookMs: [0, 60_000] }),
      P4a: I({ tookMs: [0, 60_000], runs: 0 }),
      P9a: C,
      P1: I({ tookMs: [0, 60_000] }),
      P4: I({ tookMs: [0, 60_000], runs: 0 }),
      P5: I({ tookMs: [0, 60_000] }),
      P6: I({ tookMs: [0, 60_000] }),
      P9: W({ once: false }),
    },
  },
  { fault: 7, what: 'as many runs as may be are in progress', blows: answers(full), cells: { P4: run.queued } },
  {
    fault: 8,
    what: '500 or 503',
    blows: answers(refuse(503, 'INTERNAL_ERROR'), refuse(500, 'INTERNAL_ERROR')),
    passes: true,
    cells: { P0: R(), P4a: R({ runs: 0 }), P9a: C, P1: R(), P4: D, P5: R(), P6: R(), P9: W() },
  },
  {
    fault: 9,
    what: '502 of a gateway',
    blows: answers(refuse(502, 'INTERNAL_ERROR')),
    passes: true,
    cells: { P0: R(), P4a: R({ runs: 0 }), P9a: C, P1: R(), P4: D, P5: R(), P6: R(), P9: W() },
  },
  {
    fault: 9,
    what: '502 because the service cannot reach the server',
    blows: answers(refuse(502, 'SERVER_UNREACHABLE')),
    cells: {
      P1: R({ attempts: 3, says: /Check the URL that the service has of the server/ }),
      P4: R({ attempts: 3, says: /Check the URL that the service has of the server/, runs: 0 }),
    },
  },
  {
    fault: 10,
    what: '504',
    blows: answers(refuse(504, 'TIMEOUT')),
    passes: true,
    cells: { P0: R(), P4a: R({ runs: 0 }), P9a: C, P1: R(), P4: D, P5: R(), P6: R(), P9: W() },
  },
  {
    fault: 11,
    what: '400, 403, 404 or 422',
    blows: answers(
      refuse(400, 'VALIDATION_ERROR'),
      refuse(403, 'FORBIDDEN'),
      refuse(404, 'NOT_FOUND'),
      refuse(422, 'FEATURE_NOT_SUPPORTED'),
    ),
    cells: {
      P0: under(answers(refuse(403, 'FORBIDDEN'), refuse(404, 'NOT_FOUND')), F(/FORBIDDEN|NOT_FOUND/)),
      P4a: F(/It says/),
      P9a: C,
      P1: F(/It says (?:VALIDATION_ERROR|FORBIDDEN|NOT_FOUND|FEATURE_NOT_SUPPORTED)/),
      P4: F(/It says (?:VALIDATION_ERROR|FORBIDDEN|NOT_FOUND|FEATURE_NOT_SUPPORTED)/),
      P5: under(answers(refuse(403, 'FORBIDDEN'), refuse(400, 'VALIDATION_ERROR')), I()),
      P6: under(answers(refuse(403, 'FORBIDDEN'), refuse(422, 'FEATURE_NOT_SUPPORTED')), I()),
      P9: under(answers(refuse(400, 'VALIDATION_ERROR'), refuse(403, 'FORBIDDEN')), W({ once: false })),
    },
  },
  {
    fault: 11,
    what: '404 of a copy that lags behind',
    blows: answers(refuse(404, 'NOT_FOUND')),
    cells: { P5: R({ attempts: 4, most: 3 }), P6: R({ attempts: 4, most: 3 }) },
  },
  {
    fault: 12,
    what: '401, the key was revoked',
    blows: answers(refuse(401, 'UNAUTHORIZED')),
    cells: {
      P0: F(/API key/),
      P4a: F(/API key/),
      P9a: C,
      P1: F(/API key/),
      P4: F(/API key/),
      P5: R({ attempts: 2, most: 1 }),
      P6: I(),
      P9: W({ once: false }),
    },
  },
  {
    fault: 13,
    what: '401, the server wants OAuth',
    blows: answers(refuse(401, 'OAUTH_REQUIRED')),
    cells: { P4a: F(/OAuth/), P1: F(/OAuth/), P4: F(/OAuth/) },
  },
  {
    fault: 14,
    what: '409',
    blows: answers(refuse(409, 'CONFLICT')),
    cells: { P4a: F(/CONFLICT/), P4: F(/CONFLICT/), P9: run.cancelConflict },
  },
  {
    fault: 15,
    what: 'JSON that is cut short',
    blows: late(cutJson),
    passes: true,
    cells: { P4a: R(), P9a: C, P1: R(), P4: D, P5: R(), P6: R(), P9: W() },
  },
  {
    fault: 16,
    what: 'a page of HTML',
    blows: answers(page(200), page(502)),
    passes: true,
    cells: {
      P0: under(answers(page(502)), R()),
      P4a: R({ says: /text\/html/ }),
      P9a: C,
      P1: R({ says: /text\/html/ }),
      P4: D,
      P5: R({ says: /text\/html/ }),
      P6: R(),
      P9: W(),
    },
  },
  {
    fault: 17,
    what: 'unknown fields',
    blows: late(unknownFields),
    passes: true,
    cells: { P0: K(), P4a: K(), P9a: C, P1: K(), P3: relay.oddHello, P4: K(), P5: K(), P6: K(), P9: K() },
  },
  {
    fault: 18,
    what: 'an unknown status or result',
    blows: late(alter((value) => ({ ...value, status: 'launching' }))),
    cells: {
      P3: relay.oddFrames,
      P4: K(),
      P5: run.oddStatus,
      P6: run.oddResult,
    },
  },
  {
    fault: 19,
    what: 'a field that is missing or of another type',
    blows: late(
      without('id'),
      alter((value) => ({ ...value, suiteId: 7 })),
    ),
    cells: {
      P4a: under(late(without('suiteId')), I({ says: /suiteId/ })),
      P9a: C,
      P1: under(late(without('connectToken')), I({ says: /connectToken/ })),
      P3: relay.brokenFrames,
      P4: under(late(without('runId')), D),
      P5: R({ attempts: 3 }),
      P6: under(late(without('items')), R({ attempts: 3 })),
      P9: under(late(without('status')), W({ once: false })),
    },
  },
  {
    fault: 20,
    what: 'an unknown error code with 5xx',
    blows: answers(refuse(507, 'MOON_PHASE')),
    passes: true,
    cells: { P0: R(), P4a: R({ runs: 0 }), P9a: C, P1: R({ says: /MOON_PHASE/ }), P4: D, P5: R(), P6: R() },
  },
  {
    fault: 20,
    what: 'an unknown error code with 4xx',
    blows: answers(refuse(418, 'TEAPOT')),
    cells: { P4a: F(/TEAPOT/), P9a: C, P1: F(/TEAPOT/), P4: F(/TEAPOT/), P5: I({ says: /TEAPOT/ }), P6: I() },
  },
  {
    fault: 21,
    what: 'counts that do not agree',
    blows: [],
    cells: { P6: run.disagreement },
  },
  {
    fault: 22,
    what: 'no answer, or one without end',
    blows: [...answers(halfOpen), ...late(silence), ...drips],
    passes: true,
    cells: { P0: R(), P4a: R(), P9a: C, P1: R(), P3: relay.mute, P4: D, P5: R(), P6: R(), P9: W({ once: false }) },
  },
  {
    fault: 22,
    what: 'an answer that is late and in pieces',
    blows: [clocked(slice)],
    passes: true,
    cells: { P0: K(), P4a: K(), P9a: C, P1: K(), P4: K(), P5: K(), P6: K() },
  },
  { fault: 22, what: 'no answer before the time is over', blows: [], cells: { P4: job.outOfTimeAtCreate } },
  {
    fault: 23,
    what: 'the connection is reset before or after the service has heard',
    blows: [...answers(resetBefore), ...late(resetAfter)],
    passes: true,
    cells: { P0: R(), P4a: R(), P9a: C, P1: R(), P3: relay.reset, P4: D, P5: R(), P6: R(), P9: W() },
  },
  {
    fault: 24,
    what: 'the connection ends in the middle of the answer',
    blows: late(resetInBody, endInBody),
    passes: true,
    cells: { P0: R(), P4a: R(), P9a: C, P1: R(), P4: D, P5: R(), P6: R(), P9: W() },
  },
  {
    fault: 25,
    what: 'the system clock is changed',
    blows: [],
    cells: { P1: job.wallClock, P3: job.wallClock, P4: job.wallClock, P5: job.wallClock, P6: job.wallClock },
  },
  { fault: 26, what: 'the token has expired', blows: [], cells: { P3: relay.expiredToken, P5: relay.lost([4000]) } },
  {
    fault: 27,
    what: 'the relay is lost',
    blows: [],
    cells: { P3: relay.dropped, P5: relay.lost([1006]), P6: relay.lostAfterwards([1006]) },
  },
  {
    fault: 28,
    what: 'the relay restarts',
    blows: [],
    cells: { P3: relay.restarts, P5: relay.lost([1012]), P6: relay.lostAfterwards([1012]) },
  },
  { fault: 29, what: 'the relay takes no token', blows: [], cells: { P3: relay.noToken } },
  {
    fault: 30,
    what: 'another host takes over',
    blows: [],
    cells: { P3: relay.taken(4001), P5: relay.takenInRun(4001), P9: relay.takenInRun(4001) },
  },
  {
    fault: 31,
    what: 'the tunnel is revoked',
    blows: [],
    cells: { P3: relay.taken(4002), P5: relay.takenInRun(4002), P9: relay.takenInRun(4002) },
  },
  {
    fault: 32,
    what: 'a permanent refusal, or an unknown close code',
    blows: [],
    cells: {
      P3: relay.refused,
      P5: relay.lost([1000, 1001, 1009, 1011, 1008, 4321]),
      P6: relay.lostAfterwards([1000, 1001, 1009, 1011]),
    },
  },
  { fault: 33, what: 'the server never answers', blows: [], cells: { P2: job.serverAbsent } },
  { fault: 34, what: 'the server dies', blows: [], cells: { P5: job.serverDies } },
  {
    fault: 36,
    what: 'SIGINT or SIGTERM',
    blows: [],
    cells: { P1: X, P3: job.stoppedAtDial, P4: job.stoppedAtCreate, P5: X, P6: X, P9: X },
  },
  { fault: 37, what: 'SIGKILL', blows: [], cells: { PP: job.killed } },
  {
    fault: 43,
    what: 'pages that lead nowhere',
    blows: late(
      alter((value) => ({ ...value, nextCursor: 'again' })),
      alter(() => ({ items: [], nextCursor: `c${Math.random()}` })),
    ),
    cells: { P6: run.endlessPages },
  },
  { fault: 44, what: 'a run that shows nothing', blows: [], cells: { P5: run.endedOtherwise, P6: run.noIterations } },
  {
    fault: 45,
    what: 'a redirect',
    blows: answers(redirect),
    cells: {
      P0: F(/base URL/),
      P4a: F(/redirect/),
      P9a: C,
      P1: F(/redirect/),
      P3: relay.redirected,
      P4: F(/redirect/),
      P5: I({ says: /redirect/ }),
      P6: I({ says: /redirect/ }),
      P9: W({ once: false }),
    },
  },
  { fault: 46, what: 'a proxy', blows: [], cells: { P1: job.proxyRefuses, P3: job.proxyLeads } },
  { fault: 47, what: 'two jobs under one name', blows: [], cells: { P1: job.nameTaken, P5: job.nameTakenInRun } },
];
