import { isJsonEqual } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import { defaultMatchOptions, toPublicMatchOptions } from '../cases/case.ts';
import type { CaseChanges, CaseFields, StoredCase, TestCase } from '../cases/case.ts';
import { readServerName } from '../cases/step-server.ts';
import { mapServerSteps } from '../cases/step.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { compileCase } from './compile.ts';
import type { Dialect } from './dialect.ts';

/** The changes that make the stored cases of a service equal to those of a file. */
export interface SyncPlan {
  /** The cases to create, in the order of the file. */
  create: SuiteCase[];
  update: CaseUpdate[];
  delete: Array<{ caseId: string; title: string }>;
  unchanged: number;
}

export interface CaseUpdate {
  /** The id that the service assigned. */
  caseId: string;
  title: string;
  /** The fields that differ, with the values of the file. */
  changes: CaseChanges;
  /** The names of the changed fields in the file. */
  fields: string[];
}

/** All fields of a case, with the API's defaults for absent ones. */
type WholeCase = Required<Omit<CaseFields, 'title' | 'models'>> & Pick<CaseFields, 'models'>;

/** The names of the API's fields in evals files. */
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

/** A case of a file and the stored case that matches it. */
export interface MatchedCase extends Pick<CaseUpdate, 'changes' | 'fields'> {
  testCase: SuiteCase;
  stored: StoredCase;
}

/**
 * Matches each case of a file with a stored case, and lists their differences. Cases match by title. If several share a title, those with
 * equal steps match first, and the others in their order.
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

/** Plans what to create, change and delete so that a service stores exactly the cases of a file. */
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

/** Describes a case as a stored suite has it: its calls use the project's name for the server under test. */
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

/** Describes a case in the form in which the API creates it. Leaves out what only inline tests support. */
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

/** Compares a case of a file with a stored one, without the title, and checks if the API allows the changes. */
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

/** Describes the changes of a sync: a heading, then a line for each case that changes. Titles are not escaped. */
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

/** Matches each stored case with at most one case of the file: first those with equal steps, then those whose steps can be replaced. */
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
 * Checks if the API lets a case get new steps. The API refuses steps that change its kind (a conversation, or one tool call without a
 * model), and any change of a case with several calls. Such cases are deleted and created again.
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

/** Describes a compiled test. A case without a prompt has no model here, because a service stores none for it, or a placeholder. */
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

/**
 * Describes a stored case in the form of the wanted one. Takes the provider of a model from the wanted case if the service does not store
 * it.
 */
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

/** Compares two values as JSON: the order of keys does not matter, and `-0` equals `0`. */
function isEqualJson(left: unknown, right: unknown): boolean {
  return isJsonEqual(toJson(left), toJson(right));
}

function toJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
