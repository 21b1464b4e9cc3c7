import { isJsonEqual } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import { defaultMatchOptions, toPublicMatchOptions } from '../cases/case.ts';
import type { CaseChanges, CaseFields, StoredCase, TestCase } from '../cases/case.ts';
import { readServerName } from '../cases/step-server.ts';
import { mapServerSteps } from '../cases/step.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { compileCase } from './compile.ts';
import type { Dialect } from './dialect.ts';

/** What makes the cases that a service stores equal to a file's. */
export interface SyncPlan {
  /** In the order of the file. */
  create: SuiteCase[];
  update: CaseUpdate[];
  delete: Array<{ caseId: string; title: string }>;
  unchanged: number;
}

export interface CaseUpdate {
  /** The service's id. */
  caseId: string;
  title: string;
  /** What differs, as the file has it. */
  changes: CaseChanges;
  /** The names of those fields in the file. */
  fields: string[];
}

/** Whole, with the API's defaults for absent fields. */
type WholeCase = Required<Omit<CaseFields, 'title' | 'models'>> & Pick<CaseFields, 'models'>;

/** Evals files call most fields by other names than the API. */
const fieldNames: Record<keyof WholeCase, string> = {
  steps: 'steps',
  iterations: 'runs',
  isNegative: 'negative',
  expectedOutput: 'expectedOutput',
  scenario: 'scenario',
  matchOptions: 'match',
  checks: 'checks',
  models: 'model',
};

interface WantedCase {
  testCase: SuiteCase;
  fields: WholeCase;
}

/** A case of a file and the stored one that stands for it. */
export interface MatchedCase extends Pick<CaseUpdate, 'changes' | 'fields'> {
  testCase: SuiteCase;
  stored: StoredCase;
}

/**
 * Finds the stored case of each case of a file, and in what they differ. Titles tell which is which; where several share
 * one, those with equal steps belong together, and the others in their order.
 */
export function matchStoredCases(
  suite: Suite,
  existing: readonly StoredCase[],
  options: { dialect: Dialect },
): MatchedCase[] {
  const wanted = suite.cases.map((testCase): WantedCase => {
    return { testCase, fields: describeTest(compileCase(testCase, suite, options)) };
  });
  const matches = matchCases(wanted, existing);
  return wanted.flatMap(({ testCase, fields }) => {
    const stored = matches.get(testCase);
    if (stored === undefined) return [];
    const changes = listChanges(fields, describeStored(stored, fields));
    return [{ testCase, stored, changes, fields: nameFields(changes) }];
  });
}

/**
 * Plans what to create, change and delete so that a service stores the cases of a file and no others, each of which
 * `matchStoredCases` finds.
 */
export function planSync(suite: Suite, existing: readonly StoredCase[], options: { dialect: Dialect }): SyncPlan {
  const matched = new Map(matchStoredCases(suite, existing, options).map((match) => [match.testCase, match]));
  const plan: SyncPlan = { create: [], update: [], delete: [], unchanged: 0 };
  for (const testCase of suite.cases) {
    const match = matched.get(testCase);
    if (match === undefined) {
      plan.create.push(testCase);
      continue;
    }
    const { stored, changes, fields } = match;
    if (fields.length === 0) plan.unchanged += 1;
    else plan.update.push({ caseId: stored.id, title: testCase.title, changes, fields });
  }
  const kept = new Set(matched.values().map(({ stored }) => stored));
  for (const stored of existing) {
    if (!kept.has(stored)) plan.delete.push({ caseId: stored.id, title: stored.title ?? '' });
  }
  return plan;
}

/** A case of a suite that is kept for itself: its calls name the server under test as its project does. */
function describeKept(
  testCase: SuiteCase,
  suite: Suite,
  { serverName, dialect }: { serverName: string; dialect: Dialect },
): WholeCase {
  const fields = describeTest(compileCase(testCase, suite, { dialect }));
  const steps = fields.steps.map((step) =>
    mapServerSteps(step, (asking) => (readServerName(asking) === null ? { ...asking, serverName } : asking)),
  );
  return { ...fields, steps };
}

/** A case as the API's case routes create it, with what compiling it gives. What only inline tests can carry is left out. */
export function describeNewCase(
  testCase: SuiteCase,
  suite: Suite,
  options: { serverName: string; dialect: Dialect },
): CaseFields & { id: string } {
  const { models, expectedOutput, scenario, ...fields } = describeKept(testCase, suite, options);
  return {
    id: testCase.id,
    title: testCase.title,
    ...fields,
    ...(expectedOutput !== '' && { expectedOutput }),
    ...(scenario !== '' && { scenario }),
    ...(models !== undefined && { models }),
  };
}

/** In what a case of a file and a stored one differ, its title apart, and whether the API lets the stored one be changed so. */
export function compareWithStored(
  testCase: SuiteCase,
  suite: Suite,
  stored: StoredCase,
  options: { serverName: string; dialect: Dialect },
): Pick<CaseUpdate, 'changes' | 'fields'> & { canChange: boolean } {
  const wanted = describeKept(testCase, suite, options);
  const changes = listChanges(wanted, describeStored(stored, wanted));
  return {
    changes,
    fields: nameFields(changes),
    canChange: changes.steps === undefined || canReplaceSteps(stored.steps ?? [], wanted.steps),
  };
}

