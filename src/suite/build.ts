import { appendAll } from '../base/lists.ts';
import { type Check, expectsToolError, isAdvisory } from '../checks/assertion.ts';
import { type ChecksEnvelope, defaultMatchOptions } from '../cases/case.ts';
import { fillParts } from '../cases/placeholders.ts';
import { protocolRevisions } from '../model/protocol.ts';
import type { RunRange } from '../model/rounds.ts';
import type { Step } from '../cases/step.ts';
import type { SourceLocation, Suite, SuiteCase } from '../cases/suite.ts';
import { parseCheck } from './assertion-schema.ts';
import { buildPolicyLayer, locateText } from './build-policy.ts';
import { assignCaseIds, type CaseOrigin, fillRow } from './rows.ts';
import { deriveSlug, nameVariant } from './case-ids.ts';
import { buildOffer, findEmptyConditions, findUnofferedRequests } from './client-offer.ts';
import type { Finding } from './findings.ts';
import { findHopelessSteps, listFixtures, parseFixtures } from './fixtures.ts';
import { fillJudgeModel, fillModelOfStep, findJudgesWithoutModel, locateJudges, locateStepJudges } from './judges.ts';
import {
  buildModelSettings,
  findHostProgramLimits,
  findTwoModelKeys,
  listCaseModels,
  type WrittenSettings,
} from './model-settings.ts';
import { checkNames, finishTexts } from './names.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import { mapSnapshots, mapSnapshotsOfStep, placeSnapshot } from './snapshots.ts';
import { findServerIds, parseSteps } from './step-schema.ts';
import type { WrittenCase, WrittenSuite } from './suite-schema.ts';

/** The time limit of an iteration if the file gives none, in milliseconds. */
export const defaultTimeoutMs = 60_000;

/**
 * Fills in the defaults of a valid file and layers its settings. The findings are cases that could never pass or run. `origins` gives the
 * origin of each case; null for a format that has no placeholders.
 */
