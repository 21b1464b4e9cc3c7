import { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import { suiteSettingsOperations } from '../../../../src/service/operations/suite-settings.ts';
import { checkSchema } from '../../../../src/service/bodies/case-body.ts';
import type { SuiteContent, SuiteHost } from '../bodies/stored-suite.ts';
import { invalid, notSupported } from '../envelope.ts';
import { environmentConflict, type Environments } from '../environments/environment-records.ts';
import { type ResolveParts, resolveEnvironment } from '../environments/resolve.ts';
import { findServerIds } from '../hosts/host-records.ts';
import { requireSuite } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { asksModel, requireEnvironmentModel } from '../plan-run-cases.ts';
import { parseBody } from '../request.ts';
import type { SuiteRecord } from '../store/suite-store.ts';
import { fitSchedule, planSchedule } from '../suite-schedule/schedule-rules.ts';
import type { Scheduler } from '../suite-schedule/scheduler.ts';
import { renderSuiteDetail } from './suites-routes.ts';

type SuitePatch = z.output<typeof suiteSettingsOperations.updateEvalSuite.body>;

interface SettingsParts extends ResolveParts {
  clock: Clock;
  environments: Environments;
  scheduler: Pick<Scheduler, 'change'>;
}

/** Serves the settings of suites: environments, execution and schedule. */
export function serveSuiteSettings(serve: ServeOperation, parts: SettingsParts): void {
  const { store, clock, environments, scheduler } = parts;
  /** Reads the suite within the change, because a clock that went back moves due times. */
  const change = (ids: { projectId: string; suiteId: string }, plan: (suite: SuiteRecord) => SuiteContent) =>
    scheduler.change(() => {
      const suite = requireSuite(store, ids.projectId, ids.suiteId);
      const after = { ...suite, content: plan(suite), updatedAt: clock.now() };
      store.suites.update({ id: suite.id, content: after.content, now: after.updatedAt });
      return renderSuiteDetail(store, after);
    });

  serve(suiteSettingsOperations.updateEvalSuite, ({ ids, body }) =>
    change(ids, (suite) => patchSuite(suite, body, parts)),
  );

  serve(suiteSettingsOperations.updateEvalSuiteSchedule, ({ ids, body, caller }) =>
    change(ids, (suite) => {
      const nameEnvironment = (id: string) => environments.require(ids.projectId, id).content.name;
      const schedule = { ...planSchedule(suite.content, body, { now: clock.now(), nameEnvironment }), caller };
      if (schedule.enabled && schedule.environmentId !== null) requireRunnable(parts, suite, schedule.environmentId);
      return { ...suite.content, schedule };
    }),
  );

  serve(suiteSettingsOperations.attachEvalSuiteEnvironment, ({ ids, body }) => {
    const suite = requireSuite(store, ids.projectId, ids.suiteId);
    const { content, id } = environments.require(ids.projectId, body.environmentId);
    const { environmentIds = [] } = suite.content;
    if (environmentIds.includes(id)) return { suiteId: suite.id, attached: true, environmentIds };
    if (content.archivedAt !== null) {
      throw invalid('environmentId: The environment is archived; restore it first', { reason: 'ATTACH_UNAVAILABLE' });
    }
    const after = change(ids, (before) => withEnvironments(before.content, [...environmentIds, id]));
    return { suiteId: suite.id, attached: true, environmentIds: after.environmentIds };
  });
}

/** @throws {ApiError} if the patch refers to a record that does not exist or cannot be used */
function patchSuite(
  { projectId, content: before }: SuiteRecord,
  patch: SuitePatch,
  parts: SettingsParts,
): SuiteContent {
  const { name, description, environment = {}, environmentIds, executionConfig = {}, hosts, settings = {} } = patch;
  const { minimumAccuracy, minimumIterations, matchOptions, judge } = settings;
  if (typeof environment.computerEnvironment === 'string') {
    throw notSupported('This service runs no evals in computers: environment.computerEnvironment.');
  }
  const { model, ...prompting } = executionConfig;
  const checks =
    settings.checks && parseBody({ settings: { checks: settings.checks } }, checkedSettings).settings.checks;
  const content: SuiteContent = {
    ...before,
    ...prompting,
    name: name ?? before.name,
    description: description ?? before.description,
    model: model ?? before.model,
    serverIds: environment.servers ? findServerIds(parts.store, projectId, environment.servers) : before.serverIds,
    minimumAccuracy: minimumAccuracy ?? before.minimumAccuracy,
    minimumIterations: minimumIterations === undefined ? before.minimumIterations : minimumIterations,
    matchOptions: matchOptions === undefined ? before.matchOptions : matchOptions,
    checks: checks === undefined ? before.checks : (checks ?? []),
    ...(hosts !== undefined && { hosts: readHosts(hosts, projectId, parts) }),
    ...(judge !== undefined && { judge: { ...before.judge, ...judge } }),
  };
  if (environmentIds === undefined) return content;
  const distinct = [...new Set(environmentIds)];
  for (const id of distinct) requireSelectable(parts, projectId, id);
  return withEnvironments(content, distinct);
}

const checkedSettings = z.object({ settings: z.object({ checks: z.array(checkSchema) }) });

function readHosts(
  sent: NonNullable<SuitePatch['hosts']>,
  projectId: string,
  { store, hosts }: SettingsParts,
): SuiteHost[] {
  const read = sent.map(({ host, servers }) => ({
    hostId: hosts.requireNamed(projectId, host).id,
    ...(servers && { serverIds: findServerIds(store, projectId, servers) }),
  }));
  if (new Set(read.map(({ hostId }) => hostId)).size < read.length) throw invalid('hosts: A host is listed twice');
  return read;
}

/** Sets the environments of a suite, and adapts its schedule to them. */
function withEnvironments(before: SuiteContent, environmentIds: string[]): SuiteContent {
  const { schedule: _schedule, ...content } = before;
  const schedule = fitSchedule({ ...before, environmentIds });
  return { ...content, environmentIds, ...(schedule && { schedule }) };
}

function requireSelectable({ environments }: SettingsParts, projectId: string, environmentId: string): void {
  const { content } = environments.require(projectId, environmentId);
  if (content.archivedAt === null) return;
  const message = `The environment ${JSON.stringify(content.name)} is archived; restore it first.`;
  throw environmentConflict('ENV_ARCHIVED', message, { environmentId });
}

/** @throws {ApiError} CONFLICT for an environment in which no run of the suite is possible */
function requireRunnable(parts: SettingsParts, { id, projectId }: SuiteRecord, environmentId: string): void {
  const { model } = resolveEnvironment(parts.environments.require(projectId, environmentId), parts);
  const needing = parts.store.cases
    .list(id)
    .find(({ content }) => asksModel(content) && content.models.length === 0 && model === null);
  if (needing !== undefined) throw requireEnvironmentModel(needing.content.title);
}
