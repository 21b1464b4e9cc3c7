import { expectsToolError, type Assertion, type Check } from '../model/assertion.ts';
import type { Step } from '../model/step.ts';

/** The steps, by index, whose tool call a case expects to go wrong. */
export interface ExcusedSteps {
  /** The tool may answer with an error. */
  errors: ReadonlySet<number>;
  /** The server need not list the tool. */
  missing: ReadonlySet<number>;
}

/**
 * Lists the steps whose tool call may fail because the case expects its error: of each assertion that expects one, the
 * call that it judges, which is the latest before it, of its tool where it names one. Checks at the end judge the latest
 * call of all. The errors of all other calls count.
 */
export function listExcusedSteps(steps: readonly Step[], checks: readonly Check[]): ExcusedSteps {
  const expectations = [
    ...steps.flatMap((step, index) => (step.kind === 'assert' ? [{ assertion: step.assertion, position: index }] : [])),
    ...checks.map((assertion) => ({ assertion, position: steps.length })),
  ].filter(({ assertion }) => expectsToolError(assertion));
  const judged = expectations.map(({ assertion, position }) => {
    const toolName = readToolName(assertion);
    const index = steps
      .slice(0, position)
      .findLastIndex((step) => step.kind === 'toolCall' && (toolName === undefined || step.toolName === toolName));
    return { index, isMissing: 'type' in assertion && assertion.type === 'toolNotFound' };
  });
  return {
    errors: new Set(judged.map(({ index }) => index)),
    missing: new Set(judged.filter(({ isMissing }) => isMissing).map(({ index }) => index)),
  };
}

function readToolName(assertion: Assertion): string | undefined {
  return 'toolName' in assertion ? assertion.toolName : undefined;
}
