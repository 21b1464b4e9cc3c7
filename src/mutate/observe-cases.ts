import { printCanonicalJson } from '../base/json.ts';
import { isServerStep } from '../cases/step.ts';
import { markerVariable } from '../server/environment.ts';
import { type AnswerView, viewAnswer } from './answer-view.ts';
import { explainUnjudgeable, judgeAgain, type TapedCase } from './taped-case.ts';

/** A case whose iteration can be judged again. */
export interface ObservedCase {
  title: string;
  taped: TapedCase;
  /** The position of the exchange of each step that sends a request, by the position of the step. */
  exchangeOf: ReadonlyMap<number, number>;
  /** The same case in another run; null if it has none. */
  second: TapedCase | null;
}

/** An answer that one or several cases got to the same request. */
export interface Observation {
  view: AnswerView;
  /** The exchanges with this answer. A change applies to all of them, as a fault of the server would. */
  uses: ReadonlyArray<{ testCase: ObservedCase; exchange: number }>;
}

/** A case, or an answer, that is left out, with the reason. */
export interface LeftOut {
  subject: string;
  reason: string;
}

export interface ObservedSuite {
  cases: readonly ObservedCase[];
  observations: readonly Observation[];
  leftOut: readonly LeftOut[];
}

/** Answers above this size are not changed: each change copies and compares all of it. */
const maxAnswerBytes = 1024 * 1024;

/** Pairs the iterations of two runs, and reads the answers that can be changed. Only the first iteration of each case is used. */
export async function observeCases(first: readonly TapedCase[], second: readonly TapedCase[]): Promise<ObservedSuite> {
  const leftOut: LeftOut[] = [];
  const cases: ObservedCase[] = [];
  const found = new Map<string, { view: AnswerView; uses: Array<{ testCase: ObservedCase; exchange: number }> }>();
  const seconds = groupByCase(second);
  for (const [key, [taped]] of groupByCase(first)) {
    if (taped === undefined) continue;
    const { title } = taped.testCase;
    const reason = await explainLeftOut(taped);
    if (reason !== null) {
      leftOut.push({ subject: title, reason });
      continue;
    }
    const another = seconds.get(key)?.[0] ?? null;
    // The calls of a model are exchanges, too, and a changed answer could change what it does next.
    const exchangeOf = taped.model == null ? locateExchanges(taped) : new Map<number, number>();
    const testCase = { title, taped, exchangeOf, second: another };
    cases.push(testCase);
    const others = another?.tape.exchanges ?? [];
    for (const exchange of testCase.exchangeOf.values()) {
      const own = taped.tape.exchanges[exchange];
      if (own?.answer == null) continue;
      const printed = own.answer.kind === 'result' ? (JSON.stringify(own.answer.result) ?? '') : '';
      if (printed.includes(markerVariable)) {
        leftOut.push({
          subject: title,
          reason: 'an answer has the environment of the server, which differs on each machine',
        });
        continue;
      }
      const bytes = Buffer.byteLength(printed);
      if (bytes > maxAnswerBytes) {
        const size = `${(bytes / maxAnswerBytes).toFixed(1)} MiB`;
        leftOut.push({ subject: title, reason: `an answer of ${size} is above the limit of 1 MiB` });
        continue;
      }
      const other = others[exchange];
      const server = taped.tape.servers.get(own.serverName);
      const placed = { answer: own.answer, workspace: taped.options.facts?.workspace ?? null };
      const view = viewAnswer(own.request, placed, {
        second: {
          answer: other?.request.method === own.request.method ? other.answer : null,
          workspace: another?.options.facts?.workspace ?? null,
        },
        tools: server?.sharedTools ?? server?.lists[0] ?? null,
      });
      if (view === null) continue;
      const name = `${own.serverName} ${printCanonicalJson([own.request, own.answer.kind === 'error' ? String(own.answer.error) : own.answer.result])}`;
      const observation = found.get(name) ?? { view, uses: [] };
      found.set(name, observation);
      observation.uses.push({ testCase, exchange });
    }
  }
  return { cases, observations: [...found.values()], leftOut };
}

async function explainLeftOut(taped: TapedCase): Promise<string | null> {
  const reason = explainUnjudgeable(taped);
  if (reason !== null) return reason;
  if (taped.testCase.steps.some(({ kind }) => kind === 'repeat')) return 'it repeats steps';
  if (taped.outcome.result !== 'passed') return 'it did not pass';
  const again = await judgeAgain(taped);
  return again.kind === 'passed' ? null : `its transcript alone does not decide it (${again.reason})`;
}

function groupByCase(taped: readonly TapedCase[]): Map<string, TapedCase[]> {
  return Map.groupBy(taped, ({ testCase, target, options: { others = [] } }) => {
    // Each run registers its servers under other names.
    const names = [target, ...others.map((other) => other.target)].map(({ serverName }) => JSON.stringify(serverName));
    const steps = printCanonicalJson([testCase.title, testCase.steps]);
    return names.reduce((text, name, index) => text.replaceAll(name, String(index)), steps);
  });
}

/** Finds the exchange of each step. Those of the setup come first, and those of the teardown last. */
function locateExchanges({ testCase, tape }: TapedCase): ReadonlyMap<number, number> {
  const setup = (testCase.advancedConfig?.setup ?? []).filter(isServerStep).length;
  const steps = testCase.steps.flatMap((step, index) => (isServerStep(step) ? [{ step, index }] : []));
  return new Map(
    steps.flatMap(({ index }, order) => {
      const exchange = setup + order;
      return exchange < tape.exchanges.length ? [[index, exchange] as const] : [];
    }),
  );
}
