import type { Redactor } from '../../base/redaction.ts';
import type { ServerAccess } from '../../mcp/access.ts';
import { describeSource, type Sourced } from '../../model/source.ts';
import type { OutputLine, ProcessEnd, ProcessWitness, ServerWitnesses } from '../../model/process-end.ts';
import { anyProtocol, listChoices, type ProtocolChoice } from '../../model/protocol.ts';
import type { ServerReport } from '../../model/report.ts';
import { serverUnderTest } from '../../cases/step-server.ts';
import { unnamedServer } from '../../hosts/find-host.ts';
import { defaultConfiguration } from '../../model/surface.ts';
import type { RunningServer, ServerUpstream } from '../../server/running-server.ts';
import type { SideDirectories } from '../../server/side-directories.ts';
import type { Places } from '../../workspace/place.ts';
import { nameOneOfServers } from '../plan/ci-job.ts';
import type { PlannedServer } from '../plan/plan-server.ts';
import type { PlannedService } from '../plan/plan-service.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import type { GatePlan } from '../plan/plan.ts';
import { findInitialFiles } from './open-places.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';
import type { EvalBackend } from './backend.ts';
import { openServerAccess, startServer } from './job-server.ts';
import type { ServerScope } from './server-scope.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { planFirstSessions } from './scheduling.ts';

/** The servers under test, each once per revision of MCP that its suites run in: most gates have one. */
export interface TestServers {
  /**
   * Starts the servers and registers them with the backend.
   *
   * @throws {ServerStartError} if one does not answer, or not in a requested revision
   * @throws {ConfigurationError} if a hosted service would run a case whose servers list a tool of the same name
   */
  open(backend: EvalBackend, scope: ServerScope): Promise<void>;
  /** Lists each server once, in the first of its revisions, to read its surface. */
  listTargets(): SurfaceTarget[];
  /** Finds the servers of a suite, in the order of the options; empty if a suite of the service runs on the servers saved in the service. */
  find(planned: PlannedSuite): RegisteredServer[];
  /** Reports what is known of the servers so far; empty if none was started or named. */
  report(): ServerReport[];
  /**
   * Lists what a reader should know of the servers, one sentence each: what they wrote where only messages belong, and, with several
   * revisions, which suite ran in which.
   */
  listNotes(): string[];
  stderrTail(): string[];
  /** Finds another process that answers at the port of a server that should own it; null if none is known. */
  findForeignOwner(): string | null;
  /** Lists the findings of the doctor at each server that is still open, one sentence each, within seconds. */
  diagnose(signal: AbortSignal): Promise<string[]>;
}

/** Notes the findings of the doctor. */
export function noteFindings(findings: string | null, name: string | null = null): string[] {
  if (findings === null) return [];
  return [`What the doctor found${name === null ? '' : ` at ${name}`}: ${findings}.`];
}

function noteNoise(line: string | null, { name }: Pick<PlannedServer, 'name'>): string[] {
  if (line === null) return [];
  const server = name === null ? 'The server' : `The server ${name}`;
  return [
    `${server} writes to stdout, where only MCP messages belong: ${JSON.stringify(line)}. Its logs belong on stderr.`,
  ];
}

interface StartedServer {
  planned: PlannedServer;
  running: RunningServer;
  access: ServerAccess | null;
  /** Null until the service knows it. */
  registered: RegisteredServer | null;
  choices: Set<ProtocolChoice>;
}

/** Keeps lists in a report short. */
const maxNamedTools = 10;

