import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Findings } from '../../base/findings.ts';
import { appendAll } from '../../base/lists.ts';
import { formatDuration } from '../../base/time.ts';
import type { SuiteConcurrency } from '../../model/concurrency.ts';
import { hostIds } from '../../model/host-ids.ts';
import type { RunRange } from '../../model/rounds.ts';
import type { Sourced } from '../../model/source.ts';
import type { StoredRequirements, SuiteRequirements } from '../../model/policy.ts';
import { anyProtocol, type ProtocolSetting } from '../../model/protocol.ts';
import { isServerStep, listInnerSteps, mapServerSteps } from '../../cases/step.ts';
import { readServerName, serverUnderTest } from '../../cases/step-server.ts';
import { listAllSteps, type LocatedStep, type Suite } from '../../cases/suite.ts';
import type { ServiceProfile } from '../../service/profile.ts';
import { expandHosts, expandRevisions } from '../../suite/build.ts';
import { suggestNearest } from '../../suite/findings.ts';
import { findSharedIds, loadSuites } from '../../suite/load.ts';
import { readInlineTests } from '../../suite/read.ts';
import { selectCases } from '../../suite/select.ts';
import { readServiceBaseline } from '../options/baseline.ts';
import type { GateOptions } from '../options/schema.ts';
import { type CiJob, nameHostedSuite } from './ci-job.ts';
import { capRuns, findHostedIssues, listHostedNotes, noteCappedRuns } from './hosted-limits.ts';
import type { LoadedPolicy } from './plan-policy.ts';
import { explainUnknownHost } from '../../suite/scalar-schemas.ts';
import { planUpstream, type PlannedUpstream } from './plan-upstream.ts';
import { planWorkspace, type PlannedWorkspace } from './plan-workspace.ts';

export type PlannedSuite = FileSuite | StoredSuite;

/** A suite from an evals file, or from inline tests. */
export interface FileSuite {
  kind: 'file';
  /** The suite with only the selected cases. */
  suite: Suite;
  /** The suite with every case of the file, which a service keeps. */
  whole: Suite;
  /** The name of the suite in a hosted service. */
  hostedName: string;
  /** The name of the suite in the service for the branch of the baseline; null without such a baseline. */
  baselineName: string | null;
  /** The revision of MCP that it runs in, and the source that says so. */
  protocol: Sourced<ProtocolSetting>;
  concurrency: SuiteConcurrency;
  requirements: SuiteRequirements;
  /** The files that each iteration starts with; null if iterations share the files of the server. */
  workspace: PlannedWorkspace | null;
  /** The recorded answers of the APIs that the server uses; null if it may reach the network. */
  upstream: PlannedUpstream | null;
}

/** A suite that a hosted service keeps, run unchanged. */
export interface StoredSuite {
  kind: 'stored';
  /** Its id or name. */
  suite: string;
  /** Ids or titles; empty for every case. */
  cases: readonly string[];
  /** The iterations of every case, instead of the suite's number; for a range, the smallest number. */
  runs: number | null;
  /** The largest number of a range; null for a fixed number. */
  maxRuns: number | null;
  requirements: StoredRequirements;
}

/**
 * Finds the fewest and the most iterations that a case of the suite may have, if the suite runs in rounds. Null if all iterations run at
 * once: their number is fixed, or the confidence is about tasks, which repetition alone cannot decide. With `confidenceOver: cases`, a fixed
 * number of iterations is a range of one.
 */
export function findRunRange(planned: PlannedSuite): RunRange | null {
  const { confidence, confidenceOver } = planned.requirements;
  if (confidence === null || confidenceOver?.value === 'tasks') return null;
  const isNamed = confidenceOver?.value === 'cases';
  if (planned.kind === 'stored') {
    const { runs, maxRuns } = planned;
    if (runs === null || (maxRuns === null && !isNamed)) return null;
    return { min: runs, max: maxRuns ?? runs };
  }
  const cases = planned.suite.cases.filter(({ isDeterministic }) => isDeterministic !== true);
  if (cases.length === 0 || !(isNamed || cases.some(({ maxRuns }) => maxRuns !== undefined))) return null;
  return {
    min: Math.min(...cases.map(({ runs }) => runs)),
    max: Math.max(...cases.map(({ runs, maxRuns = runs }) => maxRuns)),
  };
}

