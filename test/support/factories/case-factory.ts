import type { Assertion } from '../../../src/checks/assertion.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { TestCase } from '../../../src/cases/case.ts';
import type { Step } from '../../../src/cases/step.ts';

/** A case with these steps, run once. */
export function createCase(steps: Step[], overrides: Partial<TestCase> = {}): TestCase {
  return { title: 'A case', runs: 1, steps, ...overrides };
}

/** A step that calls a tool of the server under test; its id is the tool's name. */
export function callStep(toolName: string, args: JsonObject = {}): Extract<Step, { kind: 'toolCall' }> {
  return { id: toolName, kind: 'toolCall', serverName: '', toolName, arguments: args };
}

/** A step that asserts; its id is the assertion's type or kind. */
export function assertStep(assertion: Assertion): Step {
  return { id: 'type' in assertion ? assertion.type : assertion.kind, kind: 'assert', assertion };
}
