import { performance } from 'node:perf_hooks';
import { systemClock } from '../lib/base/time.js';
import type { TestCase } from '../lib/cases/case.js';
import { listCandidates } from '../lib/mutate/measure-strength.js';
import { observeCases } from '../lib/mutate/observe-cases.js';
import { operators } from '../lib/mutate/operators/registry.js';
import { createCaseRecorder, judgeAgain } from '../lib/mutate/taped-case.js';
import { findMedian } from './child.ts';
import { startEverything } from './everything-server.ts';

const cases = 40;
const changes = 1000;
const rounds = 5;

/** Measures how long it takes to judge cases again after 1,000 changes of their answers. */
export async function measureMutate(): Promise<void> {
  console.log(`\nMutate: ${changes} changes of ${cases} cases on server-everything, ${rounds} rounds`);
  await using server = await startEverything();
  const run = async () => {
    const recorder = createCaseRecorder();
    const target = { url: server.url, serverName: 'everything', protocol: 'legacy' as const };
    for (let index = 0; index < cases; index += 1) {
      await recorder.runCase(createCase(index), target, { clock: systemClock, timeoutMs: 30_000 });
    }
    return recorder.list();
  };
  const { observations } = await observeCases(await run(), await run());
  const candidates = observations.flatMap((observation) =>
    operators.flatMap((operator) => listCandidates(operator, observation)),
  );
  const durations: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    let noticed = 0;
    const startMs = performance.now();
    for (let index = 0; index < changes; index += 1) {
      for (const { testCase, ...changed } of candidates[index % candidates.length]?.answers ?? []) {
        if ((await judgeAgain(testCase.taped, changed)).kind === 'failed') noticed += 1;
      }
    }
    durations.push(performance.now() - startMs);
    console.log(`  round ${round}: ${((durations.at(-1) ?? 0) / 1000).toFixed(2)} s, ${noticed} of ${changes} noticed`);
  }
  console.log(`  median ${(findMedian(durations) / 1000).toFixed(2)} s (goal: at most 2 s)`);
}

function createCase(index: number): TestCase {
  return {
    title: `Case ${index}`,
    runs: 1,
    steps: [
      {
        id: 'call',
        kind: 'toolCall',
        serverName: 'everything',
        toolName: 'get-sum',
        arguments: { a: index, b: 1 },
      },
      { id: 'check', kind: 'assert', assertion: { type: 'toolResultContains', needle: String(index + 1) } },
    ],
  };
}
