import { type Command, Option } from 'commander';
import { systemClock } from '../base/time.ts';
import { ConfigurationError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { limitHeapGrowth, listenForInterrupts } from '../gate/host-process.ts';
import { listKnownSecrets, listOptions, type OptionDescription, readGateOptions } from '../gate/options.ts';
import { isFlagOf } from '../gate/options/surfaces.ts';
import { createJobContext, previewJob, runJob } from '../gate/job.ts';
import { publishIssues } from '../gate/publish/publish-files.ts';
import { addFormatOption, type OutputFormat, printAnnotations, printReport, readFormat } from './output-format.ts';
import { selectFailed } from './failed-cases.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import { createTerminalLogger, redactText } from './logger.ts';
import { createProgressDisplay, type ProgressDisplay } from './progress.ts';
import { checkUpdate, createLiteralLog } from './update.ts';
import { runAgain, watchFlag, watchRuns } from './watch.ts';
import { publishReport } from '../gate/publish/publish-report.ts';

/** The process of a command that runs the gate. */
export interface GateProcess {
  redactor: Redactor;
  supervision: Supervision;
}

export interface RunFlags {
  quiet: boolean;
  verbose: boolean;
  format: OutputFormat;
  /** Every option of the gate, by its name, as text. */
  texts: Record<string, string>;
  /** Whether recordings are written next to the evals files, and decide the exit code. */
  isRecording?: boolean;
  updatesSnapshots?: boolean;
  /** Whether expected values in the evals files become those of the results. */
  updatesLiterals?: boolean;
}

/** Adds `run`: the gate, with the action's inputs as flags. */
export function addRunCommand(program: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listOptions().filter(({ name }) => isFlagOf('run', name));
  const command = program.command('run').description('Run evals against an MCP server and judge the pass rate.');
  addRunFlags(command, options);
  command
    .addOption(new Option('--update', 'Write what `toolResultEquals` got into the evals files, where it failed.'))
    .addOption(new Option('--update-snapshots', 'Write the files of `toMatchFile` instead of comparing with them.'))
    .addOption(new Option('--failed', 'Run only the cases that did not pass last time, by the last report.'))
    .addOption(new Option('--watch', 'Run again after each change of a file, the failed cases first.'))
    .addHelpText(
      'after',
      `
Examples:
  $ mcp-eval-ci run --server-command "node build/index.js" evals/*.evals.yaml
  $ mcp-eval-ci run --server-url http://127.0.0.1:3000/mcp --tags smoke evals/*

Exit codes:
  0 passed · 1 failed · 2 configuration or usage · 3 inconclusive`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const updatesSnapshots = flags['updateSnapshots'] === true;
      const updatesLiterals = flags['update'] === true;
      if (updatesLiterals) checkUpdate(process.env, flags['watch'] === true);
      const run = { ...readRunFlags(files, flags, options), updatesSnapshots, updatesLiterals };
      if (flags['watch'] === true) {
        setExitCode(await watchGate(run.texts['report-dir'] || defaultReportDir));
        return;
      }
      const texts =
        flags['failed'] === true ? await selectFailed(run.texts, { cwd: process.cwd(), defaultReportDir }) : run.texts;
      if (texts === null) process.stdout.write('Every case passed last time; nothing was run.\n');
      setExitCode(texts === null ? 0 : await runGate({ ...run, texts }, context));
    });
}

const defaultReportDir = listOptions().find(({ name }) => name === 'report-dir')?.default ?? '';

/** Each run is this command again in a process of its own, with its supervisor. */
async function watchGate(reportDir: string): Promise<number> {
  const args = process.argv.slice(2).filter((word) => word !== watchFlag && word !== '--failed');
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  return await watchRuns({
    directory: process.cwd(),
    ignored: [reportDir],
    run: async ({ isFailedOnly }) => await runAgain(isFailedOnly ? [...args, '--failed'] : args),
    print: (line) => process.stderr.write(`${line}\n`),
    signal,
  });
}

/** Adds what a command takes that runs evals: files, the options of the gate, and how its output looks. */
export function addRunFlags(command: Command, options: readonly OptionDescription[]): void {
  command.argument('[files...]', 'evals files, as if given with --evals');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addOption(new Option('--quiet', 'Print no progress, only the report.').helpGroup('Output:'))
    .addOption(new Option('--verbose', 'Print what is tried and tried again, too.').helpGroup('Output:'));
}

