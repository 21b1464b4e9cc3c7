import { toInternalMatchOptions } from '../model/case.ts';
import type { Step, TestCase } from '../model/case.ts';
import { serverUnderTest } from '../model/suite.ts';
import type { Suite, SuiteCase } from '../model/suite.ts';
import { resolveChecks } from './build.ts';

/**
 * Compiles a suite to the API's inline tests, in the order of its cases. Each stands alone: the suite's checks and
 * settings are in it, and steps that named no server name `serverName`.
 */
export function compileSuite(suite: Suite, options: { serverName: string }): TestCase[] {
  return suite.cases.map((item) => compileCase(item, suite, options.serverName));
}

function compileCase(item: SuiteCase, suite: Suite, serverName: string): TestCase {
  const model = item.model ?? suite.model;
  const steps = item.steps.map(({ step }) => nameServer(step, serverName));
  return {
    title: item.title,
    steps: withoutImplicitRenderCheck(steps, item.failOnToolError),
    runs: item.runs,
    ...(model !== null && { model, provider: model.slice(0, model.indexOf('/')) }),
    ...(item.expectedOutput !== null && { expectedOutput: item.expectedOutput }),
    ...(item.isNegative && { isNegativeTest: true }),
    ...(item.scenario !== null && { scenario: item.scenario }),
    matchOptions: toInternalMatchOptions(item.match),
    predicates: { mode: 'replace', list: resolveChecks(suite.checks, item.checks) },
    advancedConfig: { timeoutMs: item.timeoutMs, ...(!item.failOnToolError && { failOnToolError: false }) },
  };
}

function nameServer(step: Step, serverName: string): Step {
  return step.kind === 'toolCall' && step.serverName === serverUnderTest ? { ...step, serverName } : step;
}

/**
 * A case of one tool call and nothing else is taken by the API for a widget's, and made to assert that it rendered.
 * An assertion that says what such a case means keeps that away: that the tool did not fail, or, where it may, that
 * it was called.
 */
function withoutImplicitRenderCheck(steps: Step[], failOnToolError: boolean): Step[] {
  const [only, ...others] = steps;
  if (only?.kind !== 'toolCall' || others.length > 0) return steps;
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
