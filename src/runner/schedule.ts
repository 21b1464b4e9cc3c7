import { appendAll } from '../base/lists.ts';
import type { ConcurrencyReport, SuiteConcurrency } from '../model/concurrency.ts';
import { isForbidden, type TestCase } from '../cases/case.ts';
import { listInnerSteps } from '../cases/step.ts';

/** The number of iterations that `auto` runs at the same time. More would only queue up on the few cores of a CI machine. */
const autoLimit = 4;

/** The settings of a run that are not part of its request. */
export interface RunConcurrency extends SuiteConcurrency {
  /** True if one server process takes the sessions in turns, so that a second session could only wait. */
  hasOneProcess: boolean;
  /** True if each iteration has a workspace and processes of its own, so that it shares no files. */
  hasWorkspaces?: boolean;
}

/** Consecutive iterations; up to `limit` run at the same time. Each batch begins when the previous one has ended. */
export interface Batch<Iteration> {
  iterations: readonly Iteration[];
  limit: number;
}

export interface CaseToSchedule<Iteration> {
  testCase: Pick<TestCase, 'steps' | 'advancedConfig'>;
  /** Says for each tool name if the case's server declares it read-only; null if the server did not list its tools. */
  readOnlyTools: ReadonlyMap<string, boolean> | null;
  iterations: readonly Iteration[];
}

/**
 * Splits the iterations of a run into batches, in the order of the cases. An iteration that may change something runs alone and keeps its
 * position, so that every other iteration sees the same changes, whatever the timing.
 */
export function scheduleCases<Iteration>(
  cases: ReadonlyArray<CaseToSchedule<Iteration>>,
  concurrency: RunConcurrency,
): { batches: Array<Batch<Iteration>>; report: ConcurrencyReport } {
  const { setting, source } = concurrency;
  const { rule, limit, tool, isSerial } = decide(cases, concurrency);
  const batches: Array<{ iterations: Iteration[]; limit: number }> = [];
  for (const item of cases) {
    const limitOfCase = isSerial(item) ? 1 : limit;
    const last = batches.at(-1);
    if (last?.limit === limitOfCase) appendAll(last.iterations, item.iterations);
    else batches.push({ limit: limitOfCase, iterations: [...item.iterations] });
  }
  const serialCases = cases.filter(isSerial).length;
  return { batches, report: { setting, source, rule, limit, tool, cases: cases.length, serialCases } };
}

type Decision = Pick<ConcurrencyReport, 'rule' | 'limit' | 'tool'> & {
  isSerial: (item: CaseToSchedule<unknown>) => boolean;
};

function decide(cases: ReadonlyArray<CaseToSchedule<unknown>>, concurrency: RunConcurrency): Decision {
  const { setting, isIndependent, hasOneProcess, hasWorkspaces = false } = concurrency;
  const forAll = (rule: Decision['rule'], limit: number): Decision => ({
    rule,
    limit,
    tool: null,
    isSerial: () => limit === 1,
  });
  if (hasOneProcess) return forAll('one-process', 1);
  if (setting !== 'auto') return forAll('given', setting);
  if (hasWorkspaces) return forAll('workspace', autoLimit);
  if (isIndependent) return forAll('independent', autoLimit);
  const isSerial = (item: CaseToSchedule<unknown>) => item.readOnlyTools === null || findWriter(item) !== null;
  const serial = cases.filter(isSerial);
  if (serial.length === 0) return forAll('read-only', autoLimit);
  const [writer = { rule: 'tools-unknown' as const, tool: null }] = serial.flatMap((item) => findWriter(item) ?? []);
  const limit = serial.length === cases.length ? 1 : autoLimit;
  return { ...writer, limit, isSerial };
}

/**
 * Finds why a case may change what others see: the first called tool that its server does not declare read-only, else the first program
 * that it runs. A prompt counts as a call of every tool that its policy allows.
 */
function findWriter({ testCase, readOnlyTools }: CaseToSchedule<unknown>): Pick<Decision, 'rule' | 'tool'> | null {
  if (readOnlyTools === null) return null;
  const { toolPolicy = {}, setup = [], teardown = [] } = testCase.advancedConfig ?? {};
  const steps = listInnerSteps([...setup, ...testCase.steps, ...teardown]);
  const called = steps.flatMap((step) => {
    if (step.kind === 'toolCall') return [step.toolName];
    return step.kind === 'prompt' ? [...readOnlyTools.keys()].filter((name) => !isForbidden(name, toolPolicy)) : [];
  });
  const tool = called.find((name) => readOnlyTools.get(name) !== true);
  if (tool !== undefined) return { rule: 'not-read-only', tool };
  // No declaration says what a program changes.
  const program = steps.find((step) => step.kind === 'command');
  return program === undefined ? null : { rule: 'command', tool: program.command[0] ?? null };
}
