import { randomUUID } from 'node:crypto';
import { getInput, info, saveState, setSecret } from '@actions/core';
import { systemClock } from '../base/clock.ts';
import { ConfigurationError, type ConfigurationIssue, describeError, GateError } from '../base/errors.ts';
import { createRedactor, type Redactor, shortestSecretLength } from '../base/redaction.ts';
import { gate } from '../gate/gate.ts';
import { listenForInterrupts } from '../gate/interrupt.ts';
import { type GateOptions, listOptions, parseGateOptions } from '../gate/options.ts';
import { planGate } from '../gate/plan.ts';
import { describeProgress, throttleProgress } from '../gate/progress.ts';
import { findExistingFiles, publishFiles } from '../gate/publish.ts';
import { renderAnnotationCommands } from '../report/annotation-commands.ts';
import { planAnnotations } from '../report/annotations.ts';
import { planIssueAnnotations } from '../report/issue-annotations.ts';
import { renderTerminal } from '../report/terminal.ts';
import { createJobLogger } from './logger.ts';
import { listOutputs, writeOutput } from './outputs.ts';

/** Runs the gate with the action's inputs, publishes what came of it, and returns the exit code. */
export async function runMain(): Promise<number> {
  const redactor = createMaskingRedactor();
  const logger = createJobLogger(redactor);
  const { env: environment } = process;
  let options: GateOptions | null = null;
  try {
    const inputs = Object.fromEntries(
      listOptions().map(({ name }) => [name, getInput(name, { trimWhitespace: false })]),
    );
    options = parseGateOptions(inputs);
    const plan = await planGate(options, { cwd: process.cwd(), environment });

    if (environment['GITHUB_EVENT_NAME'] === 'pull_request_target') {
      logger.warning(
        'This workflow runs on pull_request_target, so the server of the pull request runs with the secrets and the token of this repository. Use pull_request: the gate needs neither.',
      );
    }

    const processMarker = randomUUID();
    saveState('processMarker', processMarker);
    using interrupts = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
    const { report, exitCode } = await gate(plan, {
      clock: systemClock,
      logger,
      redactor,
      signal: interrupts.signal,
      environment,
      processMarker,
      onProgress: throttleProgress(systemClock, (progress) => logger.info(describeProgress(progress))),
    });

    info(redactor.redact(renderTerminal(report, { color: true })));
    const summaryPath = environment['GITHUB_STEP_SUMMARY'] ?? null;
    const files = await publishFiles(report, plan, { logger, redactor, summaryPath });
    if (plan.annotations) {
      const places = report.cases.map(({ location }) => location);
      const existing = await findExistingFiles(places, process.cwd());
      const annotations = planAnnotations(report, { fileExists: (file) => existing.has(file) });
      process.stdout.write(renderAnnotationCommands(annotations, redactor));
    }
    for (const output of listOutputs(report, files)) writeOutput(output, logger);
    return exitCode;
  } catch (error) {
    logger.error(describeFailure(error));
    // Without options that could be read, nobody has asked for silence.
    if (error instanceof ConfigurationError && options?.annotations !== false) {
      process.stdout.write(await annotateIssues(error.issues, redactor));
    }
    return error instanceof GateError ? error.exitCode : 3;
  }
}

function describeFailure(error: unknown): string {
  if (!(error instanceof GateError)) {
    return `Unexpected error, please report it: ${error instanceof Error ? error.stack : describeError(error)}`;
  }
  return error.hint === undefined ? describeError(error) : `${describeError(error)}\n${error.hint}`;
}

async function annotateIssues(issues: readonly ConfigurationIssue[], redactor: Redactor): Promise<string> {
  const existing = await findExistingFiles(issues, process.cwd());
  const annotations = planIssueAnnotations(issues, { fileExists: (file) => existing.has(file) });
  return renderAnnotationCommands(annotations, redactor);
}

/** Every secret is masked by the runner too, before anything could print it. */
function createMaskingRedactor(): Redactor {
  const redactor = createRedactor();
  return {
    redact: (text) => redactor.redact(text),
    add: (secret) => {
      if (secret.reveal().length >= shortestSecretLength) setSecret(secret.reveal());
      redactor.add(secret);
    },
  };
}
