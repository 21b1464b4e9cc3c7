import { createHash } from 'node:crypto';
import { appendAll } from '../base/lists.ts';
import { type Check, expectsToolError, isAdvisory } from '../model/assertion.ts';
import { type ChecksEnvelope, defaultMatchOptions } from '../model/case.ts';
import type { Step } from '../model/step.ts';
import type { LocatedStep, SourceLocation, Suite, SuiteCase } from '../model/suite.ts';
import { parseCheck } from './assertion-schema.ts';
import { buildPolicyLayer, locateText } from './build-policy.ts';
import type { Finding } from './findings.ts';
import { fillJudgeModel, fillModelOfStep, findJudgesWithoutModel, locateJudges, locateStepJudges } from './judges.ts';
import { buildModelSettings, findTwoModelKeys, listCaseModels } from './model-settings.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import { findServerIds, parseSteps } from './step-schema.ts';
import type { WrittenCase, WrittenSuite } from './suite-schema.ts';

/** How long an iteration may take where the file does not say. */
export const defaultTimeoutMs = 60_000;

/** Fills in the defaults of a valid file and layers its settings. The findings are cases that could never pass or run. */
export function buildSuite(written: WrittenSuite, document: SourceDocument): { suite: Suite; findings: Finding[] } {
  const findings: Finding[] = [];
  const ids = assignIds(written.cases, 'case');
  const { judgeModel } = written;
  const checks = (written.checks ?? []).map((check) => fillJudgeModel(parseCheck(check), judgeModel));
  const judges = locateJudges(checks, document, ['checks']);
  const match = { ...defaultMatchOptions, ...written.match };

  appendAll(findings, findTwoModelKeys(written, document, []));
  appendAll(findings, findJudgesWithoutModel(judges));

  const cases = written.cases.flatMap((testCase, index): SuiteCase[] => {
    const path = ['cases', index];
    appendAll(findings, findTwoModelKeys(testCase, document, path));
    const steps = parseSteps(testCase.steps).map((step) => fillModelOfStep(step, judgeModel));
    appendAll(findings, findServerIds(testCase.steps, document, [...path, 'steps']));
    const ownChecks = parseCaseChecks(testCase.checks, judgeModel);
    const ownJudges = [
      ...locateStepJudges(steps, document, [...path, 'steps']),
      ...locateJudges(
        ownChecks.mode === 'inherit' ? [] : ownChecks.list,
        document,
        locateChecks(testCase.checks, path),
      ),
    ];
    appendAll(findings, findJudgesWithoutModel(ownJudges));
    const expectsError = findErrorExpectation(steps, ownChecks);
    if (expectsError !== undefined && ownChecks.mode !== 'inherit' && ownChecks.list.some(isNoToolErrors)) {
      const message =
        'This case expects an error of a tool and can never pass: its own checks have `noToolErrors`; take that out';
      findings.push({ ...document.locateKey([...path, ...expectsError]), code: 'contradiction', message });
    }
    const built: SuiteCase = {
      id: ids[index] ?? '',
      title: testCase.title,
      location: document.locateValue(path),
      tags: testCase.tags ?? [],
      isRequired: testCase.required ?? false,
      isNegative: testCase.negative ?? false,
      runs: testCase.runs ?? written.runs ?? 1,
      timeoutMs: testCase.timeout ?? written.timeout ?? defaultTimeoutMs,
      timeoutLocation: locateTimeout(written, index, document),
      model: null,
      variantOf: null,
      modelSettings: buildModelSettings(written, testCase, (key) =>
        document.locateKey(testCase[key] === undefined ? [key] : [...path, key]),
      ),
      failOnToolError: testCase.failOnToolError ?? true,
      expectedOutput: testCase.expectedOutput ?? null,
      scenario: testCase.scenario ?? null,
      match: { ...match, ...testCase.match },
      checks: expectsError === undefined ? ownChecks : exceptNoToolErrors(checks, ownChecks),
      steps: steps.map((step, position) => ({ step, location: document.locateValue([...path, 'steps', position]) })),
      setup: parseFixtures('setup', { written, index, document, findings }),
      teardown: parseFixtures('teardown', { written, index, document, findings }),
      judges: [...(ownChecks.mode === 'replace' ? [] : judges), ...ownJudges],
    };
    return expandModels(built, listCaseModels(written, testCase));
  });

  const suite: Suite = {
    id: written.id ?? deriveSlug(written.suite, 'suite'),
    name: written.suite,
    location: document.locateValue([]),
    model: written.model ?? written.models?.[0] ?? null,
    ignoredInRecordings: written.recordings?.ignore ?? [],
    protocol:
      written.protocol === undefined ? null : { value: written.protocol, source: locateText(document, ['protocol']) },
    concurrency:
      written.concurrency === undefined
        ? null
        : { setting: written.concurrency, source: locateText(document, ['concurrency']) },
    isIndependent: written.independent ?? false,
    match,
    checks,
    policy: buildPolicyLayer(written.policy ?? {}, document, ['policy']),
    cases,
  };
  return { suite, findings };
}

