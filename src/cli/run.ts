import { basename, join } from 'node:path';
import { type Command, Option } from 'commander';
import { systemClock } from '../base/clock.ts';
import { ConfigurationError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { gate } from '../gate/gate.ts';
import { limitHeapGrowth } from '../gate/heap.ts';
import { listenForInterrupts } from '../gate/interrupt.ts';
import { listKnownSecrets } from '../gate/known-secrets.ts';
import { listOptions } from '../gate/options.ts';
import { loadChunks } from '../gate/load-chunks.ts';
import { planGate } from '../gate/plan/plan.ts';
import { readGateOptions } from '../gate/read-options.ts';
import { previewGate } from '../gate/preview.ts';
import { findExistingFiles, publishFiles } from '../gate/publish/publish-files.ts';
import { publishIssues } from '../gate/publish/publish-issues.ts';
import { announceGate } from '../gate/publish/announce-gate.ts';
import { publishOnline } from '../gate/publish/publish-online.ts';
import { planAnnotations } from '../report/annotations.ts';
import { printAnnotations } from './annotations.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import { createTerminalLogger, redactText } from './logger.ts';
import { createProgressDisplay, type ProgressDisplay } from './progress.ts';
import { addFormatOption, printReport, readFormat, type OutputFormat } from './output-format.ts';
import { publishReport } from '../gate/publish/publish-report.ts';

/** What every command that runs the gate shares. */
export interface GateCommandContext {
  redactor: Redactor;
  supervision: Supervision;
}

export interface RunFlags {
  quiet: boolean;
  verbose: boolean;
  format: OutputFormat;
  /** Every option of the gate, by its name, as text. */
  texts: Record<string, string>;
}

/** Adds `run`: the gate, with the action's inputs as flags. */
export function addRunCommand(
  program: Command,
  setExitCode: (code: number) => void,
  context: GateCommandContext,
): void {
  const command = program
    .command('run')
    .description('Run evals against an MCP server and judge the pass rate.')
    .argument('[files...]', 'evals files, as if given with --evals');
  addGateOptions(command, listOptions());
  addFormatOption(command);
  command
    .addOption(new Option('--quiet', 'Print no progress, only the report.').helpGroup('Output:'))
    .addOption(new Option('--verbose', 'Print what is tried and tried again, too.').helpGroup('Output:'))
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
      setExitCode(await runGate(readFlags(files, flags), context));
    });
}

function readFlags(files: readonly string[], flags: Record<string, unknown>): RunFlags {
  const texts = readGateFlags(flags, process.env, listOptions());
  texts['evals'] = [texts['evals'], ...files].join('\n');
  return { quiet: flags['quiet'] === true, verbose: flags['verbose'] === true, format: readFormat(flags), texts };
}

/** Runs the gate with these texts of its options, prints and publishes what came of it, and returns the exit code. */
export async function runGate(
  { quiet, verbose, format, texts }: RunFlags,
  { redactor, supervision }: GateCommandContext,
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
    return await runPlan({ quiet, format, texts }, { logger, progress, redactor, supervision });
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
  { quiet, format, texts }: Omit<RunFlags, 'verbose'>,
  { logger, progress, redactor, supervision }: GateCommandContext & { logger: Logger; progress: ProgressDisplay },
): Promise<number> {
  const { stdout, stderr, env: environment } = process;
  const cwd = process.cwd();
  const options = await readGateOptions(texts, { cwd });
  if (options.publish !== null) {
    const signal = listenForInterrupts(supervision.signals, (exitCode) => process.exit(exitCode));
    return await publishReport(options, { cwd, environment, clock: systemClock, logger, redactor, signal });
  }
  const plan = await planGate(options, { cwd, environment });
  for (const secret of plan.secrets) redactor.add(secret);
  const signal = listenForInterrupts(supervision.signals, (exitCode) => process.exit(exitCode));
  if (plan.isDryRun) {
    const preview = await previewGate(plan, { clock: systemClock, logger, redactor, signal });
    for (const line of preview) stdout.write(`${redactText(line, redactor)}\n`);
    return 0;
  }
  const summaryPath = environment['GITHUB_STEP_SUMMARY'] ?? null;
  await loadChunks();
  await announceGate(plan, supervision, { clock: systemClock, redactor, summaryPath });
  const result = await gate(plan, {
    clock: systemClock,
    logger,
    redactor,
    signal,
    environment,
    ...(supervision.marker === null ? {} : { processMarker: supervision.marker }),
    ...(quiet ? {} : { onProgress: progress.listener }),
  });
  supervision.judged();
  progress.clear();

  const { report, evidence, tracePath, exitCode } = result;
  printReport(report, { format, redactor });
  const files = await publishFiles(report, plan, { logger, redactor, summaryPath, evidence });
  const traces = tracePath === null ? [] : [join(plan.reportDir.label, basename(tracePath))];
  const written = [...Object.values(files).filter((path) => path !== null), ...traces];
  if (written.length > 0) logger.info(`Reports: ${written.join(', ')}`);
  if (plan.annotations) {
    const existing = await findExistingFiles(
      report.cases.map(({ location }) => location),
      cwd,
    );
    const annotations = planAnnotations(report, { fileExists: (file) => existing.has(file) });
    printAnnotations(annotations, { redactor, stream: format === 'json' ? stderr : stdout });
  }
  await publishOnline(result, plan, { clock: systemClock, logger, redactor, signal });
  return exitCode;
}
