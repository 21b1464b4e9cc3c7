import { expectsToolError, isToolResultAssertion } from '../model/assertion.ts';
import type { Assertion } from '../model/assertion.ts';
import { toInternalMatchOptions } from '../model/case.ts';
import type { TestCase } from '../model/case.ts';
import type { Step } from '../model/step.ts';
import { serverUnderTest } from '../model/suite.ts';
import type { Suite, SuiteCase } from '../model/suite.ts';
import { resolveChecks } from './build.ts';

/**
 * `embedded` is our own service, which knows assertions on what a tool answered and a time limit per iteration.
 * `contract` is any service of this API, which knows neither: they are left out, and every test names a model and a
 * provider, without which the API creates no run.
 */
export type Dialect = 'embedded' | 'contract';

interface CompileOptions {
  serverName: string;
  dialect: Dialect;
}

/** Stands in a case that names no model. The provider's models are not checked against a catalogue, and none is called. */
const noModel = { model: 'none', provider: 'custom' };

/**
 * Compiles a suite to the API's inline tests, in the order of its cases. Each stands alone: the suite's checks and
 * settings are in it, and steps that named no server name `serverName`.
 */
export function compileSuite(suite: Suite, options: CompileOptions): TestCase[] {
  return suite.cases.map((item) => compileCase(item, suite, options));
}

/** Compiles one case of a suite. */
export function compileCase(item: SuiteCase, suite: Suite, { serverName, dialect }: CompileOptions): TestCase {
  const model = item.model ?? suite.model;
  const knows = (assertion: Assertion) => dialect === 'embedded' || !isToolResultAssertion(assertion);
  const steps = item.steps
    .map(({ step }) => nameServer(step, serverName))
    .filter((step) => step.kind !== 'assert' || knows(step.assertion));
  const expectsError = expectsErrorOfCall(item, suite);
  // A service that does not know which call is expected to fail has to allow all; the trace shows which one failed.
  const failsOnToolError = item.failOnToolError && !(dialect === 'contract' && expectsError);
  const advancedConfig = {
    ...(dialect === 'embedded' && { timeoutMs: item.timeoutMs }),
    ...(!failsOnToolError && { failOnToolError: false }),
  };
  return {
    title: item.title,
    steps: sayWhatIsMeant(steps, item.failOnToolError && !expectsError),
    runs: item.runs,
    ...(dialect === 'contract' && noModel),
    ...(model !== null && { model, provider: model.slice(0, model.indexOf('/')) }),
    ...(item.expectedOutput !== null && { expectedOutput: item.expectedOutput }),
    ...(item.isNegative && { isNegativeTest: true }),
    ...(item.scenario !== null && { scenario: item.scenario }),
    matchOptions: toInternalMatchOptions(item.match),
    predicates: { mode: 'replace', list: resolveChecks(suite.checks, item.checks).filter(knows) },
    ...(Object.keys(advancedConfig).length > 0 && { advancedConfig }),
  };
}

/** Whether an assertion of the case holds only where a tool fails. */
export function expectsErrorOfCall(item: SuiteCase, suite: Suite): boolean {
  const ofSteps = item.steps.flatMap(({ step }) => (step.kind === 'assert' ? [step.assertion] : []));
  return [...ofSteps, ...resolveChecks(suite.checks, item.checks)].some(expectsToolError);
}

function nameServer(step: Step, serverName: string): Step {
  return step.kind === 'toolCall' && step.serverName === serverUnderTest ? { ...step, serverName } : step;
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
