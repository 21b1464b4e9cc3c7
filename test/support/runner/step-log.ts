import { describeError } from '../../../src/base/errors.ts';
import { createCommandReader } from './runner-commands.ts';
import type { SecretMasker } from './secret-masker.ts';

/** An annotation as it appears on the run's page: masked, cut, and within the limit per level. */
export interface Annotation {
  level: 'error' | 'warning' | 'notice';
  message: string;
  title: string | undefined;
  file: string | undefined;
  line: number | undefined;
  properties: Record<string, string>;
}

/** Limits of the runner (src/Runner.Worker/ExecutionContext.cs). */
const maxAnnotationsPerLevel = 10;
const maxAnnotationLength = 4096;

export interface StepLog {
  readLine(line: string): void;
  /** All lines as the process printed them. */
  readonly rawLines: string[];
  /** The lines of the runner's log: commands are executed, and the secrets known at that moment are masked. */
  readonly shownLines: string[];
  readonly annotations: Annotation[];
  /** Annotations beyond ten of a level, which GitHub does not show. */
  readonly droppedAnnotations: Annotation[];
  /** Commands that current runners refuse, and lines for which the runner itself would report an error. */
  readonly problems: string[];
}

/** Reads the output of one step. Commands in standard error count like those in standard output. */
export function createStepLog(masker: SecretMasker): StepLog {
  const reader = createCommandReader();
  const log: StepLog = {
    rawLines: [],
    shownLines: [],
    annotations: [],
    droppedAnnotations: [],
    problems: [],
    readLine(line) {
      log.rawLines.push(line);
      const show = (text: string) => log.shownLines.push(masker.mask(text));
      let read;
      try {
        read = reader.readLine(line);
      } catch (error) {
        // The runner fails the step here; a test finds the error in `problems`.
        log.problems.push(describeError(error));
        return;
      }
      if (read.kind === 'output') {
        show(read.text);
        return;
      }
      if (read.kind !== 'command') {
        if (read.kind === 'stop' && read.token.length > 6) masker.add(read.token);
        show(line);
        return;
      }
      const { command: name, properties, data: message } = read.command;
      switch (name) {
        case 'add-mask':
          masker.add(message);
          break;
        case 'error':
        case 'warning':
        case 'notice':
          addAnnotation(log, toAnnotation(name, properties, masker.mask(message)));
          show(`##[${name}]${message}`);
          break;
        case 'group':
        case 'endgroup':
          show(`##[${name}]${message}`);
          break;
        case 'debug':
          break;
        case 'set-env':
        case 'add-path':
        case 'set-output':
        case 'save-state':
          log.problems.push(`the command ${name} is refused or deprecated; write to its file instead`);
          break;
        default:
          log.problems.push(`the command ${name} is not one that this action should use`);
      }
    },
  };
  return log;
}

function toAnnotation(
  level: Annotation['level'],
  properties: Record<string, string>,
  maskedMessage: string,
): Annotation {
  const line = Number(properties['line']);
  return {
    level,
    message: maskedMessage.slice(0, maxAnnotationLength),
    title: properties['title'],
    file: properties['file'],
    line: Number.isInteger(line) && line > 0 ? line : undefined,
    properties,
  };
}

function addAnnotation(log: StepLog, annotation: Annotation): void {
  const ofLevel = log.annotations.filter(({ level }) => level === annotation.level).length;
  (ofLevel < maxAnnotationsPerLevel ? log.annotations : log.droppedAnnotations).push(annotation);
}
