import { type FaultName, faults, lastWords } from './faults.ts';
import { type HttpFaultName, isHttpFaultName } from './http-faults.ts';

/** How the gate reaches a server: a process per iteration, one process for the run, or an HTTP endpoint. */
export const transports = ['stdio', 'stdio shared', 'HTTP'] as const;
export type Transport = (typeof transports)[number];

/** The three cases of each gate, in their order. A fault hits the second one, unless the shape says another. */
export type CaseName = 'first' | 'target' | 'last';
type CaseOutcome = 'passed' | 'failed' | 'unscored';

export interface Outcome {
  verdict: 'passed' | 'failed' | 'inconclusive';
  cases: Record<CaseName, CaseOutcome>;
}

/** What can come of a gate, as the table below says it. The exit codes of the verdicts are 0, 1 and 3. */
export const outcomes = {
  'all pass': { verdict: 'passed', cases: { first: 'passed', target: 'passed', last: 'passed' } },
  'the case fails': { verdict: 'failed', cases: { first: 'passed', target: 'failed', last: 'passed' } },
  'all fail': { verdict: 'failed', cases: { first: 'failed', target: 'failed', last: 'failed' } },
  'the case is unscored': { verdict: 'inconclusive', cases: { first: 'passed', target: 'unscored', last: 'passed' } },
  'unscored from the case on': {
    verdict: 'inconclusive',
    cases: { first: 'passed', target: 'unscored', last: 'unscored' },
  },
  'nothing runs': { verdict: 'inconclusive', cases: { first: 'unscored', target: 'unscored', last: 'unscored' } },
} satisfies Record<string, Outcome>;
export type OutcomeName = keyof typeof outcomes;

/** The outcome of a gate, and its reasons. */
export interface Observation {
  outcome: Outcome;
  reasons: string[];
}

export interface Shape {
  fault: FaultName | HttpFaultName;
  /** The required outcome, one for all transports or one for each that has the shape. */
  expected: OutcomeName | Partial<Record<Transport, OutcomeName>>;
  /** Why. */
  because: string;
  /** What the reasons must say of it, over all transports. */
  mentions?: readonly string[];
  /** The case whose call the fault hits; `target` where it is absent. */
  hits?: CaseName;
  /** The case that is hit gets a short time-out, because over some transport no answer arrives. */
  isShort?: true;
  /** Where nothing runs, the server never answers the handshake, so there is no point in waiting long. */
  neverReady?: true;
  /** The fault needs a process of the gate over HTTP, too; else the gate is given the URL of a server that runs. */
  needsProcess?: true;
  /** The fault does more than to the call that names it, so that its gate has no other. */
  alone?: true;
}

const ownExit = 'The process ended by itself while it owed an answer; the exit is the evidence.';
const ownAnswer = 'The server answered, and the answer is wrong.';
const noEvidence = 'Nothing arrived, and no process shows whether the server or the connection is at fault.';

/**
 * What the gate must make of each fault. Passed: an oddity that clients put up with. Failed: the server's own answer, silence
 * or exit is the evidence. Inconclusive: nothing was established.
 */
