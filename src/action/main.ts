import { randomUUID } from 'node:crypto';
import { info } from '@actions/core';
import { systemClock } from '../base/clock.ts';
import { ConfigurationError, GateError } from '../base/errors.ts';
import { redactDeep, type Redactor } from '../base/redaction.ts';
import { gate } from '../gate/gate.ts';
import { listenForInterrupts } from '../gate/interrupt.ts';
import { listKnownSecrets } from '../gate/known-secrets.ts';
import { type GatePlan, planGate } from '../gate/plan/plan.ts';
import { readGateOptions } from '../gate/read-options.ts';
import { describeProgress, throttleProgress } from '../gate/run/progress.ts';
import { announceGate } from '../gate/publish/announce-gate.ts';
import { findExistingFiles, publishFiles, type WrittenFiles } from '../gate/publish/publish-files.ts';
import type { Report } from '../model/report.ts';
import { renderAnnotationCommands } from '../report/annotation-commands.ts';
import type { FallbackReport } from '../supervisor/messages.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import { loadChunks } from '../gate/load-chunks.ts';
import { describeFailure } from './failure.ts';
import { readInputs } from './inputs.ts';
import type { JobOutput } from './logger.ts';
import { listOutputs, listUnjudgedOutputs, writeOutput } from './outputs.ts';
import { leftoversState } from './post.ts';
import { createStateWriter } from './state.ts';
import { previewGate } from '../gate/preview.ts';
import { renderTerminal } from '../report/terminal.ts';
import { planAnnotations } from '../report/annotations.ts';
import { publishIssues } from '../gate/publish/publish-issues.ts';
import { publishOnline } from '../gate/publish/publish-online.ts';
import { publishReport } from '../gate/publish/publish-report.ts';

/** Runs the gate with the action's inputs, publishes what came of it, and returns the exit code. */
export async function runMain({ redactor, logger }: JobOutput, supervision: Supervision): Promise<number> {
  const { env: environment } = process;
  const inputs = readInputs();
  const cwd = process.cwd();
  const summaryPath = environment['GITHUB_STEP_SUMMARY'] ?? null;
  try {
    for (const secret of listKnownSecrets(inputs, environment)) redactor.add(secret);
    const options = await readGateOptions(inputs, { cwd });
    if (options.publish !== null) {
      const signal = listenForInterrupts(supervision.signals, (exitCode) => process.exit(exitCode));
      return await publishReport(options, { cwd, environment, clock: systemClock, logger, redactor, signal });
    }
    const plan = await planGate(options, { cwd, environment });

    const signal = listenForInterrupts(supervision.signals, (exitCode) => process.exit(exitCode));
    if (plan.isDryRun) {
      const preview = await previewGate(plan, { clock: systemClock, logger, redactor, signal });
      for (const line of preview) logger.info(line);
      return 0;
    }

    const processMarker = supervision.marker ?? randomUUID();
    const saveState = createStateWriter(logger);
    saveState('processMarker', processMarker);
    await loadChunks();
    await announceGate(plan, supervision, {
      clock: systemClock,
      redactor,
      summaryPath,
      renderMore: (report, written) => renderJobFallback(report, { plan, written, redactor, environment }),
    });
    const result = await gate(plan, {
      clock: systemClock,
      logger,
      redactor,
      signal,
      environment,
      processMarker,
      saveLeftovers: (leftovers) =>
        // Ids are the service's own words, too.
        saveState(leftoversState, leftovers === null ? '' : JSON.stringify(redactDeep(leftovers, redactor))),
      onProgress: throttleProgress(systemClock, (progress) => logger.info(describeProgress(progress))),
    });

    supervision.judged();
    const { report, evidence, exitCode } = result;
    info(redactor.redact(renderTerminal(report, { color: true })));
    const files = await publishFiles(report, plan, { logger, redactor, summaryPath, evidence });
    if (plan.annotations) {
      const places = report.cases.map(({ location }) => location);
      const existing = await findExistingFiles(places, process.cwd());
      const annotations = planAnnotations(report, { fileExists: (file) => existing.has(file) });
      process.stdout.write(renderAnnotationCommands(annotations, redactor));
    }
    for (const output of listOutputs(report, files)) writeOutput(output, logger);
    await publishOnline(result, plan, { clock: systemClock, logger, redactor, signal });
    return exitCode;
  } catch (error) {
    logger.error(describeFailure(error));
    if (error instanceof ConfigurationError) {
      const annotations = await publishIssues(error.issues, inputs, { cwd, logger, redactor, summaryPath });
      process.stdout.write(renderAnnotationCommands(annotations, redactor));
    }
    // With `publish`, the verdict is the one of a report that is there already.
    if (inputs['publish']?.trim() === '') for (const output of listUnjudgedOutputs()) writeOutput(output, logger);
    return error instanceof GateError ? error.exitCode : 3;
  }
}

/** What a job shows of a gate that was ended from outside, besides the files that every gate writes. */
async function renderJobFallback(
  report: Report,
  {
    plan,
    written,
    redactor,
    environment,
  }: {
    plan: GatePlan;
    written: WrittenFiles;
    redactor: Redactor;
    environment: NodeJS.ProcessEnv;
  },
): Promise<FallbackReport> {
  const annotations = plan.annotations ? planAnnotations(report, { fileExists: () => false }) : [];
  // No value has a line break: each matches the pattern of its output.
  const text = listOutputs(report, written).map(({ name, value }) => `${name}=${value}\n`);
  const path = environment['GITHUB_OUTPUT'] ?? '';
  return {
    files: path === '' ? [] : [{ path, text: text.join(''), mode: 'append' }],
    stdout: renderAnnotationCommands(annotations, redactor),
  };
}