export function createTestServers(
  plan: Pick<GatePlan, 'servers' | 'service' | 'suites' | 'isolation' | 'behaviour'> & NameOptions,
  {
    witnesses,
    ...job
  }: {
    witnesses: Pick<ServerWitnessBook, 'set'>;
    environment: Readonly<Record<string, string | undefined>>;
    processMarker: string | undefined;
    side?: SideDirectories | null;
    /** Null if no process needs a workspace. */
    places?: Places | null;
    /** Null if no suite has recordings of APIs. */
    upstream?: ServerUpstream | null;
    ownsPort?: boolean;
  },
): TestServers {
  const { places = null, ...jobOptions } = job;
  const workspaces = places === null ? null : { places, initial: findInitialFiles(plan) };
  const started: StartedServer[] = [];

  const findByChoice = (choice: ProtocolChoice) => started.filter(({ choices }) => choices.has(choice));
  const listSpoken = (servers: readonly StartedServer[]) => {
    const spoken = servers.flatMap(({ registered }) => registered?.listSpoken() ?? []);
    return [...new Set(spoken)].toSorted();
  };
  /** Lists tools that a server lists in one revision only, if a suite runs in both. */
  const listToolDifferences = (planned: PlannedSuite) => {
    const choices = readChoices(planned).map(({ value }) => value);
    return plan.servers.flatMap((server) => {
      const lists = choices.flatMap((choice) => {
        const { registered = null } = findByChoice(choice).find((entry) => entry.planned === server) ?? {};
        const tools = registered?.listTools() ?? null;
        return tools === null ? [] : [{ choice, tools }];
      });
      const [first, second] = lists;
      if (first === undefined || second === undefined) return [];
      const only = (list: typeof first, other: typeof first) => {
        const names = list.tools.filter((name) => !other.tools.includes(name));
        const hidden = names.length > maxNamedTools ? ` and ${names.length - maxNamedTools} more` : '';
        const shown = names.slice(0, maxNamedTools).join(', ');
        return names.length === 0 ? [] : [`Tools that the server lists in MCP ${list.choice} only: ${shown}${hidden}.`];
      };
      return [...only(first, second), ...only(second, first)];
    });
  };
  const start = async (
    planned: PlannedServer,
    { isRunning, protocol }: { isRunning: boolean; protocol: Sourced<ProtocolChoice> },
    { backend, scope }: { backend: EvalBackend; scope: ServerScope },
  ) => {
    const { isolation, servers } = plan;
    const isWitnessed = backend.traits.watchesProcesses;
    const first = started.find((entry) => entry.planned === planned);
    const access = first === undefined ? await openServerAccess(planned, scope) : first.access;
    const isOnlyServer = servers.length * listProtocols(plan.suites).length === 1;
    const sessions = planFirstSessions(plan, { isOnlyServer });
    const server = isRunning ? { ...planned, command: null } : planned;
    const waitForRuns = async () => await backend.waitForRuns();
    const isAgain = first !== undefined;
    const use = { isolation, protocol, isAgain, sessions, isWitnessed, access, waitForRuns, workspaces, ...jobOptions };
    const running = await startServer(server, use, scope);
    const entry: StartedServer = { planned, running, access, registered: null, choices: new Set([protocol.value]) };
    started.push(entry);
    const { alias, recordName } = nameServer(planned, plan);
    const shownName = planned.name ?? unnamedServer;
    const serverName = first === undefined ? recordName : nameVariant(recordName, protocol.value);
    entry.registered = await backend.register(running, { serverName, shownName, alias, access }, scope);
    // A server that was opened by URL alone uses the process that the first one started.
    witnesses.set(entry.registered.id, running.witness ?? first?.running.witness ?? null);
  };

  const listTargets = () =>
    plan.servers.flatMap((planned) => {
      const first = started.find((entry) => entry.planned === planned);
      if (first === undefined) return [];
      const { running, access } = first;
      const target = { ...running.endpoint, protocol: running.protocol, access };
      return [{ configuration: planned.name ?? defaultConfiguration, target }];
    });

  return {
    open: async (backend, scope) => {
      for (const planned of plan.servers) {
        for (const protocol of listProtocols(plan.suites)) {
          const own = started.filter((entry) => entry.planned === planned);
          const same = own.find(({ running }) => running.report.protocolVersion === protocol.value);
          // The first server over HTTP has the port, and serves both revisions or fails here.
          const isRunning = own.length > 0 && planned.url !== null;
          if (same === undefined) await start(planned, { isRunning, protocol }, { backend, scope });
          else same.choices.add(protocol.value);
        }
      }
      if (plan.servers.length < 2) return;
      const { clock, lifetime } = scope;
      await backend.refuseToolClashes(plan.suites, listTargets(), { clock, signal: lifetime.cancelRun });
    },
    listTargets,
    find: (planned) =>
      readChoices(planned).flatMap(({ value }) => findByChoice(value).flatMap(({ registered }) => registered ?? [])),
    report: () =>
      plan.servers.flatMap((planned) => {
        const own = started.filter((entry) => entry.planned === planned);
        const [first] = own;
        if (first === undefined) return [];
        const { report } = first.running;
        const protocolVersions = listSpoken(own);
        const protocolVersion = protocolVersions[0] ?? report.protocolVersion;
        return [
          { ...(planned.name !== null && { label: planned.name }), ...report, protocolVersion, protocolVersions },
        ];
      }),
    listNotes: () => {
      const noise = plan.servers.flatMap((planned) => {
        const own = started.filter((entry) => entry.planned === planned);
        return noteNoise(own.map(({ running }) => running.findNoise()).find((line) => line !== null) ?? null, planned);
      });
      if (started.length === plan.servers.length) return noise;
      const revisions = plan.suites.flatMap((planned) => {
        const ways = readChoices(planned).flatMap((choice) => {
          const [server] = findByChoice(choice.value);
          const spoken = server === undefined ? '' : listSpoken([server]).join(' and ');
          if (server === undefined || spoken === '') return [];
          return [`${spoken} (${server.running.report.isolation}; ${describeSource(choice.source)})`];
        });
        if (planned.kind === 'stored' || ways.length === 0) return [];
        return [`${planned.suite.name} was run in MCP ${ways.join(' and in MCP ')}.`, ...listToolDifferences(planned)];
      });
      return [...noise, ...revisions];
    },
    diagnose: async (signal) => {
      const found = started.map(async ({ planned, running }) =>
        noteFindings(await running.diagnose(signal), planned.name),
      );
      return (await Promise.all(found)).flat();
    },
    findForeignOwner: () => {
      for (const { running } of started) {
        const why = running.findForeignOwner();
        if (why !== null) return why;
      }
      return null;
    },
    stderrTail: () => started.flatMap(({ running }) => running.stderrTail()),
  };
}

