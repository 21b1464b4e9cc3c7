import { endGroup, info, isDebug, startGroup, warning as annotateWarning } from '@actions/core';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { escapeLogLine, splitLogLines } from '../report/escape/log.ts';
import { stripControls } from '../report/escape/plain.ts';

/** Writes to the job's log: redacted, and so that no line of somebody else's is taken for a command of the runner. */
export function createJobLogger(redactor: Redactor): Logger {
  const print = (text: string) => {
    for (const line of splitLogLines(redactor.redact(text))) info(escapeLogLine(line));
  };
  return {
    debug: (message) => {
      // As plain lines: core's own debug command would need escaping of another kind.
      if (isDebug()) print(message);
    },
    info: print,
    warning: (message) => annotateWarning(stripControls(redactor.redact(message))),
    // Not an annotation: their number is limited, and the report's own need the room.
    error: (message) => print(`Error: ${message}`),
    group: (title, lines) => {
      startGroup(stripControls(redactor.redact(title)));
      for (const line of lines) print(line);
      endGroup();
    },
  };
}
