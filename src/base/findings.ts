import { ConfigurationError, type ConfigurationIssue } from './errors.ts';
import { appendAll } from './lists.ts';

/** Collects all that is wrong with a configuration before the gate reports it, and the notes for its reader. */
export interface Findings {
  /** The mistakes, in the order in which they were found. Any of them stops the gate. */
  readonly issues: ConfigurationIssue[];
  /** Warnings about what will differ from the files and the options, one sentence each. */
  readonly notes: string[];
  /** Remarks for the log that are no warnings, one sentence each. */
  readonly remarks: string[];
  add(issue: ConfigurationIssue): void;
  addAll(issues: Iterable<ConfigurationIssue>): void;
  note(sentence: string): void;
  noteAll(sentences: Iterable<string>): void;
  remark(sentence: string): void;
  /** Returns the value; undefined once it has added the issues of a `ConfigurationError`. Throws every other error on. */
  attempt<T>(read: () => T): T | undefined;
  /** Does the same for a promise: `await readFile().catch(findings.absorb)`. */
  absorb(this: void, error: unknown): undefined;
  toError(): ConfigurationError;
  /** @throws {ConfigurationError} with all issues, if there are any */
  throwIfAny(): void;
}

/** Starts a collection without notes. Its mistakes join `issues`, which are those of another collection or none. */
export function createFindings(issues: ConfigurationIssue[] = []): Findings {
  const notes: string[] = [];
  const remarks: string[] = [];
  const absorb = (error: unknown): undefined => {
    if (!(error instanceof ConfigurationError)) throw error;
    appendAll(issues, error.issues);
    return undefined;
  };
  const toError = () => new ConfigurationError(issues);
  return {
    issues,
    notes,
    remarks,
    add: (issue) => void issues.push(issue),
    addAll: (found) => appendAll(issues, found),
    note: (sentence) => void notes.push(sentence),
    noteAll: (sentences) => appendAll(notes, sentences),
    remark: (sentence) => void remarks.push(sentence),
    attempt: (read) => {
      try {
        return read();
      } catch (error) {
        return absorb(error);
      }
    },
    absorb,
    toError,
    throwIfAny: () => {
      if (issues.length > 0) throw toError();
    },
  };
}