export function buildSuite(
  written: WrittenSuite,
  document: SourceDocument,
  origins: readonly CaseOrigin[] | null,
): { suite: Suite; findings: Finding[] } {
  const findings: Finding[] = [];
  const ids = assignCaseIds(origins ?? written.cases.map((base, index) => ({ index, base, row: null })));
  const { judgeModel } = written;
  const { file } = document.locateValue([]);
  const place = (snapshot: string) => placeSnapshot(snapshot, file);
  const checks = (written.checks ?? []).map((check) =>
    mapSnapshots(fillJudgeModel(parseCheck(check), judgeModel), place),
  );
  const judges = locateJudges(checks, document, ['checks']);
  const match = { ...defaultMatchOptions, ...written.match };

  appendAll(findings, findTwoModelKeys(written, document, []));
  appendAll(findings, findEmptyConditions(written.client, document, []));
  appendAll(findings, findJudgesWithoutModel(judges));
  appendAll(findings, findServerIds(written, document, []));

  const cases = written.cases.flatMap((testCase, index): SuiteCase[] => {
    const path = ['cases', index];
    appendAll(findings, findTwoModelKeys(testCase, document, path));
    appendAll(findings, findEmptyConditions(testCase.client, document, path));
    const offered = buildOffer(written.client, testCase.client, { document, path });
    const { base, row = null } = origins?.[index] ?? {};
    const { id = '', baseId = '' } = ids[index] ?? {};
    const filling = fillRow(row);
    const client = offered === null ? null : { ...offered, offer: fillParts(offered.offer, filling) };
    const steps = parseSteps(testCase.steps).map((step) =>
      mapSnapshotsOfStep(fillParts(fillModelOfStep(step, judgeModel), filling), place),
    );
    appendAll(findings, findServerIds(testCase, document, path));
    const parsedChecks = parseCaseChecks(testCase.checks, judgeModel);
    const ownChecks = {
      ...parsedChecks,
      list: parsedChecks.list.map((check) => mapSnapshots(fillParts(check, filling), place)),
    };
    const names = origins === null ? null : checkNames({ row, ...listNamedParts(written, index) }, document);
    appendAll(findings, names?.findings ?? []);
    const ownJudges = [
      ...locateStepJudges(steps, document, [...path, 'steps']),
      ...locateJudges(
        ownChecks.mode === 'inherit' ? [] : ownChecks.list,
        document,
        locateChecks(testCase.checks, path),
      ),
    ];
    appendAll(findings, findJudgesWithoutModel(ownJudges));
    const timeoutMs = testCase.timeout ?? written.timeout ?? defaultTimeoutMs;
    const setup = parseFixtures('setup', { written, index, document, filling });
    const located = steps.map((step, position) => ({
      step,
      location: document.locateValue([...path, 'steps', position]),
    }));
    const teardown = parseFixtures('teardown', { written, index, document, filling });
    appendAll(findings, findHopelessSteps({ setup, steps: located, timeoutMs }));
    const locate = (check: Check, at: DocumentPath) => ({ check, location: document.locateValue(at) });
    const allChecks = [
      ...ownChecks.list.map((check, at) => locate(check, [...locateChecks(testCase.checks, path), at])),
      ...(ownChecks.mode === 'replace' ? [] : checks.map((check, at) => locate(check, ['checks', at]))),
    ];
    appendAll(
      findings,
      findUnofferedRequests({ steps: [...setup, ...located, ...teardown], checks: allChecks }, client),
    );
    const expectsError = findErrorExpectation(steps, ownChecks);
    if (expectsError !== undefined && ownChecks.mode !== 'inherit' && ownChecks.list.some(isNoToolErrors)) {
      const message =
        'This case expects an error of a tool and can never pass: its own checks have `noToolErrors`; take that out';
      findings.push({ ...document.locateKey([...path, ...expectsError]), code: 'contradiction', message });
    }
    const locateSetting = (key: keyof WrittenSettings) =>
      document.locateKey(testCase[key] === undefined ? [key] : [...path, key]);
    const built: SuiteCase = {
      id,
      title: testCase.title,
      location: document.locateValue(path),
      text: document.readText(path),
      tags: testCase.tags ?? [],
      isRequired: testCase.required ?? false,
      isNegative: testCase.negative ?? false,
      ...buildRuns(testCase.deterministic === true ? 1 : (testCase.runs ?? written.runs ?? 1)),
      ...(testCase.deterministic === true && { isDeterministic: true as const }),
      timeoutMs,
      timeoutLocation: locateTimeout(written, index, document),
      model: null,
      variantOf: base === undefined || row === null ? [] : [{ id: baseId, title: base.title }],
      protocol: null,
      recordingId: id,
      placeholders: names?.placeholders ?? null,
      modelSettings: buildModelSettings(written, testCase, locateSetting),
      client,
      failOnToolError: testCase.failOnToolError ?? true,
      expectedOutput: testCase.expectedOutput ?? null,
      scenario: testCase.scenario ?? null,
      match: { ...match, ...testCase.match },
      checks: expectsError === undefined ? ownChecks : exceptNoToolErrors(checks, ownChecks),
      setup,
      steps: located,
      teardown,
      judges: [...(ownChecks.mode === 'replace' ? [] : judges), ...ownJudges],
    };
    const variants = expandModels(built, listCaseModels(written, testCase));
    appendAll(
      findings,
      variants.flatMap((variant) => findHostProgramLimits(variant, { ...written, ...testCase }, locateSetting)),
    );
    return variants;
  });

  const suite: Suite = {
    id: written.id ?? deriveSlug(written.suite, 'suite'),
    name: written.suite,
    location: document.locateValue([]),
    model: written.model ?? written.models?.[0] ?? null,
    recordings: { ignore: written.recordings?.ignore ?? [], reuse: written.recordings?.reuse ?? null },
    protocol:
      written.protocol === undefined ? null : { value: written.protocol, source: locateText(document, ['protocol']) },
    concurrency:
      written.concurrency === undefined
        ? null
        : { setting: written.concurrency, source: locateText(document, ['concurrency']) },
    isIndependent: written.independent ?? false,
    upstream: buildUpstream(written.upstream, document),
    workspace:
      written.workspace === undefined ? null : { path: written.workspace, location: document.locateKey(['workspace']) },
    match,
    checks,
    policy: buildPolicyLayer(written.policy ?? {}, document, ['policy']),
    cases,
  };
  return { suite: finishTexts(suite), findings };
}

function buildRuns(runs: number | RunRange): Pick<SuiteCase, 'runs' | 'maxRuns'> {
  return typeof runs === 'number' ? { runs } : { runs: runs.min, maxRuns: runs.max };
}

/** Makes one case for each model, since results belong to a case and a model. */
function expandModels(testCase: SuiteCase, models: ReadonlyArray<string | null>): SuiteCase[] {
  const [only = null, ...others] = models;
  if (others.length === 0) return [{ ...testCase, model: only }];
  const { id, title, variantOf } = testCase;
  return models.map((model) => ({
    ...testCase,
    id: nameVariant(id, model ?? ''),
    title: `${title} (${model ?? ''})`,
    model,
    variantOf: [{ id, title }, ...variantOf],
  }));
}

/** Turns every case into one case for each revision of MCP. */
export function expandRevisions(suite: Suite): Suite {
  const cases = suite.cases.flatMap((testCase) =>
    protocolRevisions.map((protocol): SuiteCase => {
      const { id, title, variantOf, recordingId } = testCase;
      return {
        ...testCase,
        id: nameVariant(id, protocol),
        title: `${title} (${protocol})`,
        protocol,
        variantOf: [{ id, title }, ...variantOf],
        recordingId: nameVariant(recordingId, protocol),
      };
    }),
  );
  return { ...suite, cases };
}

