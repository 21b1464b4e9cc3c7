import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ConfigurationError, describeError, SandboxError, ServerStartError } from '../base/errors.ts';
import { isDirectory, readTextFile } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import { type Redactor, redactDeep, Secret } from '../base/redaction.ts';
import { clipText, formatCount, putOnOneLine } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { renderExplorationText } from '../explore/render/text.ts';
import { generatedWorkspace, generateFiles } from '../explore/world/generated-files.ts';
import { fillPlace, namePlace } from '../workspace/place.ts';
import { showPaths } from '../workspace/placeholders.ts';
import { emptyName, nameWorkspace, readWorkspace, type Workspace, workspaceDirectory } from '../workspace/workspace.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { readSurfaceFile, readTarget } from '../gate/plan/surface-part.ts';
import { openServerSession, planOneServer, type ReachContext, type ReachedSession } from '../gate/reach-server.ts';
import { nameServers } from '../hosts/compare-with-base.ts';
import { listWorst } from '../hosts/list-worst.ts';
import { draftCases, type DraftedCase, toAddedCase } from '../init/draft-cases.ts';
import { draftExplored } from '../init/draft-explored.ts';
import { findProject, type FoundProject, type ServerCandidate } from '../init/find-server.ts';
import { refuseUnlisted, type Survey, surveyServer } from '../init/survey.ts';
import {
  type ExistingEvals,
  type InitContent,
  type InitFiles,
  nameSurfaceFile,
  readExistingEvals,
  writeInitFiles,
  type WrittenFile,
} from '../init/write-files.ts';
import { type ChosenServer, listServerInputs } from '../init/write-workflow.ts';
import type { Session } from '../mcp/session.ts';
import { defaultConfiguration, surfaceFileVersion } from '../model/surface.ts';
import type { Report } from '../model/report.ts';
import { parseModelName } from '../models/model-name.ts';
import { joinCommand, splitCommand } from '../server/split-command.ts';
import { nameDirectories, resolveWords } from '../server/start-in-place.ts';
import { parseSurfaceFile, renderSurfaceFile } from '../surface/file.ts';
import { commentOutCases } from '../suite/comment-out.ts';
import { createStderrLogger, redactText } from './command-logger.ts';
import { type ExplorationNumbers, exploreOnTerminal, readExplorationFlags } from './explore-planned.ts';
import type { ExplorationFlags } from './exploration-flags.ts';
import type { GateProcess } from './run-flags.ts';
import { runGate } from './run-gate.ts';

export interface InitFlags extends ExplorationFlags {
  yes?: boolean;
  evals: string;
  upstream?: string;
  model?: string;
  vitest?: boolean;
  run: boolean;
}

/** What init found out about the server, and what it prints about it at the end. */
interface Found {
  content: InitContent;
  print: (result: InitFiles, ran: { hasPassed: boolean | null; commentedOut: number }) => string[];
}

