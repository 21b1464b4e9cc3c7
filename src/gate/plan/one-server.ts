import type { ConfigurationIssue } from '../../base/errors.ts';
import { type LocatedStep, type Suite, serverUnderTest } from '../../model/suite.ts';

/**
 * Makes every step of a suite call the server under test. A suite may name that one server as it likes, since the job has
 * only one; one that names several is refused, for the others could never be called.
 */
export function planOneServer(suite: Suite): { suite: Suite; issues: ConfigurationIssue[] } {
  const steps = suite.cases.flatMap((testCase) => testCase.steps);
  const first = steps.map(readServerName).find((name) => name !== serverUnderTest);
  const issues = steps.flatMap((located): ConfigurationIssue[] => {
    const name = readServerName(located);
    if (name === serverUnderTest || name === first) return [];
    const message = `This step calls the server "${name}" and earlier ones call "${first}", but a gate tests one server; take \`server\` out, or split the suite`;
    return [{ ...located.location, code: 'several-servers', message }];
  });
  const cases = suite.cases.map((testCase) => ({ ...testCase, steps: testCase.steps.map(forgetServerName) }));
  return { suite: { ...suite, cases }, issues };
}

function readServerName({ step }: LocatedStep): string {
  return step.kind === 'toolCall' ? step.serverName : serverUnderTest;
}

function forgetServerName(located: LocatedStep): LocatedStep {
  const { step } = located;
  return step.kind === 'toolCall' ? { ...located, step: { ...step, serverName: serverUnderTest } } : located;
}
