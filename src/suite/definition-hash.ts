import { sortKeys } from '../base/json.ts';
import { hash } from 'node:crypto';
import { posix } from 'node:path';
import type { StoredCase, TestCase } from '../cases/case.ts';
import { readServerName } from '../cases/step-server.ts';
import { mapServerSteps, type Step } from '../cases/step.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { compileCase } from './compile.ts';
import { mapSnapshots, mapSnapshotsOfStep } from './snapshots.ts';

/** Enough that two definitions of a suite never share one, and short enough to be kept for every case of every night. */
const hashLength = 16;

/**
 * Hashes what a case does: its steps, arguments, assertions, checks, limits and model, everything layered and every default
 * filled in. The title, the tags, the location in the file, the ids of steps, whether it is required and how often it runs
 * say nothing about that. Results under two hashes are results of two different cases.
 */
export function hashDefinition(testCase: SuiteCase, suite: Suite): string {
  const { title: _title, runs: _runs, ...definition } = compileCase(testCase, suite, { dialect: 'embedded' });
  return hashFields(forgetServerUnderTest(definition));
}

/**
 * The same wherever the evals file is, to compare the definitions of two commits: paths of snapshots count from the folder of the file,
 * and decoys in a file of their own do not count, because those of a base are not read. Nor do limits of time, which are compared by
 * themselves.
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

/** The only server has no name in a hash, so that hashes of earlier versions stay comparable. */
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

/** The same of a case that a service keeps. Never equal to that of a file's: the service knows less of it. */
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

/** Steps take their ids from their position where the file names none. */
function dropId(step: unknown): unknown {
  return typeof step === 'object' && step !== null ? { ...step, id: undefined } : step;
}
