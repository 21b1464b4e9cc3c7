import { expectsToolError } from '../checks/assertion.ts';
import type { Assertion, Check } from '../checks/assertion.ts';
import { toInternalMatchOptions } from '../cases/case.ts';
import type { TestCase } from '../cases/case.ts';
import { fillParts, plainText } from '../cases/placeholders.ts';
import type { Step } from '../cases/step.ts';
import type { ClientOffer } from '../model/client-abilities.ts';
import type { LocatedStep, Suite, SuiteCase } from '../cases/suite.ts';
import { resolveChecks } from './build.ts';
import { type Dialect, isSent } from './dialect.ts';

interface CompileOptions {
  dialect: Dialect;
}

/** Stands in a case that names no model, without which a hosted service creates no run. The provider's models are not checked against a catalogue, and none is called. */
const noModel = { model: 'none', provider: 'custom' };

/**
 * Compiles a suite to the API's inline tests, in the order of its cases. Each stands alone: the suite's checks and
 * settings are in it.
 */
export function compileSuite(suite: Suite, options: CompileOptions): TestCase[] {
  return suite.cases.map((testCase) => compileCase(testCase, suite, options));
}

/** Compiles one case of a suite. */
export function compileCase(testCase: SuiteCase, suite: Suite, { dialect }: CompileOptions): TestCase {
  const model = testCase.model ?? suite.model;
  const knows = (assertion: Assertion) => isSent(assertion, dialect);
  const { placeholders } = testCase;
  // Where only `\{{` stands, nothing is left to be known.
  const finish = <Part extends Step | Check | ClientOffer>(part: Part): Part =>
    placeholders?.first === null ? fillParts(part, plainText) : part;
  const steps = testCase.steps
    .map(({ step }) => finish(step))
    .filter((step) => step.kind !== 'assert' || knows(step.assertion));
  const expectsError = expectsErrorOfCall(testCase, suite);
  // A service that does not know which call is expected to fail has to allow all; the trace shows which one failed.
  const failsOnToolError = testCase.failOnToolError && !(dialect !== 'embedded' && expectsError);
  const advancedConfig = {
    ...compileModelSettings(testCase, dialect),
    ...(dialect === 'embedded' && {
      timeoutMs: testCase.timeoutMs,
      ...(testCase.client !== null && { client: finish(testCase.client.offer) }),
      ...compileFixtures(testCase, (step) => finish(step)),
    }),
    ...(!failsOnToolError && { failOnToolError: false }),
    ...(dialect === 'embedded' && placeholders?.first != null && { placeholders: true }),
    ...(dialect === 'embedded' && testCase.protocol !== null && { protocol: testCase.protocol }),
  };
  return {
    title: testCase.title,
    steps: sayWhatIsMeant(steps, testCase.failOnToolError && !expectsError),
    runs: testCase.runs,
    ...(dialect !== 'embedded' && noModel),
    ...(model !== null && { model, provider: model.slice(0, model.indexOf('/')) }),
    ...(testCase.expectedOutput !== null && { expectedOutput: testCase.expectedOutput }),
    ...(testCase.isNegative && { isNegativeTest: true }),
    ...(testCase.scenario !== null && { scenario: testCase.scenario }),
    matchOptions: toInternalMatchOptions(testCase.match),
    predicates: { mode: 'replace', list: resolveChecks(suite.checks, testCase.checks).filter(knows).map(finish) },
    ...(Object.keys(advancedConfig).length > 0 && { advancedConfig }),
  };
}

/** The API has no field for them. */
function compileFixtures({ setup, teardown }: SuiteCase, finish: (step: Step) => Step): TestCase['advancedConfig'] {
  const compile = (steps: readonly LocatedStep[]) => steps.map(({ step }) => finish(step));
  return {
    ...(setup.length > 0 && { setup: compile(setup) }),
    ...(teardown.length > 0 && { teardown: compile(teardown) }),
  };
}

/** A case without prompts has no use for them. */
function compileModelSettings({ steps, modelSettings }: SuiteCase, dialect: Dialect): TestCase['advancedConfig'] {
  if (!steps.some(({ step }) => step.kind === 'prompt')) return {};
  const { system, temperature, maxSteps, maxResultTokens, toolPolicy, decoys } = modelSettings;
  return {
    ...(system !== null && { system }),
    ...(temperature !== null && { temperature }),
    ...(dialect === 'embedded' && {
      ...(maxSteps !== null && { maxSteps }),
      ...(maxResultTokens !== null && { maxResultTokens }),
      ...(toolPolicy !== null && { toolPolicy }),
      ...(decoys.length > 0 && { decoys }),
    }),
  };
}

/** Whether an assertion of the case holds only where a tool fails. */
export function expectsErrorOfCall(testCase: SuiteCase, suite: Suite): boolean {
  const ofSteps = testCase.steps.flatMap(({ step }) => (step.kind === 'assert' ? [step.assertion] : []));
  return [...ofSteps, ...resolveChecks(suite.checks, testCase.checks)].some(expectsToolError);
}

/**
 * A case of one tool call and nothing else is taken by the API for a widget's, and made to assert that it rendered.
 * An assertion that says what such a case means keeps that away: that the tool did not fail, or, where it may, that
 * it was called. A case of which nothing is left gets one too, since the API wants a step.
 */
function sayWhatIsMeant(steps: Step[], failOnToolError: boolean): Step[] {
  const [only, ...others] = steps;
  if (others.length > 0) return steps;
  if (only === undefined) return [{ id: 'called', kind: 'assert', assertion: { type: 'noToolErrors' } }];
  if (only.kind !== 'toolCall') return steps;
  const id = only.id === 'called' ? 'called-2' : 'called';
  return [
    only,
    {
      id,
      kind: 'assert',
      assertion: failOnToolError
        ? { type: 'noToolErrors' }
        : { type: 'toolCalledAtLeastOnce', toolName: only.toolName },
    },
  ];
}
