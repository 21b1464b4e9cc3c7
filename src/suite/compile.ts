import { expectsToolError, searchesTools } from '../checks/assertion.ts';
import type { Assertion, Check } from '../checks/assertion.ts';
import { toInternalMatchOptions } from '../cases/case.ts';
import type { TestCase } from '../cases/case.ts';
import { fillParts, plainText } from '../cases/placeholders.ts';
import type { Step } from '../cases/step.ts';
import type { ClientOffer } from '../model/client-abilities.ts';
import type { LocatedStep, Suite, SuiteCase } from '../cases/suite.ts';
import { resolveChecks } from './build.ts';
import { type Dialect, isSent } from './dialect.ts';
import { identifyCaseHost } from './model-settings.ts';

interface CompileOptions {
  dialect: Dialect;
}

/**
 * Fills in a model for a case that names none, because a hosted service creates no run without one. The service does not check models of
 * this provider, and calls none.
 */
const noModel = { model: 'none', provider: 'custom' };

/** Compiles a suite to the API's inline tests, in the order of its cases. Each test includes the checks and settings of the suite. */
export function compileSuite(suite: Suite, options: CompileOptions): TestCase[] {
  return suite.cases.map((testCase) => compileCase(testCase, suite, options));
}

export function compileCase(testCase: SuiteCase, suite: Suite, { dialect }: CompileOptions): TestCase {
  const model = testCase.model ?? suite.model;
  const knows = (assertion: Assertion) => isSent(assertion, dialect);
  const { placeholders } = testCase;
  // A case with only escapes (`\{{`) has no names that need values later, so it can be finished now.
  const finish = <Part extends Step | Check | ClientOffer>(part: Part): Part =>
    placeholders?.first === null ? fillParts(part, plainText) : part;
  const steps = testCase.steps
    .map(({ step }) => finish(step))
    .filter((step) => step.kind !== 'assert' || knows(step.assertion));
  const expectsError = expectsErrorOfCall(testCase, suite);
  // Allows every tool error on a service that does not know which call is expected to fail. The trace shows which one failed.
  const failsOnToolError = testCase.failOnToolError && !(dialect !== 'embedded' && expectsError);
  const advancedConfig = {
    ...compileModelSettings(testCase, suite, dialect),
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

/** Compiles setup and teardown, which only the embedded service has fields for. */
function compileFixtures({ setup, teardown }: SuiteCase, finish: (step: Step) => Step): TestCase['advancedConfig'] {
  const compile = (steps: readonly LocatedStep[]) => steps.map(({ step }) => finish(step));
  return {
    ...(setup.length > 0 && { setup: compile(setup) }),
    ...(teardown.length > 0 && { teardown: compile(teardown) }),
  };
}

/** Compiles the model settings. A case without prompts has only those that say which tools a search finds, and only if it searches. */
function compileModelSettings(testCase: SuiteCase, suite: Suite, dialect: Dialect): TestCase['advancedConfig'] {
  const { hostProgram, system, temperature, maxSteps, maxResultTokens, toolPolicy, decoys, parameters, timeoutMs } =
    testCase.modelSettings;
  const offer = { ...(toolPolicy !== null && { toolPolicy }), ...(decoys.length > 0 && { decoys }) };
  if (!testCase.steps.some(({ step }) => step.kind === 'prompt')) {
    return dialect === 'embedded' && listAssertions(testCase, suite).some(searchesTools) ? offer : {};
  }
  const host = identifyCaseHost(testCase.modelSettings);
  return {
    ...(system !== null && { system }),
    ...(temperature !== null && { temperature }),
    ...(dialect === 'embedded' && {
      ...(host !== null && { host }),
      ...(hostProgram !== null && {
        hostProgram: { builtIns: hostProgram.builtIns, allowsNetwork: hostProgram.allowsNetwork },
      }),
      ...(maxSteps !== null && { maxSteps }),
      ...(maxResultTokens !== null && { maxResultTokens }),
      ...(Object.keys(parameters).length > 0 && { modelParameters: parameters }),
      ...(timeoutMs !== null && { modelTimeoutMs: timeoutMs }),
      ...offer,
    }),
  };
}

/** Checks if an assertion of the case expects a tool to fail. */
export function expectsErrorOfCall(testCase: SuiteCase, suite: Suite): boolean {
  return listAssertions(testCase, suite).some(expectsToolError);
}

function listAssertions(testCase: SuiteCase, suite: Suite): Assertion[] {
  const ofSteps = testCase.steps.flatMap(({ step }) => (step.kind === 'assert' ? [step.assertion] : []));
  return [...ofSteps, ...resolveChecks(suite.checks, testCase.checks)];
}

/**
 * Adds an assertion to a case that is a single tool call. The API would treat such a case as a widget's and assert that it rendered. The
 * added assertion states what the case means: the tool did not fail or, if it may fail, it was called. A case without any steps gets one
 * too, since the API requires a step.
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
