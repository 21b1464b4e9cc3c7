import { sortKeys } from '../base/json.ts';
import { hash } from 'node:crypto';
import { posix } from 'node:path';
import type { StoredCase, TestCase } from '../cases/case.ts';
import { readServerName } from '../cases/step-server.ts';
import { mapServerSteps, type Step } from '../cases/step.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { compileCase } from './compile.ts';
import { mapSnapshots, mapSnapshotsOfStep } from './snapshots.ts';

/** Long enough that two definitions of a suite never share a hash, and short enough to keep for every case of every night. */
const hashLength = 16;

/**
 * Hashes the behaviour of a case: steps, arguments, assertions, checks, limits and model, with all layers and defaults. The title, tags,
 * location, step ids, `required` and the number of runs are not part of it. Results with different hashes belong to different cases.
 */
export function hashDefinition(testCase: SuiteCase, suite: Suite): string {
  const { title: _title, runs: _runs, ...definition } = compileCase(testCase, suite, { dialect: 'embedded' });
  return hashFields(forgetServerUnderTest(definition));
}

/**
 * Hashes a case independently of the path of its evals file, to compare definitions of two commits. Snapshot paths count from the folder of
 * the file. Decoy files do not count because those of the base are not read. Time limits do not count because they are compared separately.
 */
export function hashMovedDefinition(testCase: SuiteCase, suite: Suite): string {
  const folder = posix.dirname(suite.location.file);
  const unplace = (file: string) => posix.relative(folder, file);
  const { modelSettings, checks, steps } = testCase;
  const moved: SuiteCase = {
    ...testCase,
    timeoutMs: 1,
    modelSettings: modelSettings.decoyFile === null ? modelSettings : { ...modelSettings, decoys: [] },
    checks: { ...checks, list: checks.list.map((check) => mapSnapshots(check, unplace)) },
    steps: steps.map((located) => ({ ...located, step: mapSnapshotsOfStep(located.step, unplace) })),
  };
  return hashDefinition(moved, { ...suite, checks: suite.checks.map((check) => mapSnapshots(check, unplace)) });
}

/** Removes the name of the only server, so that hashes stay comparable with those of earlier versions. */
function forgetServerUnderTest(definition: Pick<TestCase, 'steps' | 'advancedConfig'>) {
  const forget = (steps: readonly Step[]) =>
    steps.map((step) =>
      mapServerSteps(step, (asking) =>
        asking.serverName !== undefined && readServerName(asking) === null ? { ...asking, serverName: '' } : asking,
      ),
    );
  const { steps, advancedConfig } = definition;
  const { setup, teardown } = advancedConfig ?? {};
  return {
    ...definition,
    steps: forget(steps),
    ...(advancedConfig && {
      advancedConfig: {
        ...advancedConfig,
        ...(setup && { setup: forget(setup) }),
        ...(teardown && { teardown: forget(teardown) }),
      },
    }),
  };
}

/** Hashes a case that a service stores. The hash never equals that of a file's case, because the service knows less of it. */
export function hashStoredDefinition(stored: StoredCase): string {
  const { steps, expectedOutput, isNegative, scenario, models, matchOptions, checks } = stored;
  return hashFields({ steps, expectedOutput, isNegative, scenario, models, matchOptions, checks });
}

function hashFields(definition: { steps?: readonly unknown[] | null | undefined; [field: string]: unknown }): string {
  const { steps, ...fields } = definition;
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const whole = { ...Object.fromEntries(present), steps: (steps ?? []).map(dropId) };
  return hash('sha256', JSON.stringify(sortKeys(whole))).slice(0, hashLength);
}

/** Drops the id of a step, because a file that names none gets ids by position. */
function dropId(step: unknown): unknown {
  return typeof step === 'object' && step !== null ? { ...step, id: undefined } : step;
}
