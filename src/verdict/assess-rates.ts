import { formatCount } from '../base/text.ts';
import { describeSource, type Sourced, type NamedRule } from '../model/source.ts';
import type { SuiteRequirements } from '../model/policy.ts';
import { formatMinimumPassRate } from '../model/rate.ts';
import type { CaseResults, Rounds, SuiteResults } from '../model/results.ts';
import type { Assessment } from './assessment.ts';
import { readErrors } from './confidence-family.ts';
import { countRead, countScored } from './count.ts';
import { classifyCase } from './flaky.ts';
import { assessRate, boundRate } from './rate-rule.ts';
import { assessRounds, findRounds } from './rounds-rule.ts';
import type { ErrorRates } from './statistics/errors.ts';

/** Judges every requirement on pass rates and cases; considers only the cases that count. */
export function assessRules(
  results: SuiteResults,
  counted: readonly CaseResults[],
  requirements: SuiteRequirements,
): Assessment[] {
  return assessAll(results, { counted, asRead: null }, requirements);
}

/**
 * Does the same if `best` has the best results that the counted cases can still have, and `asRead` their results so far: a requirement that
 * the best results meet may still be missed.
 */
export function boundRules(
  results: SuiteResults,
  { best, asRead }: { best: readonly CaseResults[]; asRead: readonly CaseResults[] },
  requirements: SuiteRequirements,
): Assessment[] {
  return assessAll(results, { counted: best, asRead }, requirements);
}

function assessAll(
  results: SuiteResults,
  cases: Pick<RuleInput, 'counted' | 'asRead'>,
  requirements: SuiteRequirements,
): Assessment[] {
  const { confidence, confidenceOver } = requirements;
  const errors = readErrors(requirements);
  const rounds = findRounds(results, requirements);
  const scope = { ...cases, cases: results.cases, confidence, confidenceOver, errors, rounds };
  return [
    assessSuiteRate(requirements.minimumPassRate, scope),
    ...requirements.tags.map((requirement) => assessGroupRate(tagGroup, requirement, scope)),
    ...listModelRules(results.cases, requirements).map((requirement) =>
      assessGroupRate(modelGroup, requirement, scope),
    ),
    ...requirements.cases.map((requirement) => assessCaseRate(requirement, scope)),
    ...listRequired(results.cases, requirements).map((required) => assessRequired(required, scope)),
  ];
}

const rateCodes = {
  suite: { met: 'minimum-met', 'not-met': 'below-minimum', unknown: 'minimum-unsettled' },
  tag: { met: 'minimum-met', 'not-met': 'tag-below-minimum', unknown: 'minimum-unsettled' },
  model: { met: 'minimum-met', 'not-met': 'model-below-minimum', unknown: 'minimum-unsettled' },
  case: { met: 'minimum-met', 'not-met': 'case-below-minimum', unknown: 'minimum-unsettled' },
} as const;

interface RuleInput extends Pick<SuiteRequirements, 'confidence' | 'confidenceOver'> {
  errors: ErrorRates;
  /** Null if the number of iterations was fixed, or if the confidence is not about the cases. */
  rounds: Rounds | null;
  cases: readonly CaseResults[];
  counted: readonly CaseResults[];
  /** The same cases with their results so far, if `counted` has the best that they can be; null if both are equal. */
  asRead: readonly CaseResults[] | null;
}

function assessScopedRate(
  cases: readonly CaseResults[],
  minimum: Sourced<number>,
  { confidence, confidenceOver, errors, rounds, asRead }: RuleInput,
): Pick<Assessment, 'state' | 'finding' | 'requirement'> {
  if (rounds !== null && confidence !== null && minimum.value < 1) {
    const isComplete = asRead === null;
    return assessRounds(cases, minimum, { confidence, errors, rounds, isComplete });
  }
  const assessed = assessRate(cases, minimum, { confidence, errors, isOverTasks: confidenceOver?.value === 'tasks' });
  if (asRead === null) return assessed;
  const ids = new Set(cases.map(({ id }) => id));
  const read = asRead.filter(({ id }) => ids.has(id));
  if (countScored(read).scored === countScored(cases).scored) return assessed;
  return { ...assessed, ...boundRate(read, cases, { minimum, confidence, errors }) };
}

function assessSuiteRate(minimum: Sourced<number>, scope: RuleInput): Assessment {
  const assessed = assessScopedRate(scope.counted, minimum, scope);
  return {
    kind: 'minimum-pass-rate',
    scope: 'suite',
    subject: null,
    source: minimum.source,
    isDecisive: true,
    code: rateCodes.suite[assessed.state],
    ...assessed,
  };
}

/** The cases that share a minimum. */
interface CaseGroup {
  scope: 'tag' | 'model';
  has: (testCase: CaseResults, name: string) => boolean;
}

const tagGroup: CaseGroup = { scope: 'tag', has: ({ tags }, name) => tags.includes(name) };
const modelGroup: CaseGroup = { scope: 'model', has: ({ model }, name) => model === name };

/**
 * Lists the minimum of each model that cases of the suite use: the model's own if the policy names one; else the suite's, if the suite has
 * several models that the policy does not pool.
 */
export function listModelRules(
  cases: readonly CaseResults[],
  requirements: SuiteRequirements,
): Array<NamedRule<number>> {
  const models = [...new Set(cases.map(({ model }) => model).filter((model) => model !== null))].toSorted();
  const isEach = models.length > 1 && !requirements.poolModels.value;
  return models.flatMap((name) => {
    const own = requirements.models.find((rule) => rule.name === name);
    if (own !== undefined) return [own];
    return isEach ? [{ ...requirements.minimumPassRate, name }] : [];
  });
}

