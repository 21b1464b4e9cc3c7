import type { Secret } from '../base/redaction.ts';
import type { Assertion, Check } from '../checks/assertion.ts';
import { describeCapture, findCaptured } from '../checks/captures.ts';
import type { TestCase } from '../cases/case.ts';
import { type Fillable, type Filling, fillParts, variablePrefix, workspaceName } from '../cases/placeholders.ts';
import type { Step } from '../cases/step.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { Transcript } from './transcript.ts';

/** The values of placeholders that every iteration has. */
export interface IterationFacts {
  /** The number of the iteration, from 1. */
  iteration: number;
  /** Different in each iteration. */
  uuid: string;
  /** The variables of the job that cases may use. */
  variables: ReadonlyMap<string, Secret>;
  /** The path of the copy of the workspace; absent if there is none. */
  workspace?: string | undefined;
}

/** The values of the placeholders of one iteration. */
export interface CaseValues {
  /**
   * Fills the placeholders of a step, runs it, and stores its captures. A step with a name that has no value does not run, and is
   * unmeasured.
   */
  run(step: Step, execute: (filled: Step) => Promise<StepOutcome>): Promise<StepOutcome>;
  /** Fills the placeholders of a check; `reason` says which name has no value. */
  fill(check: Check): { filled: Check; reason: string | null };
  /** Fills the placeholders of a client's answer when it is given; `reason` is a clause that says which name has no value. */
  fillAnswer<Part extends Fillable>(part: Part): { filled: Part; reason: string | null };
  /** Returns the case with its steps as they ran, or, for steps that did not run, filled as far as the values are known. */
  fillCase(testCase: TestCase): TestCase;
}

/** Leaves `{{` unchanged, for cases without placeholders, such as those of another service. */
export const noValues: CaseValues = {
  run: async (step, execute) => await execute(step),
  fill: (check) => ({ filled: check, reason: null }),
  fillAnswer: (part) => ({ filled: part, reason: null }),
  fillCase: (testCase) => testCase,
};

export function createCaseValues(
  { advancedConfig }: Pick<TestCase, 'advancedConfig'>,
  { facts, transcript }: { facts: IterationFacts | null; transcript: Pick<Transcript, 'cutReason'> },
): CaseValues {
  if (advancedConfig?.placeholders !== true) return noValues;
  const captured = new Map<string, unknown>();
  const builtIn = new Map<string, unknown>(
    facts === null
      ? []
      : [
          ['iteration', facts.iteration],
          ['uuid', facts.uuid],
          ...(facts.workspace === undefined ? [] : [[workspaceName, facts.workspace] as const]),
        ],
  );
  const find = (name: string): { value: unknown } | null => {
    if (name.startsWith(variablePrefix)) {
      const variable = facts?.variables.get(name.slice(variablePrefix.length));
      return variable === undefined ? null : { value: variable.reveal() };
    }
    const known = captured.has(name) ? captured : builtIn;
    return known.has(name) ? { value: known.get(name) } : null;
  };
  const fillKnown = <Part extends Fillable>(part: Part): { filled: Part; unset: string } => {
    const unset = new Set<string>();
    const filling: Filling = {
      find: (name) => {
        const found = find(name);
        if (found === null) unset.add(`{{${name}}}`);
        return found;
      },
      isFinal: true,
    };
    const filled = fillParts(part, filling);
    return { filled, unset: [...unset].join(' and ') };
  };
  const fillPart = <Part extends Step | Assertion>(part: Part): { filled: Part; reason: string | null } => {
    const { filled, unset } = fillKnown(part);
    const reason = unset === '' ? null : `${unset} has no value, because the step that captures it did not pass.`;
    return { filled, reason };
  };
  return {
    run: async (step, execute) => {
      const { filled, reason } = fillPart(step);
      if (reason === null) return keepCaptures(filled, await execute(filled), captured);
      if (transcript.cutReason !== null) return { status: 'skipped', reason, effect: 'continue' };
      return { status: 'fail', reason, effect: 'unmeasured' };
    },
    fill: fillPart,
    fillAnswer: (part) => {
      const { filled, unset } = fillKnown(part);
      const reason = unset === '' ? null : `${unset} has no value yet: the step that captures it has not passed`;
      return { filled, reason };
    },
    fillCase: (testCase) => ({ ...testCase, steps: testCase.steps.map((step) => fillPart(step).filled) }),
  };
}

/** Stores the captures of a step. A result without the captured part fails the step, unless the step has failed already. */
function keepCaptures(step: Step, outcome: StepOutcome, captured: Map<string, unknown>): StepOutcome {
  if (outcome.status !== 'ok' || !('capture' in step) || step.capture === undefined) return outcome;
  for (const [name, capture] of Object.entries(step.capture)) {
    const found = findCaptured(outcome.result, capture);
    if ('value' in found) captured.set(name, found.value);
    else {
      const reason = clipReason(`${printValue(name)} captures ${describeCapture(capture)}: ${found.missing}.`);
      return { ...outcome, status: 'fail', reason, effect: 'stop' };
    }
  }
  return outcome;
}
