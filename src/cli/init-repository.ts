import { createInterface } from 'node:readline/promises';
import { ConfigurationError, describeError, ServerStartError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { formatCount } from '../base/text.ts';
import { systemClock } from '../base/time.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { readSurfaceFile, readTarget } from '../gate/plan/surface-part.ts';
import { openServerSession, planOneServer, type ReachContext, type ReachedSession } from '../gate/reach-server.ts';
import { findProject, type FoundProject, type ServerCandidate } from '../init/find-server.ts';
import { type Survey, surveyServer } from '../init/survey.ts';
import {
  type ExistingEvals,
  type InitFiles,
  nameSurfaceFile,
  readExistingEvals,
  writeInitFiles,
} from '../init/write-files.ts';
import { type ChosenServer, listServerInputs } from '../init/write-workflow.ts';
import { defaultConfiguration, surfaceFileVersion } from '../model/surface.ts';
import { parseModelName } from '../models/model-name.ts';
import { joinCommand } from '../server/split-command.ts';
import { renderSurfaceFile } from '../surface/file.ts';
import { createStderrLogger, redactText } from './command-logger.ts';
import type { GateProcess } from './run-flags.ts';
import { runGate } from './run-gate.ts';

export interface InitFlags {
  yes?: boolean;
  evals: string;
  safeTool: string[];
  model?: string;
  run: boolean;
}

/** Drafts evals, a surface file and a workflow, writes them, runs the evals, and returns the exit code. */
export async function initRepository(
  flags: InitFlags,
  given: Record<string, string>,
  context: GateProcess,
): Promise<number> {
  const { redactor } = context;
  const { env: environment } = process;
  const cwd = process.cwd();
  const logger = createStderrLogger(redactor);
  const model = flags.model === undefined ? null : flags.model;
  if (model !== null) parseModelName(model);
  const project = await findProject(cwd);
  const server = await chooseServer(given, project, flags.yes === true);
  const texts = { ...given, ...Object.fromEntries(listServerInputs(server)) };
  const planned = await planOneServer(parseDoctorOptions(texts), { cwd, environment });
  const evals = await readExistingEvals(flags.evals, cwd);
  const signal = listenForInterrupts(process, (code) => process.exit(code));
  const surfacePath = nameSurfaceFile(flags.evals);
  const known = await readSurfaceFile(surfacePath, cwd);
  const { survey, surface } = await surveyPlanned(planned, {
    evals,
    flags,
    logger,
    redactor,
    signal,
    steps: project.steps,
    readsSurface: known === null,
  });
  const { steps } = server.kind === 'command' ? project : { steps: [] };
  const result = await writeInitFiles(survey, { cwd, evals, server, steps, model, surface });
  printResult(result, survey, (text) => process.stdout.write(`${redactText(text, redactor)}\n`));
  if (!flags.run) return 0;
  return await runGate(
    {
      quiet: false,
      verbose: false,
      format: 'text',
      texts: {
        ...texts,
        evals: flags.evals,
        ...((known !== null || surface !== null) && { surface: surfacePath }),
      },
    },
    context,
  );
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

async function surveyPlanned(
  planned: PlannedServer,
  {
    evals,
    flags,
    logger,
    redactor,
    signal,
    steps,
    readsSurface,
  }: {
    evals: ExistingEvals;
    flags: InitFlags;
    logger: Logger;
    redactor: Redactor;
    signal: AbortSignal;
    steps: FoundProject['steps'];
    readsSurface: boolean;
  },
): Promise<{ survey: Survey; surface: string | null }> {
  const { tools, draftedTools, resources, prompts } = evals.known;
  const safeTools = new Set(flags.safeTool);
  // Excludes drafts of tools that the user now declares safe, so that these tools get a case that runs.
  const settled = new Set([...tools].filter((name) => !(safeTools.has(name) && draftedTools.has(name))));
  const known = { tool: settled, resource: resources, prompt: prompts };
  const context = { clock: systemClock, logger, redactor, signal, environment: process.env };
  try {
    await using reached = await openServerSession(planned, context);
    // Reads the surface before the first call, because a call may crash the server.
    const surface = readsSurface ? await renderSurface(planned, reached.target, context) : null;
    const survey = await surveyServer(reached.session, {
      clock: systemClock,
      signal,
      safeTools,
      isKnown: (kind, name) => known[kind].has(name),
    });
    return { survey, surface };
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

function printResult({ files, cases, manual }: InitFiles, survey: Survey, print: (line: string) => void): void {
  const running = cases.filter(({ reason }) => reason === null);
  const drafts = cases.filter(({ reason }) => reason !== null);
  for (const { path, state } of files) print(`${state.padEnd(9)}  ${path}`);
  print(`${formatCount(running.length, 'case')} to run, ${formatCount(drafts.length, 'draft')} commented out.`);
  for (const { subject, reason } of drafts) print(`  not run: ${subject}: ${reason}`);
  const [surface, workflow] = [/surface\.json$/, /\.yml$/].map((name) => files.find(({ path }) => name.test(path)));
  if (surface?.state === 'created' && workflow?.state === 'unchanged') {
    print(`To compare pull requests with the surface file, add \`surface: ${surface.path}\` to ${workflow.path}.`);
  }
  if (survey.tools?.some(({ trial }) => trial.kind === 'unsafe') === true) {
    print('To call a tool although it is not declared read-only, run init again with `--safe-tool <name>`.');
  }
  if (manual !== null)
    print(`Add these cases by hand; the list of cases of the file is not in block style:\n\n${manual}`);
}
