import { formatDuration } from '../base/time.ts';
import { fillParts, type Filling } from '../cases/placeholders.ts';
import type { StepByKind } from '../cases/step.ts';
import type { LocatedStep, SuiteCase } from '../cases/suite.ts';
import { type Finding } from './findings.ts';
import { quoteValue } from '../base/text.ts';
import type { DocumentPath, SourceDocument } from './source-document.ts';
import { parseSteps, type WrittenStep } from './step-schema.ts';
import type { WrittenSuite } from './suite-schema.ts';

/** Lists the fixtures of a case. The suite's setup runs before that of the case, and its teardown after that of the case. */
export function listFixtures(phase: 'setup' | 'teardown', written: WrittenSuite, index: number) {
  const place = (steps: readonly WrittenStep[] = [], path: DocumentPath, isOfSuite: boolean) =>
    steps.map((value, position) => ({ value, path: [...path, position], isOfSuite }));
  const ofSuite = place(written[phase], [phase], true);
  const ofCase = place(written.cases[index]?.[phase], ['cases', index, phase], false);
  return phase === 'setup' ? [...ofSuite, ...ofCase] : [...ofCase, ...ofSuite];
}

export function parseFixtures(
  phase: 'setup' | 'teardown',
  {
    written,
    index,
    document,
    filling,
  }: { written: WrittenSuite; index: number; document: SourceDocument; filling: Filling },
): LocatedStep[] {
  const fixtures = listFixtures(phase, written, index);
  const parsed = parseSteps(
    fixtures.map(({ value }) => value),
    phase,
  );
  return fixtures.flatMap(({ path, isOfSuite }, position) => {
    const step = parsed[position];
    if (step === undefined) return [];
    return [{ step: isOfSuite ? step : fillParts(step, filling), location: document.locateValue(path) }];
  });
}

/** Finds steps that can never pass: waits that use up the time limit, and waits for updates without a subscription. */
export function findHopelessSteps({
  setup,
  steps,
  timeoutMs,
}: Pick<SuiteCase, 'setup' | 'steps' | 'timeoutMs'>): Finding[] {
  const subscribed: Array<StepByKind['subscribe']> = [];
  return [...setup, ...steps].flatMap(({ step, location }) => {
    if (step.kind === 'subscribe') subscribed.push(step);
    if (step.kind === 'wait' && step.ms >= timeoutMs) {
      const message = `This step waits for ${formatDuration(step.ms)}, and an iteration may take ${formatDuration(timeoutMs)}; wait less, or raise \`timeout\``;
      return [{ ...location, code: 'long-wait', message }];
    }
    if (step.kind !== 'waitForUpdate' || subscribed.some((earlier) => mayReport(earlier, step))) return [];
    if (step.uri.includes('{{')) return [];
    const where = step.serverName === undefined ? '' : ` on the server ${quoteValue(step.serverName)}`;
    const message = `No step before subscribes to ${quoteValue(step.uri)}${where}; write \`subscribe\` with this URI first`;
    return [{ ...location, code: 'no-subscription', message }];
  });
}

/**
 * Checks if a subscription may report the update that a step waits for. A step without a server name may use the same server as any other.
 */
function mayReport(subscription: StepByKind['subscribe'], waiting: StepByKind['waitForUpdate']): boolean {
  const [server, other] = [subscription.serverName, waiting.serverName];
  const mayBeSame = server === undefined || other === undefined || server === other;
  return mayBeSame && (subscription.uri === waiting.uri || subscription.uri.includes('{{'));
}