/** Explores the server, writes evals, a surface file and a workflow, runs the evals, and returns the exit code. */
export async function initRepository(
  flags: InitFlags,
  given: Record<string, string>,
  context: GateProcess,
): Promise<number> {
  const { redactor } = context;
  const { env: environment } = process;
  const cwd = process.cwd();
  const logger = createStderrLogger(redactor);
  if (flags.model !== undefined) parseModelName(flags.model);
  const numbers = readExplorationFlags(flags);
  const project = await findProject(cwd);
  const server = await chooseServer(given, project, flags.yes === true);
  const texts = { ...given, ...Object.fromEntries(listServerInputs(server)) };
  const planned = await planOneServer(parseDoctorOptions(texts), { cwd, environment });
  const evals = await readExistingEvals(flags.evals, cwd);
  const signal = listenForInterrupts(process, (code) => process.exit(code));
  checkUpstream(flags, evals, planned);
  const surfacePath = nameSurfaceFile(flags.evals);
  const known = await readSurfaceFile(surfacePath, cwd);
  const situation = { evals, flags, logger, redactor, signal, steps: project.steps, readsSurface: known === null };
  const { command } = planned;
  const next = nameNext(flags.evals, server, given);
  const { content, print } =
    command === null || planned.url !== null
      ? await surveyPlanned(planned, situation)
      : await exploreForInit({ ...planned, command }, { ...situation, numbers, next, cwd });
  const env = (given['server-env'] ?? '').split('\n').filter((line) => line.includes('{{workspace}}'));
  const { steps } = server.kind === 'command' ? project : { steps: [] };
  const result = await writeInitFiles(content, {
    cwd,
    evals,
    server,
    steps,
    env,
    runner: flags.vitest === true ? 'vitest' : 'workflow',
  });
  const ran: { hasPassed: boolean | null; commentedOut: number } = { hasPassed: null, commentedOut: 0 };
  try {
    if (flags.upstream !== undefined) {
      const once = { ...texts, evals: flags.evals, runs: '1', concurrency: '1' };
      const recording = { quiet: true, verbose: false, format: 'text' as const, texts: once, recordsUpstream: true };
      const exitCode = await runGate(recording, context);
      if (exitCode !== 0) return exitCode;
    }
    if (!flags.run) return 0;
    const hasSurface = known !== null || content.surface !== null;
    const all = { ...texts, evals: flags.evals, ...(hasSurface && { surface: surfacePath }) };
    let report: Report | null = null;
    const run = async () => {
      const onReport = (made: Report) => (report = made);
      return await runGate({ quiet: false, verbose: false, format: 'text', texts: all, onReport }, context);
    };
    let exitCode = await run();
    if (exitCode === 1 && report !== null) {
      const added = content.cases.filter(({ isCommentedOut }) => !isCommentedOut);
      ran.commentedOut = await commentOutFailed(report, { added, path: join(cwd, evals.file), redactor });
      if (ran.commentedOut > 0) {
        const what = formatCount(ran.commentedOut, 'case');
        logger.info(`${what} failed although nothing has changed: commented out in ${evals.file}, with the reason.`);
        exitCode = await run();
      }
    }
    ran.hasPassed = exitCode === 0;
    return exitCode;
  } finally {
    const hosts = describeHosts(content.surface === null ? (known?.text ?? null) : content.surface, {
      path: surfacePath,
      server,
      given,
    });
    for (const line of [...print(result, ran), ...hosts]) process.stdout.write(`${redactText(line, redactor)}\n`);
  }
}

/** Where more of the new cases fail in their first run, something else is wrong, and they stay as they are. */
const largestFailedShare = 0.25;

const longestReason = 300;

/** Comments new cases out that failed in their first run: no change of the server can explain that. Returns how many there are. */
async function commentOutFailed(
  { cases }: Report,
  { added, path, redactor }: { added: InitContent['cases']; path: string; redactor: Redactor },
): Promise<number> {
  const ids = new Set(added.map(({ content }) => content['id']));
  const failed = cases.filter(({ id, outcome }) => outcome === 'failed' && ids.has(id));
  if (failed.length === 0 || failed.length > largestFailedShare * added.length) return 0;
  const reasons = failed.map(({ id, failures }): [string, string] => {
    const [reason = 'it failed'] = failures[0]?.reasons ?? [];
    return [
      id,
      `Not run: it failed when it was written: ${clipText(putOnOneLine(redactText(reason, redactor)), longestReason)}`,
    ];
  });
  const text = await readTextFile(path);
  await writeFile(path, commentOutCases(text, new Map(reasons)));
  return failed.length;
}

/** Names the directory of the recordings as the evals file does; null for none. */
function nameUpstream({ upstream, evals }: InitFlags): string | null {
  return upstream === undefined ? null : relative(dirname(evals), upstream).split(sep).join('/');
}

/** @throws {ConfigurationError} if the answers of the API cannot be recorded for the evals file */
function checkUpstream(flags: InitFlags, { text, upstream, file }: ExistingEvals, { url }: PlannedServer): void {
  const key = nameUpstream(flags);
  const refuse = (code: string, message: string) => {
    throw new ConfigurationError([{ input: 'upstream', code, message }]);
  };
  if (key === null) return;
  if (url !== null) refuse('server-url', 'a server at a URL is not started here; give `--server-command`');
  if (text !== null && upstream !== key) {
    const has = upstream === null ? 'no key `upstream`' : `the key \`upstream: ${upstream}\``;
    refuse('other-upstream', `${file} has ${has}; write \`upstream: ${key}\` into it, or leave the option out`);
  }
}

/** Names the command that runs the evals. */
function nameNext(evals: string, server: ChosenServer, given: Record<string, string>): string {
  return `mcp-eval-ci run --evals ${joinCommand([evals])} ${nameServer(server, given)}`;
}

/** Names the flags of the server. Values of variables may be secrets. */
function nameServer(server: ChosenServer, { 'server-env': variables = '' }: Record<string, string>): string {
  const inputs = listServerInputs(server).map(([name, value]) => `--${name} ${joinCommand([value])}`);
  return `${inputs.join(' ')}${variables === '' ? '' : ', with your `--server-env`'}`;
}

