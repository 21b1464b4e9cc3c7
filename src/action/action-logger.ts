import { endGroup, info, isDebug, setSecret, startGroup, warning as annotateWarning } from '@actions/core';
import { describeError, GateError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { createRedactor, type Redactor } from '../base/redaction.ts';
import { shortestSecretLength } from '../base/secret-forms.ts';
import { escapeLogLine, splitLogLines } from '../report/escape/log.ts';
import { stripControls } from '../report/escape/plain.ts';

/** The log and the redactor of a job. */
export interface JobOutput {
  redactor: Redactor;
  logger: Logger;
}

/** Opens the log of a job, and the redactor that every text of the job has to pass. */
export function createJobOutput(): JobOutput {
  const redactor = createMaskingRedactor();
  return { redactor, logger: createJobLogger(redactor) };
}

/** Creates a logger that redacts and escapes each line, so that the runner takes no foreign line for a command. */
export function createJobLogger(redactor: Redactor): Logger {
  // Redacts again after the control characters are gone: they may have separated the characters of a secret.
  const clean = (text: string) => redactor.redact(stripControls(redactor.redact(text)));
  const print = (text: string) => {
    for (const line of splitLogLines(clean(text))) info(escapeLogLine(line));
  };
  return {
    debug: (message) => {
      // Prints plain lines: core's own debug command would need another kind of escaping.
      if (isDebug()) print(message);
    },
    info: print,
    warning: (message) => annotateWarning(clean(message)),
    // Writes no annotation: GitHub limits their number, and the report needs them.
    error: (message) => print(`Error: ${message}`),
    group: (title, lines) => {
      startGroup(clean(title));
      for (const line of lines) print(line);
      endGroup();
    },
  };
}

/** Creates a redactor that also masks every secret in the runner, before anything could print it. */
function createMaskingRedactor(): Redactor {
  const redactor = createRedactor();
  const masked = new Set<string>();
  return {
    redact: (text) => redactor.redact(text),
    add: (secret) => {
      const value = secret.reveal();
      if (masked.has(value)) return;
      masked.add(value);
      if (value.length >= shortestSecretLength) setSecret(value);
      redactor.add(secret);
    },
  };
}

/** Describes what was thrown and what to do about it; for a bug, with its stack. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof GateError)) {
    return `Unexpected error, please report it: ${error instanceof Error ? error.stack : describeError(error)}`;
  }
  return error.hint === undefined ? describeError(error) : `${describeError(error)}\n${error.hint}`;
}

/** Reports uncaught errors through the redacting log: Node itself would print them with every secret in them. */
export function exitOnCrash(logger: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    logger.error(describeFailure(error));
    process.exit(3);
  });
}