/**
 * Turns every case with a prompt into one case for each of its hosts, or of `chosen` instead. The names of recordings stay, because each
 * host has its own file.
 */
export function expandHosts(suite: Suite, chosen: readonly string[] | null): Suite {
  const cases = suite.cases.flatMap((testCase): SuiteCase[] => {
    const { id, title, variantOf, modelSettings, steps } = testCase;
    if (!steps.some(({ step }) => step.kind === 'prompt')) return [testCase];
    const hosts = chosen ?? modelSettings.hosts;
    // A chosen host is a profile.
    const hostProgram = chosen === null ? modelSettings.hostProgram : null;
    const choose = (host: string): SuiteCase => ({
      ...testCase,
      modelSettings: { ...modelSettings, hosts: [host], hostProgram },
    });
    const [only, ...others] = hosts;
    if (only === undefined) return [testCase];
    if (others.length === 0) return [choose(only)];
    return hosts.map((host) => ({
      ...choose(host),
      id: nameVariant(id, host),
      title: `${title} (${host})`,
      variantOf: [{ id, title }, ...variantOf],
    }));
  });
  return { ...suite, cases };
}

/** Lists the parts of a case that may use names, and the checks that it inherits from its suite. */
function listNamedParts(written: WrittenSuite, index: number) {
  const { cases, checks: suiteChecks, client: suiteClient } = written;
  const { steps = [], checks, client } = cases[index] ?? {};
  const inherits = checks === undefined || Array.isArray(checks) || checks.mode !== 'replace';
  return {
    client: [{ value: client, path: ['cases', index, 'client'] }],
    suiteClient: [{ value: suiteClient, path: ['client'] }],
    steps: [
      ...listFixtures('setup', written, index),
      ...steps.map((value, position) => ({ value, path: ['cases', index, 'steps', position] })),
      ...listFixtures('teardown', written, index),
    ],
    checks: [{ value: checks, path: ['cases', index, 'checks'] }],
    suiteChecks: inherits ? [{ value: suiteChecks, path: ['checks'] }] : [],
  };
}

function locateTimeout(written: WrittenSuite, index: number, document: SourceDocument): SourceLocation | null {
  if (written.cases[index]?.timeout !== undefined) return document.locateKey(['cases', index, 'timeout']);
  return written.timeout === undefined ? null : document.locateKey(['timeout']);
}

/** Resolves the checks at the end of a case: those of the suite, its own instead, or both. */
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

function buildUpstream(written: WrittenSuite['upstream'], document: SourceDocument): Suite['upstream'] {
  if (written === undefined) return null;
  const {
    path,
    headers = [],
    ignore,
    secrets = [],
    block = [],
  } = typeof written === 'string' ? { path: written } : written;
  return {
    path,
    headers: headers.map((name) => name.toLowerCase()),
    ignore: { query: ignore?.query ?? [], body: ignore?.body ?? [] },
    secrets,
    block: block.map((host) => host.toLowerCase()),
    location: document.locateKey(['upstream']),
  };
}

function parseCaseChecks(written: WrittenCase['checks'], judgeModel: string | undefined): ChecksEnvelope {
  if (written === undefined) return { mode: 'inherit', list: [] };
  const [mode, list] = Array.isArray(written) ? (['extend', written] as const) : [written.mode, written.list ?? []];
  return { mode, list: list.map((check) => fillJudgeModel(parseCheck(check), judgeModel)) };
}

/** Returns the path of the list of checks of a case. */
function locateChecks(written: WrittenCase['checks'], path: DocumentPath): DocumentPath {
  return Array.isArray(written) ? [...path, 'checks'] : [...path, 'checks', 'list'];
}

/** Finds the path, inside the case, of the first assertion that expects a tool to fail. */
function findErrorExpectation(steps: readonly Step[], checks: ChecksEnvelope): Array<string | number> | undefined {
  const step = steps.findIndex((step) => step.kind === 'assert' && expectsToolError(step.assertion));
  if (step !== -1) return ['steps', step];
  const isExpected = checks.mode !== 'inherit' && checks.list.some(expectsToolError);
  return isExpected ? ['checks'] : undefined;
}

/** Removes a suite-wide `noToolErrors` from a case that expects an error. The case keeps the other checks of the suite. */
function exceptNoToolErrors(suiteChecks: readonly Check[], envelope: ChecksEnvelope): ChecksEnvelope {
  if (!suiteChecks.some(isNoToolErrors)) return envelope;
  const inherited = suiteChecks.filter((check) => !isNoToolErrors(check));
  return { mode: 'replace', list: resolveChecks(inherited, envelope) };
}

function isNoToolErrors(check: Check): boolean {
  return check.type === 'noToolErrors' && !isAdvisory(check);
}