function assessGroupRate(
  { scope: kind, has }: CaseGroup,
  requirement: NamedRule<number>,
  scope: RuleInput,
): Assessment {
  const { cases, counted } = scope;
  const base = {
    kind: 'minimum-pass-rate' as const,
    scope: kind,
    subject: requirement.name,
    requirement: `at least ${formatMinimumPassRate(requirement.value)} pass`,
    source: requirement.source,
    isDecisive: true,
  };
  const carriers = counted.filter((testCase) => has(testCase, requirement.name));
  if (countScored(carriers).scored === 0) {
    const excluded = carriers.length > 0 ? [] : cases.filter((testCase) => has(testCase, requirement.name));
    return {
      ...base,
      ...describeUnjudged(`the ${kind} ${JSON.stringify(requirement.name)}`, requirement.source, excluded),
    };
  }
  const assessed = assessScopedRate(carriers, requirement, scope);
  return {
    ...base,
    ...assessed,
    code: rateCodes[kind][assessed.state],
    finding: `Of the ${kind} ${JSON.stringify(requirement.name)}, ${assessed.finding}`,
  };
}

function assessCaseRate(requirement: NamedRule<number>, scope: RuleInput): Assessment {
  const { cases, counted } = scope;
  const testCase = cases.find(({ id }) => id === requirement.name);
  const base = {
    kind: 'minimum-pass-rate' as const,
    scope: 'case' as const,
    subject: testCase?.title ?? requirement.name,
    requirement: `at least ${formatMinimumPassRate(requirement.value)} pass`,
    source: requirement.source,
    isDecisive: true,
    ...(testCase === undefined ? {} : { caseId: testCase.id }),
  };
  const name = `the case ${JSON.stringify(base.subject)}`;
  const excluded = testCase === undefined || counted.includes(testCase) ? [] : [testCase];
  if (testCase === undefined || excluded.length > 0 || countScored([testCase]).scored === 0) {
    return { ...base, ...describeUnjudged(name, requirement.source, excluded) };
  }
  // A case is repeated, and is no sample of tasks.
  const assessed = assessScopedRate([testCase], requirement, { ...scope, confidenceOver: null });
  return { ...base, ...assessed, code: rateCodes.case[assessed.state], finding: `Of ${name}, ${assessed.finding}` };
}

interface RequiredCase {
  name: string;
  testCase: CaseResults | null;
  source: string;
}

/** Lists the cases that their own definition requires, then the further ones that the policy names. */
function listRequired(cases: readonly CaseResults[], { required }: SuiteRequirements): RequiredCase[] {
  const own = cases
    .filter(({ isRequired }) => isRequired)
    .map(({ location, title, ...testCase }) => ({
      name: title,
      testCase: { location, title, ...testCase },
      source: location === null ? 'the suite' : `${location.file}:${location.line}`,
    }));
  const named = required.map(({ name, source }) => {
    const testCase = cases.find(({ id }) => id === name) ?? null;
    return { name: testCase?.title ?? name, testCase, source };
  });
  return [...own, ...named.filter(({ testCase }) => testCase?.isRequired !== true)];
}

function assessRequired({ name, testCase, source }: RequiredCase, { counted }: RuleInput): Assessment {
  const base = {
    kind: 'required-case' as const,
    scope: 'case' as const,
    subject: name,
    requirement: 'every iteration passes',
    source,
    isDecisive: true,
    ...(testCase === null ? {} : { caseId: testCase.id }),
  };
  const excluded = testCase === null || counted.some(({ id }) => id === testCase.id) ? [] : [testCase];
  if (testCase === null || excluded.length > 0) {
    return { ...base, ...describeUnjudged(`the required case "${name}"`, source, excluded) };
  }
  const total = formatCount(countRead(testCase), 'iteration');
  if (testCase.failed > 0) {
    const finding = `The required case "${name}" failed ${testCase.failed} of ${total}.`;
    return { ...base, code: 'required-failed', state: 'not-met', finding };
  }
  if (testCase.unscored > 0) {
    const finding = `Of the required case "${name}", ${testCase.unscored} of ${total} ended without a result.`;
    return { ...base, code: 'requirement-unjudged', state: 'unknown', finding };
  }
  if (testCase.passed === 0) {
    const finding = `The required case "${name}" failed 0 of ${total}.`;
    return { ...base, code: 'required-failed', state: 'not-met', finding };
  }
  const finding = `The required case "${name}" passed ${total === '1 iteration' ? 'its iteration' : `all ${total}`}.`;
  return { ...base, code: 'minimum-met', state: 'met', finding };
}

/** Describes a requirement without a result. If its cases are excluded, it is not judged; if they never ran, it leaves the verdict open. */
function describeUnjudged(
  what: string,
  source: string,
  excluded: readonly CaseResults[],
): Pick<Assessment, 'code' | 'state' | 'isDecisive' | 'finding'> {
  const why = excluded.length === 0 ? 'has no result' : describeExcluded(excluded);
  const subject = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return {
    code: 'requirement-unjudged',
    state: 'unknown',
    isDecisive: excluded.length === 0,
    finding: `${subject} ${why}, so that the requirement on it (${describeSource(source)}) could not be judged.`,
  };
}

/** Describes why cases do not count. A case in quarantine or on probation does not run again, so a flaky case is excluded because it is flaky. */
function describeExcluded(excluded: readonly CaseResults[]): string {
  const flaky = excluded.filter((testCase) => classifyCase(testCase) === 'flaky').length;
  return flaky === excluded.length ? 'is flaky, which is only reported' : 'does not count';
}