export const shapes: readonly Shape[] = [
  { fault: 'answers-slowly', expected: 'all pass', because: 'The answer arrives within the time-out.' },
  { fault: 'answers-twice', expected: 'all pass', because: 'The second answer belongs to no open request.' },
  { fault: 'prints-banner', expected: 'all pass', because: 'Many servers greet; clients skip what is no message.' },
  { fault: 'prints-between-messages', expected: 'all pass', because: 'Clients skip what is no message.' },
  { fault: 'ends-lines-with-crlf', expected: 'all pass', because: 'A carriage return is white space in JSON.' },
  { fault: 'splits-characters', expected: 'all pass', because: 'Streams are cut anywhere.' },
  { fault: 'answers-20-megabytes', expected: 'all pass', because: 'Nothing limits the size of a result that low.' },
  { fault: 'floods-log-notifications', expected: 'all pass', because: 'Log messages are no answers.' },
  { fault: 'reports-unasked-progress', expected: 'all pass', because: 'Progress of an unknown token is ignored.' },
  { fault: 'announces-changed-tools', expected: 'all pass', because: 'A notice that the client may ignore.' },
  { fault: 'pings-the-client', expected: 'all pass', because: 'A client must answer a ping.' },
  {
    fault: 'asks-for-sampling',
    expected: 'all pass',
    because: 'A client without the ability refuses, and the server goes on.',
  },
  { fault: 'floods-stderr', expected: 'all pass', because: 'Stderr is drained.', needsProcess: true },
  { fault: 'lists-a-tool-twice', expected: 'all pass', because: 'Both entries say the same.' },
  { fault: 'declares-unknown-capability', expected: 'all pass', because: 'Unknown capabilities are ignored.' },
  {
    fault: 'exits-0-after-answer',
    expected: 'all pass',
    because: 'An exit with code 0 while no request is open is no failure.',
    hits: 'last',
    needsProcess: true,
  },
  {
    fault: 'answers-with-string-id',
    expected: 'all pass',
    because: 'The official clients match "3" with 3.',
  },

  { fault: 'answers-is-error', expected: 'the case fails', mentions: ['Disk full.'], because: ownAnswer },
  {
    fault: 'answers-json-rpc-error',
    expected: 'the case fails',
    mentions: ['-32603', 'Internal error'],
    because: ownAnswer,
  },
  { fault: 'answers-error-without-message', expected: 'the case fails', because: ownAnswer, isShort: true },
  { fault: 'answers-null', expected: 'the case fails', because: ownAnswer, isShort: true },
  { fault: 'answers-without-content', expected: 'the case fails', because: ownAnswer },
  { fault: 'answers-unknown-content', expected: 'the case fails', because: ownAnswer },
  { fault: 'answers-wrong-id', expected: 'the case fails', because: ownAnswer, isShort: true },
  { fault: 'answers-malformed-json', expected: 'the case fails', because: ownAnswer, isShort: true },
  { fault: 'answers-too-late', expected: 'the case fails', because: 'The time-out is the case’s own.', isShort: true },
  { fault: 'never-answers', expected: 'the case fails', because: 'The time-out is the case’s own.', isShort: true },
  { fault: 'breaks-its-output-schema', expected: 'the case fails', because: ownAnswer, alone: true },

  {
    fault: 'exits-mid-answer',
    expected: 'the case fails',
    mentions: ['exited with code 1', lastWords],
    because: ownExit,
    needsProcess: true,
  },
  {
    fault: 'exits-1-under-call',
    expected: 'the case fails',
    mentions: ['exited with code 1', lastWords],
    because: ownExit,
    needsProcess: true,
  },
  {
    fault: 'exits-0-under-call',
    expected: 'the case fails',
    mentions: ['exited with code 0', lastWords],
    because: ownExit,
    needsProcess: true,
  },
  {
    fault: 'is-killed-under-call',
    expected: 'the case fails',
    mentions: ['SIGKILL'],
    because: ownExit,
    needsProcess: true,
  },
  {
    fault: 'segfaults-under-call',
    expected: 'the case fails',
    mentions: ['SIGSEGV'],
    because: ownExit,
    needsProcess: true,
  },
  {
    fault: 'closes-its-output',
    expected: { stdio: 'the case fails', 'stdio shared': 'the case fails', HTTP: 'unscored from the case on' },
    because: `On stdio the call runs out of its time, and the process is replaced. Over HTTP: ${noEvidence}`,
    isShort: true,
    needsProcess: true,
  },

  { fault: 'hangs-at-initialize', expected: 'nothing runs', because: 'The server never starts.', neverReady: true },
  {
    fault: 'exits-at-start',
    expected: 'nothing runs',
    mentions: ['exited with code 1'],
    because: 'The server never starts.',
    needsProcess: true,
  },
  { fault: 'speaks-unknown-version', expected: 'nothing runs', because: 'No client speaks it.', neverReady: true },
  {
    fault: 'starts-with-byte-order-mark',
    expected: { stdio: 'nothing runs', 'stdio shared': 'nothing runs', HTTP: 'all pass' },
    because: 'JSON text must not begin with one (RFC 8259 §8.1); an event stream may (HTML, server-sent events).',
    neverReady: true,
  },
  {
    fault: 'fails-tools-list',
    expected: 'all fail',
    mentions: ['No tools today'],
    because: 'Without a list of tools no client can call one.',
  },
  {
    fault: 'exits-in-tools-list',
    expected: 'all fail',
    mentions: ['exited with code 1', lastWords],
    because: ownExit,
    needsProcess: true,
  },

  { fault: 'http-500-under-call', expected: { HTTP: 'the case is unscored' }, because: noEvidence },
  {
    fault: 'http-session-lost',
    expected: { HTTP: 'all pass' },
    because: 'The protocol requires a client to open a new session; no answered call was lost with the old one.',
  },
  { fault: 'http-401', expected: { HTTP: 'nothing runs' }, because: 'The server was never reached.', neverReady: true },
  {
    fault: 'http-redirect',
    expected: { HTTP: 'nothing runs' },
    because: 'A redirect is not followed: it may lead to another server.',
    neverReady: true,
  },
  { fault: 'http-cut-event', expected: { HTTP: 'the case is unscored' }, because: noEvidence },
  { fault: 'http-reset-under-call', expected: { HTTP: 'the case is unscored' }, because: noEvidence },
  {
    fault: 'http-closes-connections',
    expected: { HTTP: 'all pass' },
    because: 'The client opens another one.',
    alone: true,
  },
  { fault: 'http-gzip', expected: { HTTP: 'all pass' }, because: 'Fetch asks for it and decompresses it.' },
  { fault: 'http-json-answers', expected: { HTTP: 'all pass' }, because: 'A server may answer with plain JSON.' },
];