/** Describes what a sync is going to do: a heading, then a line for each case that it touches. Titles are as they came. */
export function describeSync(plan: SyncPlan, { suiteName }: { suiteName: string }): string[] {
  const { create, update, unchanged } = plan;
  const touched = create.length + update.length + plan.delete.length;
  if (touched === 0) return [`${suiteName}: nothing to change, ${formatCount(unchanged, 'case')} as in the file.`];
  return [
    `${suiteName}: ${formatCount(create.length, 'case')} to create, ${update.length} to change, ${plan.delete.length} to delete, ${unchanged} as in the file.`,
    ...create.map(({ title }) => `  + ${title}`),
    ...update.map(({ title, fields }) => `  ~ ${title} (${fields.join(', ')})`),
    ...plan.delete.map(({ title }) => `  - ${title}`),
  ];
}

/** Each stored case stands for one of the file's at most: first those that say the same, then those that can be made to. */
function matchCases(wanted: readonly WantedCase[], existing: readonly StoredCase[]): Map<SuiteCase, StoredCase> {
  const free = Map.groupBy(existing, ({ title }) => title ?? '');
  const matches = new Map<SuiteCase, StoredCase>();
  const match = (fits: (stored: readonly unknown[], steps: CaseFields['steps']) => boolean) => {
    for (const { testCase, fields } of wanted) {
      const namesakes = free.get(testCase.title) ?? [];
      if (matches.has(testCase)) continue;
      const index = namesakes.findIndex(({ steps }) => fits(steps ?? [], fields.steps));
      const [stored] = index === -1 ? [] : namesakes.splice(index, 1);
      if (stored !== undefined) matches.set(testCase, stored);
    }
  };
  match(isEqualJson);
  match(canReplaceSteps);
  return matches;
}

/**
 * The API keeps a case the kind that it was created as, and refuses steps that would make it another: a conversation, or
 * one tool call without a model. Of several calls without a model it refuses any change. Such cases are made anew.
 */
function canReplaceSteps(stored: readonly unknown[], steps: readonly unknown[]): boolean {
  const kind = readKind(steps);
  return kind !== 'calls' && kind === readKind(stored);
}

function readKind(steps: readonly unknown[]): 'conversation' | 'call' | 'calls' {
  const count = (kind: string) =>
    steps.filter((step) => typeof step === 'object' && step !== null && 'kind' in step && step.kind === kind).length;
  if (count('prompt') > 0) return 'conversation';
  return count('toolCall') === 1 ? 'call' : 'calls';
}

/** A case without a prompt calls no model: services keep none of it, or whatever stood in for one, so it has none here. */
function describeTest(test: TestCase): WholeCase {
  const { steps, model, provider } = test;
  const hasPrompt = readKind(steps) === 'conversation';
  return {
    steps,
    iterations: test.runs,
    isNegative: test.isNegativeTest ?? false,
    expectedOutput: test.expectedOutput ?? '',
    scenario: test.scenario ?? '',
    matchOptions: test.matchOptions === undefined ? defaultMatchOptions : toPublicMatchOptions(test.matchOptions),
    checks: test.predicates ?? { mode: 'inherit', list: [] },
    ...(hasPrompt && model !== undefined && { models: [{ model, ...(provider !== undefined && { provider }) }] }),
  };
}

/** A stored case in the same form as the wanted one, of which it takes what a service may leave to be derived. */
function describeStored(stored: StoredCase, wanted: WholeCase): Record<keyof WholeCase, unknown> {
  const { toolCallOrder, extraToolCalls, arguments: matching } = { ...defaultMatchOptions, ...stored.matchOptions };
  const models = (stored.models ?? []).map(({ model, provider }, index) => {
    const derived = provider ?? wanted.models?.[index]?.provider;
    return { model, ...(derived !== undefined && { provider: derived }) };
  });
  return {
    steps: stored.steps ?? [],
    iterations: stored.iterations ?? 1,
    isNegative: stored.isNegative ?? false,
    expectedOutput: stored.expectedOutput ?? '',
    scenario: stored.scenario ?? '',
    matchOptions: { toolCallOrder, extraToolCalls, arguments: matching },
    checks: { mode: stored.checks?.['mode'] ?? 'inherit', list: stored.checks?.['list'] ?? [] },
    models: wanted.models === undefined ? undefined : models,
  };
}

function nameFields(changes: CaseChanges): string[] {
  const names = Object.entries(fieldNames).filter(([key]) => Object.hasOwn(changes, key));
  return names.map(([, name]) => name);
}

function listChanges(wanted: WholeCase, stored: Record<keyof WholeCase, unknown>): CaseChanges {
  const { steps, iterations, isNegative, expectedOutput, scenario, matchOptions, checks, models } = wanted;
  const differs = (key: keyof WholeCase) => !isEqualJson(wanted[key], stored[key]);
  return {
    ...(differs('steps') && { steps }),
    ...(differs('iterations') && { iterations }),
    ...(differs('isNegative') && { isNegative }),
    ...(differs('expectedOutput') && { expectedOutput }),
    ...(differs('scenario') && { scenario }),
    ...(differs('matchOptions') && { matchOptions }),
    ...(differs('checks') && { checks }),
    ...(models !== undefined && differs('models') && { models }),
  };
}

/** Whether two values are the same once they have travelled: key order is free, and `-0` is `0`. */
function isEqualJson(left: unknown, right: unknown): boolean {
  return isJsonEqual(toJson(left), toJson(right));
}

function toJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
