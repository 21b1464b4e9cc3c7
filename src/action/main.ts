import { randomUUID } from 'node:crypto';
import { info } from '@actions/core';
import { systemClock } from '../base/time.ts';
import { ConfigurationError, GateError } from '../base/errors.ts';
import { redactDeep, type Redactor } from '../base/redaction.ts';
import { listKnownSecrets, readGateOptions } from '../gate/options.ts';
import { createJobContext, runJob } from '../gate/job.ts';
import { describeInspection, describeRepeat } from '../gate/options/repeat.ts';
import type { GatePlan } from '../gate/plan/plan.ts';
import { describeProgress, throttleProgress } from '../gate/run/progress.ts';
import { publishIssues, type WrittenFiles } from '../gate/publish/publish-files.ts';
import type { Report } from '../model/report.ts';
import { renderAnnotationCommands } from '../report/annotation-commands.ts';
import type { FallbackReport } from '../supervisor/supervisor-messages.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import { describeFailure, type JobOutput } from './action-logger.ts';
import { nameInputs, readActionName, readInputs } from './inputs.ts';
import { createStateWriter, listOutputs, listUnjudgedOutputs, writeOutput } from './outputs.ts';
import { gateProcessState, remoteResourcesState } from './post.ts';
import { type LogPart, renderTerminal } from '../report/terminal.ts';
import { planAnnotations } from '../report/annotations.ts';

/** Runs the gate with the action's inputs, publishes the results, and returns the exit code. */
export async function runMain({ redactor, logger }: JobOutput, supervision: Supervision): Promise<number> {
  const { env: environment } = process;
  const action = readActionName();
  const { texts, issues: refused } = readInputs(action);
  const cwd = process.cwd();
  const summaryPath = environment['GITHUB_STEP_SUMMARY'] ?? null;
  const print = (report: Report, part: LogPart) => info(redactor.redact(renderTerminal(report, { color: true, part })));
  const judged: Report[] = [];
  try {
    for (const secret of listKnownSecrets(texts, environment)) redactor.add(secret);
    const options = await readGateOptions(texts, { cwd, refused });
    const context = createJobContext(process, { signals: supervision.signals, logger, redactor });
    if (options.publish !== null) {
      const { publishReport } = await import('../gate/publish/publish-report.ts');
      return await publishReport(options, { ...context, signal: context.openSignal() });
    }
    const processMarker = supervision.marker ?? randomUUID();
    const saveState = createStateWriter(logger);
    const repeat = describeRepeat(texts);
    const inspection = describeInspection(texts, cwd);
    const { exitCode } = await runJob(options, context, {
      ...(repeat !== null && { repeat }),
      ...(inspection !== null && { inspection }),
      summaryPath,
      supervision,
      processMarker,
      onPlanned: () => {
        saveState('processMarker', processMarker);
        saveState(gateProcessState, String(process.pid));
      },
      renderFallback: (report, files, plan) => renderJobFallback(report, { plan, files, redactor, environment }),
      saveRemoteResources: (resources) =>
        // Redacts the ids, too: they are foreign text of the service.
        saveState(remoteResourcesState, resources === null ? '' : JSON.stringify(redactDeep(resources, redactor))),
      onProgress: throttleProgress(systemClock, (progress) => logger.info(describeProgress(progress))),
      onReport: (report) => {
        print(report, 'rest');
        judged.push(report);
      },
      onAnnotations: (annotations) => process.stdout.write(renderAnnotationCommands(annotations, redactor)),
      onFiles: (report, files) => {
        for (const output of listOutputs(report, files)) writeOutput(output, logger);
      },
    });
    return exitCode;
  } catch (thrown) {
    const error = thrown instanceof ConfigurationError ? nameInputs(thrown) : thrown;
    logger.error(describeFailure(error));
    if (error instanceof ConfigurationError) {
      const annotations = await publishIssues(error.issues, texts, { cwd, logger, redactor, summaryPath });
      process.stdout.write(renderAnnotationCommands(annotations, redactor));
    }
    // A report that is only published has a verdict already.
    if (action !== 'publish') for (const output of listUnjudgedOutputs()) writeOutput(output, logger);
    return error instanceof GateError ? error.exitCode : 3;
  } finally {
    // GitHub opens a log at its end.
    for (const report of judged) print(report, 'verdict');
  }
}

interface FallbackSources {
  plan: GatePlan;
  files: WrittenFiles;
  redactor: Redactor;
  environment: NodeJS.ProcessEnv;
}

/** Renders what the job shows of a gate that was ended from outside, in addition to the files that every gate writes. */
function renderJobFallback(report: Report, { plan, files, redactor, environment }: FallbackSources): FallbackReport {
  const annotations = plan.annotations ? planAnnotations(report, { fileExists: () => false }) : [];
  // No value has a line break: each matches the pattern of its output.
  const text = listOutputs(report, files).map(({ name, value }) => `${name}=${value}\n`);
  const path = environment['GITHUB_OUTPUT'] ?? '';
  return {
    files: path === '' ? [] : [{ path, root: null, text: text.join(''), mode: 'append' }],
    stdout: renderAnnotationCommands(annotations, redactor),
  };
}
