import { ConfigurationError } from '../../../../src/base/errors.ts';
import { isRecord, listRecords } from '../../../../src/base/json.ts';
import { defaultMatchOptions, matchOptionsSchema } from '../../../../src/cases/case.ts';
import type { Dialect } from '../../../../src/suite/dialect.ts';
import { readSuite } from '../../../../src/suite/read.ts';
import { compareWithStored } from '../../../../src/suite/sync.ts';
import { type CaseToWrite, writeSuite } from '../../../../src/suite/write-suite.ts';
import { placeholderTitle, wantedSettings } from './plan-sync.ts';
import type { DeclaredCase, StoredSuite } from './stored-suite.ts';

/**
 * Writes a stored suite as an evals file. The file is read again and compared with the suite, so that it contains exactly what the service
 * stores.
 *
 * @throws {ConfigurationError} with the cases that an evals file cannot represent
 */
export function pullSuite(stored: StoredSuite, dialect: Dialect): string {
  const { name, settings, ledger } = stored;
  const cases = stored.cases.filter(({ title }) => title !== placeholderTitle);
  const [server, ...others] = stored.servers;
  // If there are several servers, each call names its own.
  const serverName = others.length === 0 ? (server?.name ?? '') : '';
  const runsAtLeast = settings.minimumIterations;
  const text = writeSuite({
    name,
    id: ledger?.suiteId ?? null,
    model: settings.model,
    system: settings.systemPrompt,
    temperature: settings.temperature,
    minimumPassRate: settings.minimumAccuracy / 100,
    cases: cases.map((item) => toWritable(item, { serverName, runsAtLeast })),
  });
  const { suite, findings } = readSuite(text, { file: name });
  if (suite === null) throw refuse(findings.map(({ message }) => message));
  const wanted = wantedSettings(suite);
  const settingsDiffer =
    wanted.minimumAccuracy !== settings.minimumAccuracy || wanted.model !== settings.model
      ? ['the minimum pass rate or the model of the suite']
      : [];
  const differing = cases.flatMap((item, index) => {
    const label = `case ${JSON.stringify(item.title ?? item.id)}`;
    const testCase = suite.cases[index];
    if (testCase === undefined || suite.cases.length !== cases.length) return `${label}: several models`;
    const raised = { ...item, iterations: Math.max(item.iterations ?? 1, runsAtLeast) };
    const { fields } = compareWithStored(testCase, suite, raised, { serverName, dialect });
    const all = testCase.title === item.title ? fields : ['title', ...fields];
    return all.length === 0 ? [] : `${label}: ${all.join(', ')}`;
  });
  const problems = [...settingsDiffer, ...differing];
  if (problems.length > 0) throw refuse(problems);
  return text;
}

function refuse(problems: readonly string[]): ConfigurationError {
  return new ConfigurationError(
    problems.map((problem) => ({
      input: 'suite',
      code: 'cannot-be-written',
      message: `an evals file cannot say this exactly: ${problem}`,
    })),
  );
}

function toWritable(
  item: DeclaredCase,
  { serverName, runsAtLeast }: { serverName: string; runsAtLeast: number },
): CaseToWrite {
  const { declaredId, title, isNegative, iterations, models, expectedOutput, scenario, checks } = item;
  const match = matchOptionsSchema.safeParse(item.matchOptions);
  const list: unknown = checks?.['list'];
  const steps = (item.steps ?? []).filter(isRecord);
  return {
    id: declaredId,
    title: title ?? '',
    isNegative,
    runs: Math.max(iterations ?? 1, runsAtLeast),
    // The service may store a placeholder as the model of a case that asks none.
    models: steps.some(({ kind }) => kind === 'prompt') ? (models ?? []).map(nameModel) : [],
    expectedOutput,
    scenario,
    match: { ...defaultMatchOptions, ...(match.success ? match.data : {}) },
    checks: listRecords(list),
    steps: steps.map((step) => {
      const { serverName: named, ...others } = step;
      return named === undefined || (step['kind'] === 'toolCall' && named === serverName) ? others : step;
    }),
  };
}

function nameModel({ model, provider }: { model: string; provider?: string | null | undefined }): string {
  return provider == null || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}