interface NameOptions {
  /** Ends the names of the records, because other servers of the gate have the same names. */
  recordSuffix?: string;
}

/** Names are unique within a project and have at most 128 characters; the name of a revision may be added. */
const maxNameLength = 100;

/** Names one of the servers of a job, for steps and for the service. */
export function nameServer(
  { name }: Pick<PlannedServer, 'name'>,
  {
    servers,
    service,
    recordSuffix = '',
  }: { servers: readonly unknown[]; service: Pick<PlannedService, 'serverName' | 'hosted'> } & NameOptions,
): { alias: string; recordName: string } {
  const ownName =
    recordSuffix === ''
      ? service.serverName
      : `${service.serverName.slice(0, maxNameLength - recordSuffix.length)}${recordSuffix}`;
  if (servers.length === 1 || name === null) return { alias: serverUnderTest, recordName: ownName };
  // In a hosted project, other jobs have servers of the same names.
  const recordName = service.hosted === null ? `${name}${recordSuffix}` : nameOneOfServers(ownName, name);
  return { alias: name, recordName };
}

/** Lists the protocols in which a suite uses the server, one or two. */
function readChoices(planned: PlannedSuite): Array<Sourced<ProtocolChoice>> {
  return planned.kind === 'file' ? listChoices(planned.protocol) : [anyProtocol];
}

/** Lists each revision once; `auto` comes first, since it may turn out to be one of the others. */
function listProtocols(suites: readonly PlannedSuite[]): Array<Sourced<ProtocolChoice>> {
  const first = new Map<ProtocolChoice, Sourced<ProtocolChoice>>();
  for (const choice of suites.flatMap(readChoices)) if (!first.has(choice.value)) first.set(choice.value, choice);
  if (first.size === 0) return [anyProtocol];
  return [...first.values()].toSorted((a, b) => Number(b.value === 'auto') - Number(a.value === 'auto'));
}

function nameVariant(serverName: string, choice: ProtocolChoice): string {
  return `${serverName.slice(0, maxNameLength)} (${choice})`;
}

/** Keeps the witnesses of servers that start later than the service that uses the witnesses. */
export interface ServerWitnessBook extends ServerWitnesses {
  /** Sets the witness when the service knows the server; null if the gate did not start it. */
  set(serverId: string, witness: ProcessWitness | null): void;
}

/** Creates the book. It redacts what the witnesses report. */
export function createServerWitnesses(redactor: Redactor): ServerWitnessBook {
  const known = new Map<string, ProcessWitness>();
  const redactWitness = createWitnessRedaction(redactor);
  return {
    set: (serverId, witness) => {
      if (witness !== null) known.set(serverId, redactWitness(witness));
    },
    find: (serverId) => known.get(serverId) ?? null,
  };
}

/** Creates a function that redacts what a witness reports. */
export function createWitnessRedaction(redactor: Redactor): (witness: ProcessWitness) => ProcessWitness {
  /** Returns the same value for the same end: it identifies iterations that shared a process. */
  const redacted = new WeakMap<ProcessEnd, ProcessEnd>();
  const redactEnd = (end: ProcessEnd): ProcessEnd => {
    const clean = redacted.get(end) ?? { ...end, lastLines: redactLines(end.lastLines, redactor) };
    redacted.set(end, clean);
    return clean;
  };
  return (witness) => ({
    ...witness,
    visit: async (options) => {
      const visit = await witness.visit(options);
      return {
        findEnd: async (...asked) => {
          const found = await visit.findEnd(...asked);
          return found === null ? null : { ...found, end: redactEnd(found.end) };
        },
        readOutput: async (sessionId) => redactOutput(await visit.readOutput(sessionId), redactor),
        [Symbol.dispose]: () => visit[Symbol.dispose](),
      };
    },
  });
}

/** Redacts lines with their times. A secret of several lines leaves fewer, of which the last ones keep their times. */
function redactOutput(lines: readonly OutputLine[], redactor: Redactor): OutputLine[] {
  const texts = redactLines(
    lines.map(({ text }) => text),
    redactor,
  );
  return texts.map((text, index) => ({ text, atMs: lines.at(index - texts.length)?.atMs ?? 0 }));
}

/** Redacts the lines as one text, since a secret may have several lines. */
function redactLines(lines: readonly string[], redactor: Redactor): string[] {
  return lines.length === 0 ? [] : redactor.redact(lines.join('\n')).split('\n');
}
