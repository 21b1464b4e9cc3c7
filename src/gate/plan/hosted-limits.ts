import type { ConfigurationIssue } from '../../base/errors.ts';
import { formatCount } from '../../base/text.ts';
import { type Assertion, isAdvisory } from '../../checks/assertion.ts';
import { isOwnStep } from '../../cases/step.ts';
import type { Suite, SuiteCase } from '../../cases/suite.ts';
import type { ServiceProfile } from '../../service/profile.ts';
import { compileCase } from '../../suite/compile.ts';
import { isJudgedHere, untracedChecks } from '../../suite/dialect.ts';
import { listSnapshots } from '../../suite/load-snapshots.ts';
import { findCasesWithoutModel } from '../../suite/model-settings.ts';
import { resolveChecks } from '../../suite/build.ts';

/** Lowers the iterations of each case to the service's maximum. */
export function capRuns(suite: Suite, { limits }: ServiceProfile): Suite {
  const most = limits.iterationsPerCase;
  return { ...suite, cases: suite.cases.map((item) => ({ ...item, runs: Math.min(item.runs, most) })) };
}

/** Notes the cases of which `capRuns` lowers the iterations. */
export function noteCappedRuns(suite: Suite, { limits, name }: ServiceProfile): string[] {
  const most = limits.iterationsPerCase;
  const above = suite.cases.filter(({ runs }) => runs > most);
  if (above.length === 0) return [];
  const titles = above.map(({ title, runs }) => `"${title}" (${runs})`).join(', ');
  return [
    `${suite.name}: the service ${name} runs a case at most ${most} times, so these run ${most} times: ${titles}.`,
  ];
}

/** Finds what a hosted service would refuse or misunderstand. */
export function findHostedIssues(suite: Suite, profile: ServiceProfile): ConfigurationIssue[] {
  return [
    ...findTooManyCases(suite, profile),
    ...(suite.model === null ? findCasesWithoutModel(suite) : []),
    ...findOwnSteps(suite, profile),
    ...findOwnSettings(suite, profile),
    ...findPlaceholders(suite, profile),
    ...findGatingJudges(suite, profile),
    ...findSnapshots(suite, profile),
    ...findOwnWorkspace(suite, profile),
    ...findOwnUpstream(suite, profile),
    ...findNamesakes(suite, profile),
  ];
}

function findTooManyCases(suite: Suite, { limits, name }: ServiceProfile): ConfigurationIssue[] {
  const most = limits.testsPerRequest;
  if (suite.cases.length <= most) return [];
  const message = `${suite.name} has ${formatCount(suite.cases.length, 'case')}, and the service ${name} takes ${most} in a suite; split the file`;
  return [{ file: suite.location.file, line: suite.location.line, code: 'too-many-cases', message }];
}

/** Finds steps that the API does not have, and lists of steps that it has no field for. */
function findOwnSteps({ cases }: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  const own = cases.flatMap(({ setup, steps, teardown }) => [
    ...setup.map(({ location }) => ({ location, what: 'setup' })),
    ...steps.filter(({ step }) => isOwnStep(step)).map(({ step, location }) => ({ location, what: step.kind })),
    ...teardown.map(({ location }) => ({ location, what: 'teardown' })),
  ]);
  const distinct = new Map(own.map((found) => [`${found.location.line}:${found.location.column}`, found]));
  return [...distinct.values()].map(({ location, what }) => ({
    ...location,
    code: 'needs-embedded-service',
    message: `the service ${name} knows no \`${what}\`; remove it, or use \`service: embedded\``,
  }));
}

/** Finds settings without a field in the API. A service would ignore them and judge a different case. */
function findOwnSettings({ cases }: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  const settings = [
    ...cases
      .filter(({ steps }) => steps.some(({ step }) => step.kind === 'prompt'))
      .flatMap(({ modelSettings }) => modelSettings.ownSetting ?? []),
    ...cases.flatMap(({ client }) => (client === null ? [] : { key: 'client', location: client.location })),
  ];
  const distinct = new Map(settings.map((setting) => [`${setting.location.line}:${setting.location.column}`, setting]));
  return [...distinct.values()].map(({ key, location }) => ({
    ...location,
    code: 'needs-embedded-service',
    message: `the service ${name} knows no \`${key}\`; remove it, or use \`service: embedded\``,
  }));
}

/** Finds placeholders, which only the embedded service fills in. */
function findPlaceholders({ cases }: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  return cases.flatMap(({ placeholders }): ConfigurationIssue[] => {
    if (placeholders === null || placeholders.first === null) return [];
    const { text, location } = placeholders.first;
    const message = `the service ${name} knows no \`${text}\`; write the value, or use \`service: embedded\``;
    return [{ ...location, code: 'needs-embedded-service', message }];
  });
}