export function readRunFlags(
  files: readonly string[],
  flags: Record<string, unknown>,
  options: readonly OptionDescription[],
): RunFlags {
  const texts = readGateFlags(flags, process.env, options);
  texts['evals'] = [texts['evals'], ...files].join('\n');
  return {
    quiet: flags['quiet'] === true,
    verbose: flags['verbose'] === true,
    format: readFormat(flags),
    texts,
  };
}

/** Runs the gate with these texts of its options, prints and publishes the results, and returns the exit code. */
export async function runGate(
  { quiet, verbose, format, texts, isRecording = false, updatesSnapshots = false, updatesLiterals = false }: RunFlags,
  { redactor, supervision }: GateProcess,
): Promise<number> {
  limitHeapGrowth();
  const { stdout, stderr, env: environment } = process;
  const progress = createProgressDisplay({
    write: (text) => stderr.write(text),
    isTerminal: stderr.isTTY && environment['CI'] === undefined,
    columns: stderr.columns,
    clock: systemClock,
    redactor,
  });
  const logger = createTerminalLogger({
    write: (text) => {
      progress.clear();
      stderr.write(text);
    },
    redactor,
    color: stderr.hasColors?.() ?? false,
    isQuiet: quiet,
    isVerbose: verbose,
  });

  for (const secret of listKnownSecrets(texts, environment)) redactor.add(secret);
  try {
    const flags = { quiet, format, texts, isRecording, updatesSnapshots, updatesLiterals };
    return await runPlan(flags, { logger, progress, redactor, supervision });
  } catch (error) {
    if (error instanceof ConfigurationError) {
      const summaryPath = environment['GITHUB_STEP_SUMMARY'] ?? null;
      const context = { cwd: process.cwd(), logger, redactor, summaryPath };
      const stream = format === 'json' ? stderr : stdout;
      printAnnotations(await publishIssues(error.issues, texts, context), { redactor, stream });
    }
    throw error;
  }
}

async function runPlan(
  { quiet, format, texts, isRecording, updatesSnapshots, updatesLiterals }: Required<Omit<RunFlags, 'verbose'>>,
  { logger, progress, redactor, supervision }: GateProcess & { logger: Logger; progress: ProgressDisplay },
): Promise<number> {
  const { stdout, stderr, env: environment } = process;
  const context = createJobContext(process, { signals: supervision.signals, logger, redactor });
  const options = await readGateOptions(texts, { cwd: context.cwd });
  if (options.publish !== null) return await publishReport(options, { ...context, signal: context.openSignal() });
  if (options.dryRun) {
    const preview = await previewJob(options, context);
    for (const line of preview) stdout.write(`${redactText(line, redactor)}\n`);
    return 0;
  }
  const literals = updatesLiterals ? createLiteralLog() : null;
  const { exitCode, isFullyRecorded } = await runJob(options, context, {
    ...(literals !== null && { watchEvidence: literals.watch }),
    isRecording,
    updatesSnapshots,
    summaryPath: environment['GITHUB_STEP_SUMMARY'] ?? null,
    supervision,
    ...(quiet ? {} : { onProgress: progress.listener }),
    onReport: (report) => {
      progress.clear();
      printReport(report, { format, redactor });
    },
    onAnnotations: (annotations) =>
      printAnnotations(annotations, { redactor, stream: format === 'json' ? stderr : stdout }),
    onFiles: (_report, files) => {
      const written = Object.values(files).filter((path) => path !== null);
      if (written.length > 0) logger.info(`Reports: ${written.join(', ')}`);
    },
  });
  if (literals !== null) {
    const stream = format === 'json' ? stderr : stdout;
    const print = (line: string) => void stream.write(`${line}\n`);
    await literals.update({ cwd: context.cwd, print, redactor, color: stream.hasColors?.() ?? false });
  }
  // What was recorded is good or bad evals, which the gate judges later; what could not be recorded is missing then.
  return isRecording && exitCode <= 3 ? (isFullyRecorded ? 0 : 3) : exitCode;
}
