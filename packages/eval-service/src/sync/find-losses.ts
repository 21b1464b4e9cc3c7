import { isRecord } from '../../../../src/base/json.ts';
import type { ConfigurationIssue } from '../../../../src/base/errors.ts';
import { linkPage } from '../../../../src/base/version.ts';
import type { Assertion } from '../../../../src/checks/assertion.ts';
import { isOwnStep } from '../../../../src/cases/step.ts';
import type { SourceLocation, Suite, SuiteCase } from '../../../../src/cases/suite.ts';
import type { ServiceProfile } from '../../../../src/service/profile.ts';
import { resolveChecks } from '../../../../src/suite/build.ts';
import { compileCase } from '../../../../src/suite/compile.ts';
import { isSent } from '../../../../src/suite/dialect.ts';
import { findCasesWithoutModel } from '../../../../src/suite/model-settings.ts';
import type { SourceDocument } from '../../../../src/suite/source-document.ts';

/** The fields of a suite and of a case that a service keeps. Rows and several models become separate cases. */
const keptOfSuite: ReadonlySet<string> = new Set([
  '$schema',
  'suite',
  'id',
  'model',
  'models',
  'system',
  'temperature',
  'runs',
  'match',
  'checks',
  'policy',
  'cases',
]);
const keptOfCase: ReadonlySet<string> = new Set([
  'title',
  'id',
  'negative',
  'runs',
  'model',
  'models',
  'match',
  'checks',
  'expectedOutput',
  'scenario',
  'each',
  'steps',
]);
const keptOfPolicy: ReadonlySet<string> = new Set(['minimumPassRate']);

/** Finds all content of an evals file that the service could not return: `sync` refuses the file instead of losing it. */
export function findLosses(
  suite: Suite,
  document: SourceDocument,
  profile: Pick<ServiceProfile, 'name' | 'dialect' | 'limits'>,
): ConfigurationIssue[] {
  if (isRecord(document.value) && Object.hasOwn(document.value, 'schemaVersion')) {
    const message = `is a suite file of the service; write its cases as an evals file (${linkPage('evals.md')})`;
    return [{ ...document.locateKey(['schemaVersion']), code: 'not-an-evals-file', message }];
  }
  const issues = [
    ...findLostKeys(document, profile.name),
    ...(suite.model === null ? findCasesWithoutModel(suite) : []),
    ...suite.cases.flatMap((item) => findLostParts(item, suite, profile)),
    ...findNamesakes(suite),
  ];
  // A mistake of a case occurs in each of its rows, and is reported once.
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()];
}

const describeLoss = (name: string, what: string) =>
  `the service ${name} does not keep ${what}; remove it, or leave this file out of \`sync\``;

function findLostKeys(document: SourceDocument, name: string): ConfigurationIssue[] {
  const list = (value: unknown, kept: ReadonlySet<string>, path: readonly PropertyKey[]) =>
    Object.keys(isRecord(value) ? value : {})
      .filter((key) => !kept.has(key))
      .map((key) => ({
        ...document.locateKey([...path, key]),
        code: 'not-kept',
        message: describeLoss(name, `\`${key}\``),
      }));
  const { value } = document;
  const cases = isRecord(value) && Array.isArray(value['cases']) ? value['cases'] : [];
  return [
    ...list(value, keptOfSuite, []),
    ...list(isRecord(value) ? value['policy'] : null, keptOfPolicy, ['policy']),
    ...cases.flatMap((item, index) => list(item, keptOfCase, ['cases', index])),
  ];
}

function findLostParts(
  item: SuiteCase,
  suite: Suite,
  { name, dialect, limits }: Pick<ServiceProfile, 'name' | 'dialect' | 'limits'>,
): ConfigurationIssue[] {
  const lose = (location: SourceLocation, what: string): ConfigurationIssue => {
    return { ...location, code: 'not-kept', message: describeLoss(name, what) };
  };
  const loseAssertion = (assertion: Assertion, location: SourceLocation) =>
    isSent(assertion, dialect)
      ? []
      : lose(location, `\`${'type' in assertion ? assertion.type : assertion.kind}\` here`);
  const { placeholders } = item;
  return [
    ...item.steps.flatMap(({ step, location }) => {
      if (step.kind === 'assert') return loseAssertion(step.assertion, location);
      return isOwnStep(step) ? lose(location, `\`${step.kind}\``) : [];
    }),
    ...resolveChecks(suite.checks, item.checks).flatMap((check) =>
      loseAssertion(check, suite.checks.includes(check) ? suite.location : item.location),
    ),
    ...(placeholders?.first == null ? [] : [lose(placeholders.first.location, `\`${placeholders.first.text}\``)]),
    ...(item.runs > limits.iterationsPerCase
      ? [lose(item.location, `more than ${limits.iterationsPerCase} runs of a case`)]
      : []),
  ];
}

/** Finds cases of the same title, because a service may treat two cases with the same title and steps as one. */
function findNamesakes(suite: Suite): ConfigurationIssue[] {
  const seen = new Map<string, SuiteCase>();
  return suite.cases.flatMap((item) => {
    const { title, steps } = compileCase(item, suite, { dialect: 'embedded' });
    const key = JSON.stringify([title, steps]);
    const earlier = seen.get(key);
    seen.set(key, earlier ?? item);
    if (earlier === undefined) return [];
    const message = `case "${title}" is the same as the one in line ${earlier.location.line}; give it another title`;
    return [{ ...item.location, code: 'same-case', message }];
  });
}