/** A suite as text, with the name by which findings call it. */
export interface InlineSuite {
  text: string;
  file: string;
}

interface SuiteSources {
  cwd: string;
  ci: CiJob;
  profile: ServiceProfile;
  policy: LoadedPolicy;
  /** The names of the servers in `mcp-config`; empty if options describe the one server. */
  serverNames: readonly string[];
  /** True if answers of APIs are recorded instead of replayed. */
  recordsUpstream: boolean;
  inlineSuites: readonly InlineSuite[];
  /** True if the program has checks of one's own. */
  hasOwnChecks: boolean;
}

/** Reads and selects the suites, or names the suite that the service keeps. */
export async function planSuites(
  options: GateOptions,
  sources: SuiteSources,
  findings: Findings,
): Promise<PlannedSuite[]> {
  if (options.suite !== null) return [planStoredSuite(options.suite, options, sources, findings)];
  return await planFileSuites(options, sources, findings);
}

async function planFileSuites(
  options: GateOptions,
  { cwd, ci, profile, policy, serverNames, recordsUpstream, hasOwnChecks, inlineSuites }: SuiteSources,
  findings: Findings,
): Promise<FileSuite[]> {
  const { suites, findings: mistakes } = await readSuites(options, { cwd, hasOwnChecks, inlineSuites });
  findings.addAll(mistakes);
  // A case in an unreadable file would be reported as unknown.
  if (mistakes.length > 0) return [];
  await policy.readBaseSuites(suites);
  if (policy.base !== null && profile.name === 'embedded') {
    const { listChangedRecordings } = await import('./changed-recordings.ts');
    appendAll(policy.notes, await listChangedRecordings(suites, policy.base, cwd));
  }
  const unknown = (options.host ?? []).filter((id) => !hostIds.some((known) => known === id));
  for (const id of unknown) findings.add({ input: 'host', code: 'unknown-host', message: explainUnknownHost(id) });
  if (unknown.length > 0) return [];
  const selection = { cases: options.cases, tags: options.tags, runs: options.runs };
  const expand = (suite: Suite) => {
    const hosted = expandHosts(suite, options.host);
    return chooseProtocol(options, suite).value === 'both' ? expandRevisions(hosted) : hosted;
  };
  const wholes = suites.map(expand);
  const selected = selectCases(wholes, selection, (suite) => {
    const before = policy.findBaseSuite(suite);
    return before === null ? null : expand(before);
  });
  findings.addAll(selected.issues);
  policy.base?.noteAdded(selected.added);
  const planned = selected.suites.map((suite) => {
    const whole = wholes.find(({ id }) => id === suite.id) ?? suite;
    return { suite: planStepServers(suite, serverNames), whole: planStepServers(whole, serverNames).suite };
  });
  for (const { suite } of planned) {
    findings.addAll([...suite.issues, ...findLongTimeouts(suite.suite, options.timeout)]);
  }
  for (const { suite, whole } of planned) {
    if (profile.name !== 'embedded') findings.addAll(findHostedIssues(whole, profile));
    findings.noteAll(listHostedNotes(suite.suite, profile));
  }
  for (const { suite } of planned) findings.noteAll(noteCappedRuns(suite.suite, profile));
  const branch = readServiceBaseline(options)?.branch ?? null;
  const workspaces = new Map<string, PlannedWorkspace | null>();
  const upstreams = new Map<string, PlannedUpstream | null>();
  for (const { suite } of planned) {
    const { id } = suite.suite;
    // A hosted service refuses the key as such.
    const isEmbedded = profile.name === 'embedded';
    const reading = { cwd, isRecording: recordsUpstream, findings };
    upstreams.set(id, isEmbedded ? await planUpstream(suite.suite, reading) : null);
    workspaces.set(id, isEmbedded ? await planWorkspace(suite.suite, options.workspace, { cwd, findings }) : null);
  }
  return planned.map(({ suite: { suite }, whole }) => ({
    kind: 'file',
    workspace: workspaces.get(suite.id) ?? null,
    upstream: upstreams.get(suite.id) ?? null,
    suite: capRuns(suite, profile),
    whole: capRuns(whole, profile),
    hostedName: nameHostedSuite(suite.name, options.suiteScope, ci),
    baselineName: nameBaselineSuite(suite.name, { branch, ci }),
    protocol: chooseProtocol(options, suite),
    concurrency: planConcurrency(suite, options),
    requirements: policy.planFileRequirements({ suite, whole }, findings),
  }));
}