/** The most findings of hosts that the screen names. */
const maxHostFindings = 3;

/** Describes the worst that hosts do to the server; empty if its surface is not known, or if no host is known to do any harm. */
function describeHosts(
  surface: string | null,
  { path, server, given }: { path: string; server: ChosenServer; given: Record<string, string> },
): string[] {
  if (surface === null) return [];
  const servers = nameServers(parseSurfaceFile(surface, path).configurations);
  const { worst, total } = listWorst(servers, maxHostFindings);
  if (worst.length === 0) return [];
  return [
    '',
    `Hosts that show a model less than the server sends (${formatCount(total, 'finding')} in all):`,
    ...worst.map((sentence) => `  ${sentence}`),
    `More: npx mcp-eval-ci hosts ${nameServer(server, given)}`,
  ];
}

/** Chooses the server from the options, or else from the repository after a person confirms it. */
async function chooseServer(
  given: Readonly<Record<string, string>>,
  { candidates }: FoundProject,
  takesFirst: boolean,
): Promise<ChosenServer> {
  const { 'server-command': command = '', 'server-url': url = '', 'mcp-config': config = '' } = given;
  if (command !== '') return { kind: 'command', command };
  if (url !== '') return { kind: 'url', url };
  if (config !== '') return { kind: 'config', config };
  const [first] = candidates;
  if (takesFirst && first !== undefined) return toChosen(first);
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw refuseGuess(candidates);
  return await askForServer(candidates);
}

function toChosen({ words, config }: ServerCandidate): ChosenServer {
  return config === null ? { kind: 'command', command: joinCommand(words ?? []) } : { kind: 'config', config };
}

function describeCandidate(candidate: ServerCandidate): string {
  const chosen = toChosen(candidate);
  const what = chosen.kind === 'command' ? chosen.command : candidate.source;
  return chosen.kind === 'command' ? `${what}  (${candidate.source})` : what;
}

function refuseGuess(candidates: readonly ServerCandidate[]): ConfigurationError {
  const [first] = candidates;
  const message =
    first === undefined
      ? 'no way to start the server was found in this directory; give `--server-command` or `--server-url`'
      : `init starts nothing unasked; give \`--yes\` to start \`${describeCandidate(first)}\`, or \`--server-command\``;
  return new ConfigurationError([{ input: 'server-command', code: 'missing-server', message }]);
}

async function askForServer(candidates: readonly ServerCandidate[]): Promise<ChosenServer> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (const [index, candidate] of candidates.entries()) {
      process.stderr.write(`  ${index + 1}  ${describeCandidate(candidate)}\n`);
    }
    const question =
      candidates.length === 0
        ? 'The command that starts the server: '
        : 'Start the server with (a number, or another command) [1]: ';
    for (;;) {
      const answer = (await terminal.question(question)).trim();
      const chosen = candidates[answer === '' ? 0 : Number(answer) - 1];
      if (chosen !== undefined) return toChosen(chosen);
      if (answer !== '' && !/^\d+$/.test(answer)) return { kind: 'command', command: answer };
    }
  } finally {
    terminal.close();
  }
}

interface Situation {
  evals: ExistingEvals;
  flags: InitFlags;
  logger: Logger;
  redactor: Redactor;
  signal: AbortSignal;
  steps: FoundProject['steps'];
  readsSurface: boolean;
}

