import { formatCount } from '../../../../src/base/text.ts';
import { toPercent } from '../../../../src/model/rate.ts';
import type { Suite, SuiteCase } from '../../../../src/cases/suite.ts';
import type { WireServer } from '../../../../src/service/wire.ts';
import type { Dialect } from '../../../../src/suite/dialect.ts';
import { type CaseUpdate, compareWithStored } from '../../../../src/suite/sync.ts';
import { type Ledger, markCase } from './ledger.ts';
import type { DeclaredCase, StoredSettings, StoredSuite } from './stored-suite.ts';

/** The title of the case with which a suite is created. An interrupted sync leaves it in the suite, and the next sync deletes it. */
export const placeholderTitle = 'mcp-eval-ci sync is creating this suite';

/** A stored case to delete. */
export interface CaseDeletion {
  caseId: string;
  title: string;
}

/** The changes that make a stored suite equal to the file's. */
export interface SuiteSyncPlan {
  suite: Suite;
  /** Null if the service has no suite of that name. */
  stored: StoredSuite | null;
  /** The servers that the suite calls, the one under test first. */
  servers: readonly [WireServer, ...WireServer[]];
  settings: SettingChange[];
  create: SuiteCase[];
  update: CaseUpdate[];
  /** Cases that are deleted and created again, because the API does not change the kind of a case. */
  replace: Array<CaseDeletion & { testCase: SuiteCase }>;
  delete: CaseDeletion[];
  /** Cases that `sync` created and the file no longer has, if they must not be deleted. */
  surplus: CaseDeletion[];
  /** Cases that `sync` did not create and the file does not have; they stay. */
  foreign: CaseDeletion[];
  /** Differences that only people may resolve. */
  conflicts: string[];
  unchanged: number;
  ledger: Ledger;
}

export interface SettingChange {
  name: 'minimum pass rate' | 'minimum iterations' | 'model' | 'system' | 'temperature' | 'servers' | 'ledger';
  from: string;
  to: string;
}

/** The servers of a suite, the first being the one under test, and the options of the sync. */
interface SyncTarget {
  servers: readonly [WireServer, ...WireServer[]];
  dialect: Dialect;
  /** True if cases that `sync` created and the file no longer has are deleted. */
  prune: boolean;
}

/** Plans the changes; there are none if the stored suite already equals the file's. Cases are matched only by their ids. */
export function planSuiteSync(suite: Suite, stored: StoredSuite | null, target: SyncTarget): SuiteSyncPlan {
  const { servers, dialect, prune } = target;
  const options = { serverName: servers[0].name, dialect };
  const before = stored?.ledger?.marks ?? new Set<string>();
  const isOwn = ({ declaredId, title }: DeclaredCase) =>
    title === placeholderTitle || (declaredId !== null && before.has(markCase(declaredId)));
  const plan: SuiteSyncPlan = {
    suite,
    stored,
    servers,
    settings: [],
    create: [],
    update: [],
    replace: [],
    delete: [],
    surplus: [],
    foreign: [],
    conflicts: [],
    unchanged: 0,
    ledger: { suiteId: suite.id, marks: new Set() },
  };
  const marks = new Set<string>();
  const byId = new Map((stored?.cases ?? []).map((item) => [item.declaredId, item]));
  for (const testCase of suite.cases) {
    const existing = byId.get(testCase.id);
    if (existing === undefined) {
      plan.create.push(testCase);
      marks.add(markCase(testCase.id));
      continue;
    }
    if (isOwn(existing)) marks.add(markCase(testCase.id));
    const { changes, fields, canChange } = compareWithStored(testCase, suite, existing, options);
    const { id: caseId, title } = existing;
    if (title !== testCase.title) {
      changes.title = testCase.title;
      fields.unshift('title');
    }
    if (fields.length === 0) plan.unchanged += 1;
    else if (canChange) plan.update.push({ caseId, title: testCase.title, changes, fields });
    else if (isOwn(existing)) plan.replace.push({ caseId, title: testCase.title, testCase });
    else {
      plan.conflicts.push(
        `the service has a case with the id ${testCase.id} that sync did not create and whose kind cannot change; give the case of the file another id`,
      );
    }
  }
  const ids = new Set<string | null>(suite.cases.map(({ id }) => id));
  for (const item of stored?.cases ?? []) {
    if (item.declaredId !== null && ids.has(item.declaredId)) continue;
    const deletion = { caseId: item.id, title: item.title ?? '' };
    if (!isOwn(item)) plan.foreign.push(deletion);
    else if (prune || item.title === placeholderTitle) plan.delete.push(deletion);
    else {
      plan.surplus.push(deletion);
      marks.add(markCase(item.declaredId ?? ''));
    }
  }
  plan.ledger = { suiteId: suite.id, marks };
  if (stored !== null) plan.settings = listSettingChanges(plan, stored);
  if (stored !== null && stored.settings.temperature !== null && wantedSettings(suite).temperature === null) {
    plan.conflicts.push(
      `the service keeps the temperature ${stored.settings.temperature} and cannot take it away; write \`temperature\` into the file`,
    );
  }
  return plan;
}