function chooseProtocol({ protocol }: GateOptions, suite: Suite): Sourced<ProtocolSetting> {
  if (protocol !== null) return { value: protocol, source: 'protocol' };
  return suite.protocol ?? anyProtocol;
}

/** Plans the concurrency. The option has precedence over the file. */
function planConcurrency({ concurrency, isIndependent }: Suite, options: GateOptions): SuiteConcurrency {
  if (options.concurrency !== null) return { setting: options.concurrency, source: 'concurrency', isIndependent };
  return { ...(concurrency ?? { setting: 'auto', source: 'default' }), isIndependent };
}

function nameBaselineSuite(name: string, { branch, ci }: { branch: string | null; ci: CiJob }): string | null {
  if (branch === null) return null;
  return nameHostedSuite(name, 'branch', { ...ci, line: branch, isDefaultBranch: branch === ci.defaultBranch });
}

async function readSuites(
  options: GateOptions,
  { inlineSuites, ...reading }: Pick<SuiteSources, 'cwd' | 'hasOwnChecks' | 'inlineSuites'>,
): Promise<{ suites: Suite[]; findings: ConfigurationIssue[] }> {
  const { suites, findings } = await loadSuites(options.evals, reading);
  const inTests = options.tests === null ? [] : [{ text: options.tests, file: 'tests' }];
  for (const { text, file } of [...inTests, ...inlineSuites]) {
    const { suite, findings: found } = readInlineTests(text, { ...reading, file, name: 'Inline tests' });
    appendAll(findings, found);
    if (suite === null) continue;
    const shared = suites.filter(({ id }) => id === suite.id).slice(0, 1);
    suites.push(suite);
    appendAll(findings, findSharedIds([...shared, suite]));
  }
  return { suites, findings };
}

function planStoredSuite(
  suite: string,
  { cases, runs }: GateOptions,
  { profile: { limits, name }, policy }: Pick<SuiteSources, 'profile' | 'policy'>,
  findings: Findings,
): StoredSuite {
  const range = typeof runs === 'number' ? { min: runs, max: null } : runs;
  if (range !== null && range.min > limits.iterationsPerCase) {
    const message = `${range.min} is more than the ${limits.iterationsPerCase} iterations of a case that the service ${name} runs at once`;
    findings.add({ input: 'runs', code: 'too-many-runs', message });
  }
  const requirements = policy.planStoredRequirements({ suite, cases }, findings);
  return { kind: 'stored', suite, cases, runs: range?.min ?? null, maxRuns: range?.max ?? null, requirements };
}

/**
 * Finds timeouts of cases that are longer than the whole gate may take. The gate's own time limit would judge such a case, and its file does
 * not name that limit.
 */
function findLongTimeouts({ cases }: Suite, gateTimeoutMs: number): ConfigurationIssue[] {
  const tooLong = cases.flatMap(({ timeoutMs, timeoutLocation: location }) =>
    location === null || timeoutMs <= gateTimeoutMs ? [] : [{ timeoutMs, location }],
  );
  // A timeout of the suite is the timeout of all its cases.
  const distinct = new Map(tooLong.map((found) => [`${found.location.line}:${found.location.column}`, found]));
  return [...distinct.values()].map(({ timeoutMs, location }) => ({
    ...location,
    code: 'timeout-too-long',
    message: `The timeout of ${formatDuration(timeoutMs)} is longer than the whole gate may take, ${formatDuration(gateTimeoutMs)}; shorten it, or raise the option \`timeout\``,
  }));
}