/** Explores a server that init starts itself, and drafts cases from what is found. */
async function exploreForInit(
  planned: PlannedServer & { command: string },
  { numbers, next, cwd, ...situation }: Situation & { numbers: ExplorationNumbers; next: string; cwd: string },
): Promise<Found> {
  const { evals, flags, redactor, signal } = situation;
  const { workspace, key, isNew } = await chooseWorkspace(flags, evals, cwd);
  const { surface, listed } = await inPlace(planned, workspace, async (placed) => {
    return await reachPlanned(placed, situation, async ({ session, surface }) => {
      const tools = await session.listTools({ signal });
      return { surface, listed: new Map(tools) };
    });
  });
  refuseUnlisted(flags.safeTool, [...listed.keys()]);
  const { tools: seen } = evals.known;
  if (seen.size > 0 && [...listed.keys()].every((name) => seen.has(name))) {
    const print = ({ files }: InitFiles) => [
      ...listFiles(files),
      'Each tool has a case already; nothing was explored.',
    ];
    const content = {
      suite: '',
      cases: [],
      snapshots: new Map(),
      workspace: null,
      upstream: null,
      fixture: null,
      surface,
    };
    return { content, print };
  }
  const exploration = await exploreOnTerminal(planned, {
    ...numbers,
    containment: {
      call: flags.call ?? (flags.yes === true ? 'by-sandbox' : 'ask'),
      sandbox: 'auto',
      isSandboxEnabled: false,
    },
    safeTools: flags.safeTool,
    reachesUpstream: flags.upstream !== undefined,
    workspace,
    redactor,
    signal,
  });
  // An existing file without the key starts its server in the directory of the user.
  const suiteWorkspace = evals.text === null || evals.workspace !== null ? 'files' : 'none';
  const draft = await draftExplored(exploration, {
    known: evals.known,
    suiteWorkspace,
    model: flags.model ?? null,
    tools: listed,
  });
  return {
    content: {
      suite: exploration.server.name ?? 'MCP server',
      cases: draft.cases,
      snapshots: draft.files,
      // Each world had a directory and a HOME of its own. Without the key, a server that keeps its state there finds that of other cases.
      workspace: draft.needsWorkspace ? key : emptyName,
      upstream: nameUpstream(flags),
      fixture: draft.needsWorkspace && isNew ? (await generateFiles(exploration.addedFiles ?? [])).workspace : null,
      surface,
    },
    print: ({ files, manual }, { hasPassed, commentedOut }) => {
      const count = draft.cases.filter(({ isCommentedOut }) => !isCommentedOut).length - commentedOut;
      const named = files.map(({ path, state }) =>
        path === flags.evals && state !== 'unchanged'
          ? `${path} (${state}, ${formatCount(count, 'case')})`
          : `${path} (${state})`,
      );
      const renew = `After a meant change, renew the checks: ${next} --update`;
      const runs =
        flags.vitest === true
          ? 'commit the files, and run `npx vitest` (it needs vitest and mcp-eval-ci)'
          : 'commit the files';
      const follow = hasPassed === true ? `${runs}. ${renew}` : next;
      const screen = renderExplorationText(exploration, { files: named, next: follow });
      return [screen.trimEnd(), ...explainFiles(files, manual)];
    },
  };
}

/** Chooses the files of the worlds: those that the user names, those of the existing evals, or generated ones. */
async function chooseWorkspace(
  { workspace: named }: InitFlags,
  { file, workspace: used }: ExistingEvals,
  cwd: string,
): Promise<{ workspace: Workspace; key: string; isNew: boolean }> {
  const directory = dirname(file);
  if (named === emptyName || (named === undefined && used === emptyName)) {
    return { workspace: await readWorkspace(emptyName, cwd), key: emptyName, isNew: false };
  }
  if (named !== undefined) {
    return { workspace: await readWorkspace(named, cwd), key: nameWorkspace(named, directory), isNew: false };
  }
  const key = used ?? workspaceDirectory;
  const path = join(directory, key);
  const isThere = await isDirectory(join(cwd, path));
  return { workspace: isThere ? await readWorkspace(path, cwd) : generatedWorkspace, key, isNew: !isThere };
}

/**
 * Runs an action with the server in a copy of the workspace, with its own HOME, and in a sandbox where the machine has one. The network is
 * on, as for the gate that compares the surface.
 */