/** What a shape must come to over a transport; null where that transport does not have it. */
export function findExpected({ expected }: Shape, transport: Transport): OutcomeName | null {
  return typeof expected === 'string' ? expected : (expected[transport] ?? null);
}

/** What can come of a fault that leaves the cases before and after it as they are. */
const contained: ReadonlySet<OutcomeName> = new Set(['all pass', 'the case fails', 'the case is unscored']);

/** The shapes of a transport, those together that one gate can run: faults of single calls with the same outcome. */
export function groupShapes(transport: Transport): Array<{ expected: OutcomeName; shapes: Shape[] }> {
  const groups = new Map<string, { expected: OutcomeName; shapes: Shape[] }>();
  for (const shape of shapes) {
    const expected = findExpected(shape, transport);
    if (expected === null) continue;
    const { fault, hits, needsProcess = false, alone = false } = shape;
    const isOfCall = isHttpFaultName(fault) || faults[fault].at === 'call';
    const isShared = isOfCall && hits === undefined && !alone && contained.has(expected);
    const key = isShared ? `${expected} ${needsProcess}` : fault;
    const group = groups.get(key) ?? { expected, shapes: [] };
    group.shapes.push(shape);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** How what was found differs from what is required, one line each; empty where it does not. */
export function listDifferences(shape: Shape, expected: OutcomeName, found: Observation): string[] {
  const [is, shall] = [describeOutcome(found.outcome), describeOutcome(outcomes[expected])];
  const missing = (shape.mentions ?? []).filter((text) => !found.reasons.some((reason) => reason.includes(text)));
  return [
    ...(is === shall ? [] : [`required: ${shall}; found: ${is}`]),
    ...missing.map((text) => `no reason says ${JSON.stringify(text)}`),
  ];
}

function describeOutcome({ verdict, cases }: Outcome): string {
  return `${verdict} (first ${cases.first}, target ${cases.target}, last ${cases.last})`;
}
