import { endGroup, info, isDebug, startGroup, warning as annotateWarning } from '@actions/core';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { escapeLogLine, splitLogLines } from '../report/escape/log.ts';
import { stripControls } from '../report/escape/plain.ts';
import { createMaskingRedactor } from './redactor.ts';

/** What the stages of the action print through. */
export interface JobOutput {
  redactor: Redactor;
  logger: Logger;
}

/** Opens the log of a job, and the redactor that every text of the job has to pass. */
export function createJobOutput(): JobOutput {
  const redactor = createMaskingRedactor();
  return { redactor, logger: createJobLogger(redactor) };
}

/** Writes to the job's log: redacted and escaped, so that the runner takes no foreign line for a command. */
export function createJobLogger(redactor: Redactor): Logger {
  // Once more after controls are gone: they may have stood between the characters of a secret.
  const clean = (text: string) => redactor.redact(stripControls(redactor.redact(text)));
  const print = (text: string) => {
    for (const line of splitLogLines(clean(text))) info(escapeLogLine(line));
  };
  return {
    debug: (message) => {
      // As plain lines: core's own debug command would need escaping of another kind.
      if (isDebug()) print(message);
    },
    info: print,
    warning: (message) => annotateWarning(clean(message)),
    // Not an annotation: their number is limited, and the report's own need the room.
    error: (message) => print(`Error: ${message}`),
    group: (title, lines) => {
      startGroup(clean(title));
      for (const line of lines) print(line);
      endGroup();
    },
  };
}