/** The suite's setup comes before that of a case, and its teardown after that of a case. */
function parseFixtures(
  phase: 'setup' | 'teardown',
  {
    written,
    index,
    document,
    findings,
  }: { written: WrittenSuite; index: number; document: SourceDocument; findings: Finding[] },
): LocatedStep[] {
  const lists = [
    { steps: written[phase] ?? [], path: [phase] },
    { steps: written.cases[index]?.[phase] ?? [], path: ['cases', index, phase] },
  ];
  const ordered = phase === 'setup' ? lists : lists.toReversed();
  for (const { steps, path } of index === 0 ? ordered : ordered.filter((list) => list.path.length > 1)) {
    appendAll(findings, findServerIds(steps, document, path));
  }
  const locations = ordered.flatMap(({ steps, path }) =>
    steps.map((_, position) => document.locateValue([...path, position])),
  );
  const parsed = parseSteps(
    ordered.flatMap(({ steps }) => steps),
    phase,
  );
  return locations.flatMap((location, position) => {
    const step = parsed[position];
    return step === undefined ? [] : [{ step, location }];
  });
}

/** A case that runs with several models is one case of its own for each, since its results are those of a model. */
function expandModels(testCase: SuiteCase, models: ReadonlyArray<string | null>): SuiteCase[] {
  const [only = null, ...others] = models;
  if (others.length === 0) return [{ ...testCase, model: only }];
  const { id, title } = testCase;
  return models.map((model) => ({
    ...testCase,
    id: nameVariant(id, model ?? ''),
    title: `${title} (${model ?? ''})`,
    model,
    variantOf: { id, title },
  }));
}

/** Both parts are cut where they are longer than the API's ids. */
function nameVariant(id: string, model: string): string {
  const slug = model.replaceAll(/[^A-Za-z0-9_]+/g, '-');
  return `${id.slice(0, 125 - Math.min(slug.length, 60))}--${slug.slice(0, 60)}`;
}

function locateTimeout(written: WrittenSuite, index: number, document: SourceDocument): SourceLocation | null {
  if (written.cases[index]?.timeout !== undefined) return document.locateKey(['cases', index, 'timeout']);
  return written.timeout === undefined ? null : document.locateKey(['timeout']);
}

/** The checks that hold at the end of a case: the suite's, its own instead, or both. */
export function resolveChecks(suiteChecks: readonly Check[], envelope: ChecksEnvelope): Check[] {
  switch (envelope.mode) {
    case 'inherit':
      return [...suiteChecks];
    case 'replace':
      return [...envelope.list];
    case 'extend':
      return [...suiteChecks, ...envelope.list];
    default:
      throw new TypeError('A mode of checks that this version does not know.');
  }
}

function parseCaseChecks(written: WrittenCase['checks'], judgeModel: string | undefined): ChecksEnvelope {
  if (written === undefined) return { mode: 'inherit', list: [] };
  const [mode, list] = Array.isArray(written) ? (['extend', written] as const) : [written.mode, written.list ?? []];
  return { mode, list: list.map((check) => fillJudgeModel(parseCheck(check), judgeModel)) };
}

/** The path of the list among the checks of a case. */
function locateChecks(written: WrittenCase['checks'], path: DocumentPath): DocumentPath {
  return Array.isArray(written) ? [...path, 'checks'] : [...path, 'checks', 'list'];
}

/** The path, inside the case, of the first assertion that a tool answers with an error. */
function findErrorExpectation(steps: readonly Step[], checks: ChecksEnvelope): Array<string | number> | undefined {
  const step = steps.findIndex((step) => step.kind === 'assert' && expectsToolError(step.assertion));
  if (step !== -1) return ['steps', step];
  const isExpected = checks.mode !== 'inherit' && checks.list.some(expectsToolError);
  return isExpected ? ['checks'] : undefined;
}

/** A suite-wide `noToolErrors` is meant for the cases that expect none; the others keep what else the suite checks. */
function exceptNoToolErrors(suiteChecks: readonly Check[], envelope: ChecksEnvelope): ChecksEnvelope {
  if (!suiteChecks.some(isNoToolErrors)) return envelope;
  const inherited = suiteChecks.filter((check) => !isNoToolErrors(check));
  return { mode: 'replace', list: resolveChecks(inherited, envelope) };
}

function isNoToolErrors(check: Check): boolean {
  return check.type === 'noToolErrors' && !isAdvisory(check);
}

/** Room for a `-2` and the like below the 128 characters that an id may have. */
const maxSlugLength = 120;

/**
 * Derives an id from a title: lower-case ASCII words joined by `-`. Where no word of it is ASCII, `fallback` and a short
 * hash of the title, so that two titles in another script have distinct ids and keep them wherever they stand.
 */
function deriveSlug(title: string, fallback: string): string {
  const slug = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-+|-+$/g, '');
  if (slug !== '') return slug;
  return `${fallback}-${createHash('sha256').update(title.normalize('NFC')).digest('hex').slice(0, 8)}`;
}

/** Gives each title an id: its own where it has one, else its slug, with `-2`, `-3` … where that is taken. */
function assignIds(entries: ReadonlyArray<{ id?: string; title: string }>, fallback: string): string[] {
  const taken = new Set(entries.flatMap(({ id }) => id ?? []));
  // Where to look next, so that a thousand equal titles do not count up from 2 each time.
  const nextNumber = new Map<string, number>();
  return entries.map(({ id, title }) => {
    if (id !== undefined) return id;
    const slug = deriveSlug(title, fallback);
    let candidate = slug;
    let number = nextNumber.get(slug) ?? 2;
    while (taken.has(candidate)) {
      candidate = `${slug}-${number}`;
      number += 1;
    }
    nextNumber.set(slug, number);
    taken.add(candidate);
    return candidate;
  });
}
