import { ConfigurationError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { redactDeep } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { limitHeapGrowth } from '../gate/host-process.ts';
import { createJobContext, listJob, previewJob, runJob } from '../gate/job.ts';
import { listKnownSecrets, readGateOptions } from '../gate/options.ts';
import { describeInspection, describeRepeat } from '../gate/options/repeat.ts';
import { publishIssues } from '../gate/publish/publish-files.ts';
import { callReporters, loadReporters } from '../gate/publish/reporters.ts';
import { publishReport } from '../gate/publish/publish-report.ts';
import { createTerminalLogger, redactText } from './command-logger.ts';
import { printCases } from './list-cases.ts';
import { printAnnotations, printReport } from './output-format.ts';
import { createProgressDisplay, type ProgressDisplay } from './progress.ts';
import type { GateProcess, RunFlags } from './run-flags.ts';
import { createLiteralLog } from './update.ts';

/** Runs the gate with these texts of options, prints and publishes the results, and returns the exit code. */
export async function runGate(flags: RunFlags, { redactor, supervision }: GateProcess): Promise<number> {
  const { quiet, verbose, format, texts } = flags;
  limitHeapGrowth();
  const { stdout, stderr, env: environment } = process;
  using progress = createProgressDisplay({
    write: (text) => stderr.write(text),
    isTerminal: stderr.isTTY && environment['CI'] === undefined && environment['TERM'] !== 'dumb',
    readSize: () => ({ columns: stderr.columns, rows: stderr.rows }),
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
  {
    quiet,
    format,
    texts,
    isRecording = false,
    recordsUpstream = false,
    updatesSnapshots = false,
    updatesLiterals = false,
    isListing = false,
    reporters: reporterFiles = [],
    onReport,
  }: RunFlags,
  { logger, progress, redactor, supervision }: GateProcess & { logger: Logger; progress: ProgressDisplay },
): Promise<number> {
  const { stdout, stderr, env: environment } = process;
  const context = createJobContext(process, { signals: supervision.signals, logger, redactor });
  const options = await readGateOptions(texts, { cwd: context.cwd });
  if (options.publish !== null) return await publishReport(options, { ...context, signal: context.openSignal() });
  if (isListing) {
    const listed = redactDeep(await listJob(options, context), redactor);
    for (const line of printCases(listed, format)) stdout.write(`${line}\n`);
    return 0;
  }
  if (options.dryRun) {
    const preview = await previewJob(options, context);
    for (const line of preview) stdout.write(`${redactText(line, redactor)}\n`);
    return 0;
  }
  // Before the server starts, which could overwrite the files.
  const reporters = await loadReporters(reporterFiles, context.cwd);
  const repeat = describeRepeat(texts);
  const inspection = describeInspection(texts, context.cwd);
  const literals = updatesLiterals ? createLiteralLog() : null;
  const { report, exitCode, isFullyRecorded, isUpstreamRecorded } = await runJob(options, context, {
    ...(literals !== null && { watchEvidence: literals.watch }),
    isRecording,
    recordsUpstream,
    updatesSnapshots,
    ...(repeat !== null && { repeat }),
    ...(inspection !== null && { inspection }),
    summaryPath: environment['GITHUB_STEP_SUMMARY'] ?? null,
    supervision,
    ...(quiet ? {} : { onProgress: progress.listener }),
    onReport: (report) => {
      progress.clear();
      printReport(report, { format, redactor });
      onReport?.(report);
    },
    onAnnotations: (annotations) =>
      printAnnotations(annotations, { redactor, stream: format === 'json' ? stderr : stdout }),
    onFiles: (_report, files) => {
      const written = Object.values(files).filter((path) => path !== null);
      if (written.length > 0) logger.info(`Reports: ${written.join(', ')}`);
    },
  });
  await callReporters(reporters, report, logger);
  if (literals !== null) {
    const stream = format === 'json' ? stderr : stdout;
    const print = (line: string) => void stream.write(`${line}\n`);
    await literals.update({ cwd: context.cwd, print, redactor, color: stream.hasColors?.() ?? false });
  }
  // When recording, only the completeness of the recordings decides. The gate judges the results later.
  if (recordsUpstream && exitCode <= 3) return isUpstreamRecorded ? 0 : 3;
  return isRecording && exitCode <= 3 ? (isFullyRecorded ? 0 : 3) : exitCode;
}