async function inPlace<Result>(
  planned: PlannedServer & { command: string },
  workspace: Workspace,
  action: (placed: PlannedServer) => Promise<Result>,
): Promise<Result> {
  const root = await mkdtemp(join(await realpath(tmpdir()), 'mcp-eval-ci-init-'));
  try {
    const paths = namePlace(root);
    await fillPlace(paths, workspace);
    const words = resolveWords(splitCommand(planned.command), planned.cwd).map((word) => showPaths(word, paths));
    const variables = [...planned.environment].map(
      ([name, value]) => [name, showPaths(value.reveal(), paths)] as const,
    );
    const own = Object.entries(nameDirectories(paths));
    const environment = new Map([...variables, ...own].map(([name, value]) => [name, new Secret(value)]));
    const placed = { ...planned, command: joinCommand(words), cwd: paths.workspace, environment };
    const make = { directories: [], files: [] };
    const sandbox = { network: 'on' as const, writable: [root], protect: [], make };
    try {
      return await action({ ...placed, sandbox: { ...sandbox, mode: 'required' } });
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      return await action({ ...placed, sandbox: { ...sandbox, mode: 'auto' } });
    }
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Tries what is safe on a server that runs elsewhere. */
async function surveyPlanned(planned: PlannedServer, situation: Situation): Promise<Found> {
  const { evals, flags, signal } = situation;
  const { tools, draftedTools, resources, prompts } = evals.known;
  const safeTools = new Set(flags.safeTool);
  // Excludes drafts of tools that the user now declares safe, so that these tools get a case that runs.
  const settled = new Set([...tools].filter((name) => !(safeTools.has(name) && draftedTools.has(name))));
  const known = { tool: settled, resource: resources, prompt: prompts };
  const isKnown = (kind: 'tool' | 'resource' | 'prompt', name: string) => known[kind].has(name);
  const { survey, surface } = await reachPlanned(planned, situation, async ({ session, surface }) => {
    const survey = await surveyServer(session, { clock: systemClock, signal, safeTools, isKnown });
    return { survey, surface };
  });
  const drafted = draftCases(survey, { known: evals.known, model: flags.model ?? null });
  const suite = survey.serverName ?? 'MCP server';
  const cases = drafted.map(toAddedCase);
  return {
    content: { suite, cases, snapshots: new Map(), workspace: null, upstream: null, fixture: null, surface },
    print: ({ files, manual }) => [...listFiles(files), ...listDrafts(drafted, survey), ...explainFiles(files, manual)],
  };
}

/** Opens a session, and reads the surface before the first call, because a call may crash the server. */
async function reachPlanned<Result>(
  planned: PlannedServer,
  { readsSurface, steps, logger, redactor, signal }: Situation,
  action: (reached: { session: Session; surface: string | null }) => Promise<Result>,
): Promise<Result> {
  const context = { clock: systemClock, logger, redactor, signal, environment: process.env };
  try {
    await using reached = await openServerSession(planned, context);
    const surface = readsSurface ? await renderSurface(planned, reached.target, context) : null;
    return await action({ session: reached.session, surface });
  } catch (error) {
    if (!(error instanceof ServerStartError)) throw error;
    if (error.stderrTail.length > 0) logger.group('Last lines of the server’s stderr', error.stderrTail);
    const builds = steps.map(({ run }) => `\`${run}\``).join(', then ');
    if (builds !== '') logger.info(`If the server is not built yet, run ${builds}.`);
    throw error;
  }
}

/** Returns the text of the surface file. Warns and returns null if the server fails to list what it offers. */
async function renderSurface(
  { name, readyTimeoutMs: timeoutMs }: PlannedServer,
  target: ReachedSession['target'],
  { redactor, logger, ...context }: ReachContext,
): Promise<string | null> {
  try {
    const surface = redactDeep(await readTarget(target, { ...context, timeoutMs }), redactor);
    return renderSurfaceFile({
      version: surfaceFileVersion,
      configurations: { [name ?? defaultConfiguration]: surface },
    });
  } catch (error) {
    context.signal.throwIfAborted();
    logger.warning(`No surface file is written: ${describeError(error)}`);
    return null;
  }
}

const listFiles = (files: readonly WrittenFile[]) => files.map(({ path, state }) => `${state.padEnd(9)}  ${path}`);

function listDrafts(cases: readonly DraftedCase[], survey: Survey): string[] {
  const running = cases.filter(({ reason }) => reason === null);
  const drafts = cases.filter(({ reason }) => reason !== null);
  const isUnsafe = survey.tools?.some(({ trial }) => trial.kind === 'unsafe') === true;
  return [
    `${formatCount(running.length, 'case')} to run, ${formatCount(drafts.length, 'draft')} commented out.`,
    ...drafts.map(({ subject, reason }) => `  not run: ${subject}: ${reason}`),
    ...(isUnsafe
      ? ['To call a tool although it is not declared read-only, run init again with `--safe-tool <name>`.']
      : []),
  ];
}

function explainFiles(files: readonly WrittenFile[], manual: string | null): string[] {
  const [surface, workflow] = [/surface\.json$/, /\.yml$/].map((name) => files.find(({ path }) => name.test(path)));
  return [
    ...(surface?.state === 'created' && workflow?.state === 'unchanged'
      ? [`To compare pull requests with the surface file, add \`surface: ${surface.path}\` to ${workflow.path}.`]
      : []),
    ...(manual === null
      ? []
      : [`Add these cases by hand; the list of cases of the file is not in block style:\n\n${manual}`]),
  ];
}