/** Finds gating judges, which only the embedded service asks. */
function findGatingJudges({ cases }: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  const gating = cases.flatMap(({ judges }) => judges.filter(({ judge }) => !isAdvisory(judge)));
  const distinct = new Map(gating.map((judge) => [`${judge.location.line}:${judge.location.column}`, judge]));
  return [...distinct.values()].map(({ location }) => ({
    ...location,
    code: 'needs-embedded-service',
    message: `the service ${name} knows no judge; remove \`role: gating\`, or use \`service: embedded\``,
  }));
}

/** Finds snapshots, since only the embedded service has their files. */
function findSnapshots(suite: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  return listSnapshots(suite).map(({ location }) => ({
    ...location,
    code: 'needs-embedded-service',
    message: `the service ${name} knows no \`toMatchFile\`; remove it, or use \`service: embedded\``,
  }));
}

/** Finds a workspace, since no service starts a process for each iteration. */
function findOwnWorkspace({ workspace }: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  if (workspace === null) return [];
  const message = `the service ${name} starts no process for an iteration and knows no \`workspace\`; remove it, or use \`service: embedded\``;
  return [{ ...workspace.location, code: 'needs-embedded-service', message }];
}

/** Finds recordings of APIs, since no service replays them. */
function findOwnUpstream({ upstream }: Suite, { name }: ServiceProfile): ConfigurationIssue[] {
  if (upstream === null) return [];
  const message = `the service ${name} replays no answers of APIs and knows no \`upstream\`; remove it, or use \`service: embedded\``;
  return [{ ...upstream.location, code: 'needs-embedded-service', message }];
}

/** Finds cases with the same title and steps, by which a service identifies a case. Two cases that differ only in something else would become one. */
function findNamesakes(suite: Suite, { name, dialect }: ServiceProfile): ConfigurationIssue[] {
  const seen = new Map<string, SuiteCase>();
  return suite.cases.flatMap((item) => {
    const { title, steps } = compileCase(item, suite, { dialect });
    const key = JSON.stringify([title, steps]);
    const earlier = seen.get(key);
    seen.set(key, earlier ?? item);
    if (earlier === undefined) return [];
    const message = `case "${title}" is the same as the one in line ${earlier.location.line} to the service ${name}; give it another title`;
    return [{ ...item.location, code: 'same-case', message }];
  });
}

/** Lists what will be inconclusive with a service, before the run. */
export function listHostedNotes(suite: Suite, profile: ServiceProfile): string[] {
  return [...noteConcurrency(suite, profile), ...noteToolResults(suite, profile), ...noteUntraced(suite, profile)];
}

function noteConcurrency({ name, concurrency }: Suite, profile: ServiceProfile): string[] {
  if (concurrency === null || profile.name === 'embedded') return [];
  return [
    `${name}: the service ${profile.name} decides itself how many iterations run at the same time; \`concurrency\` (${concurrency.source}) is ignored.`,
  ];
}

function noteToolResults(suite: Suite, { name, keepsToolResults, dialect }: ServiceProfile): string[] {
  if (keepsToolResults) return [];
  const judges = (assertion: Assertion) => isJudgedHere(assertion, dialect);
  const cases = suite.cases.filter((item) => isPinned(item) && listAssertions(item, suite).some(judges));
  if (cases.length === 0) return [];
  const titles = cases.map(({ title }) => `"${title}"`).join(', ');
  return [
    `${suite.name}: the service ${name} keeps no results of toolCall steps, so assertions on them cannot be judged and these cases will have no result: ${titles}. Run them with the embedded service.`,
  ];
}

function noteUntraced(suite: Suite, { name, dialect }: ServiceProfile): string[] {
  const types = new Set<string>();
  const titles = suite.cases.flatMap((item) => {
    const found = listAssertions(item, suite).flatMap((assertion) =>
      isJudgedHere(assertion, dialect) && untracedChecks.has(assertion.type) ? [assertion.type] : [],
    );
    for (const type of found) types.add(type);
    return found.length === 0 ? [] : `"${item.title}"`;
  });
  if (titles.length === 0) return [];
  return [
    `${suite.name}: the service ${name} may not know ${[...types].join(', ')}, and no trace shows what that takes, so these cases will have no result: ${titles.join(', ')}. Run them with the embedded service, or make these assertions advisory.`,
  ];
}

function isPinned({ steps }: SuiteCase): boolean {
  return steps.some(({ step }) => step.kind === 'toolCall');
}

function listAssertions(item: SuiteCase, suite: Suite): Assertion[] {
  const ofSteps = item.steps.flatMap(({ step }) => (step.kind === 'assert' ? [step.assertion] : []));
  return [...ofSteps, ...resolveChecks(suite.checks, item.checks)];
}