/** Returns the settings of the file's suite in the terms of the API. */
export function wantedSettings(suite: Suite): StoredSettings {
  const { policy, model, cases } = suite;
  // All cases have the same settings, because a case with its own is refused.
  const { modelSettings } = cases[0] ?? {};
  return {
    minimumAccuracy: toPercent(policy.minimumPassRate?.value ?? 1),
    minimumIterations: 1,
    model,
    systemPrompt: modelSettings?.system ?? null,
    temperature: modelSettings?.temperature ?? null,
  };
}

function listSettingChanges({ suite, servers, ledger }: SuiteSyncPlan, stored: StoredSuite): SettingChange[] {
  const wanted = wantedSettings(suite);
  const { settings } = stored;
  const print = (value: string | number | null) => (value === null ? 'none' : JSON.stringify(value));
  const compare = (name: SettingChange['name'], from: string | number | null, to: string | number | null) =>
    from === to ? [] : [{ name, from: print(from), to: print(to) }];
  const missing = servers.filter(({ id }) => stored.servers.every((server) => server.id !== id));
  const marks = (of: Ledger | null) => (of === null ? null : [of.suiteId, ...[...of.marks].toSorted()].join(' '));
  return [
    ...compare('minimum pass rate', settings.minimumAccuracy, wanted.minimumAccuracy),
    ...compare('minimum iterations', settings.minimumIterations, wanted.minimumIterations),
    ...compare('model', settings.model, wanted.model),
    ...compare('system', settings.systemPrompt, wanted.systemPrompt),
    ...(wanted.temperature === null ? [] : compare('temperature', settings.temperature, wanted.temperature)),
    ...(missing.length === 0
      ? []
      : [{ name: 'servers' as const, from: 'without', to: missing.map(({ name }) => name).join(', ') }]),
    ...(marks(stored.ledger) === marks(ledger) ? [] : [{ name: 'ledger' as const, from: '', to: '' }]),
  ];
}

/** True if there is nothing to change. */
export function isInStep({ stored, settings, create, update, replace, delete: deleted }: SuiteSyncPlan): boolean {
  const isSame = [create, update, replace, deleted].every((list) => list.length === 0);
  return stored !== null && isSame && settings.every(({ name }) => name === 'ledger');
}

/** Describes a plan: a heading, then a line for each item that it changes or leaves. Names are not escaped. */
export function describeSuiteSync(plan: SuiteSyncPlan): string[] {
  const { suite, stored, settings, create, update, replace, surplus, foreign, unchanged } = plan;
  const kept = formatCount(unchanged, 'case');
  const heading =
    stored === null
      ? `${suite.name}: the suite is created.`
      : isInStep(plan)
        ? `${suite.name}: nothing to change, ${kept} as in the file.`
        : `${suite.name}: ${kept} as in the file.`;
  return [
    heading,
    ...settings.filter(({ name }) => name !== 'ledger').map(({ name, from, to }) => `  ~ ${name}: ${from} -> ${to}`),
    ...create.map(({ id, title }) => `  + ${id}: ${title}`),
    ...update.map(({ title, fields }) => `  ~ ${title} (${fields.join(', ')})`),
    ...replace.map(({ title }) => `  ± ${title} (deleted and created again: steps of another kind)`),
    ...plan.delete.map(({ title }) => `  - ${title}`),
    ...surplus.map(({ title }) => `  ? ${title} (no longer in the file; --prune deletes it)`),
    ...foreign.map(({ title }) => `  · ${title} (not made by sync; it stays)`),
  ];
}