/**
 * Plans which server each step of a suite calls, by the names in `mcp-config`. With one server, steps need no name; with several, each step
 * needs one.
 */
export function planStepServers(
  suite: Suite,
  names: readonly string[],
): { suite: Suite; issues: ConfigurationIssue[] } {
  if (names.length === 0) return planOneServer(suite);
  const steps = suite.cases.flatMap(listAllSteps);
  const issues = steps.flatMap((located): ConfigurationIssue[] => {
    const isKnown = (name: string | null) => (name === null ? names.length === 1 : names.includes(name));
    const name = listServerNames(located).find((called) => !isKnown(called));
    if (name === undefined) return [];
    const known = names.map((each) => `\`server: ${each}\``).join(' or ');
    return [
      name === null
        ? {
            ...located.location,
            code: 'no-server',
            message: `This step names no server, and the gate tests ${names.length}; add ${known}`,
          }
        : {
            ...located.location,
            code: 'unknown-server',
            message: `This step calls the server \`${name}\`, which the gate does not test${suggestNearest(name, names)}`,
          },
    ];
  });
  return { suite: names.length === 1 ? planOneServer(suite).suite : suite, issues };
}

/**
 * Makes every step of a suite call the server under test. A suite may use any one name for that server, since options do not name it. A
 * suite that uses several names is refused, because the other servers could never be called.
 */
function planOneServer(suite: Suite): { suite: Suite; issues: ConfigurationIssue[] } {
  const steps = suite.cases.flatMap(listAllSteps);
  const first = steps.flatMap(listServerNames).find((name) => name !== null);
  const issues = steps.flatMap((located): ConfigurationIssue[] => {
    const name = listServerNames(located).find((called) => called !== null && called !== first);
    if (name == null) return [];
    const message = `This step calls the server "${name}" and earlier ones call "${first}", but a gate tests one server; take \`server\` out, or split the suite`;
    return [{ ...located.location, code: 'several-servers', message }];
  });
  const cases = suite.cases.map((testCase) => ({
    ...testCase,
    setup: testCase.setup.map(forgetServerName),
    steps: testCase.steps.map(forgetServerName),
    teardown: testCase.teardown.map(forgetServerName),
  }));
  return { suite: { ...suite, cases }, issues };
}

function listServerNames({ step }: LocatedStep): Array<string | null> {
  return listInnerSteps([step]).filter(isServerStep).map(readServerName);
}

function forgetServerName(located: LocatedStep): LocatedStep {
  const step = mapServerSteps(located.step, (asking) =>
    asking.serverName === undefined ? asking : { ...asking, serverName: serverUnderTest },
  );
  return { ...located, step };
}

/**
 * Finds `command` steps of a gate that does not start the server. In such a gate an evals file is only data, and must not start a program in
 * the job.
 */
export function findCommandsAlone(
  suites: readonly PlannedSuite[],
  servers: ReadonlyArray<{ command: string | null }>,
): ConfigurationIssue[] {
  if (servers.length === 0 || servers.some(({ command }) => command !== null)) return [];
  const cases = suites.flatMap((planned) => (planned.kind === 'file' ? planned.suite.cases : []));
  const commands = cases
    .flatMap(listAllSteps)
    .filter(({ step }) => listInnerSteps([step]).some(({ kind }) => kind === 'command'));
  const distinct = new Map(commands.map(({ location }) => [`${location.file}:${location.line}`, location]));
  return [...distinct.values()].map((location) => ({
    ...location,
    code: 'needs-server-command',
    message:
      'A `command` step runs as the server does, and this gate starts no server; set `server-command`, or remove the step',
  }));
}
