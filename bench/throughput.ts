import { findMedian, measureInChild } from './child.ts';
import { startEverything } from './everything-server.ts';

interface Cost {
  durationMs: number;
  peakBytes: number;
  passed: number;
}

const iterations = 1000;
const rounds = 3;

/** Measures 1,000 tool calls on server-everything through the gate, against the bare SDK, in turn. */
export async function measureThroughput(): Promise<void> {
  console.log(
    `\nThroughput: ${iterations} iterations on server-everything over HTTP, a session each, ${rounds} rounds`,
  );
  const ratios: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    // Each side gets a separate server, because this server slows down with every session that it has ever had.
    const sdk = await measureOnce('./sdk-iterations.ts', iterations);
    const gate = await measureOnce('./gate-iterations.ts', iterations);
    ratios.push(gate.durationMs / sdk.durationMs);
    console.log(
      `  round ${round}: gate ${formatSeconds(gate)}, bare SDK ${formatSeconds(sdk)}, ratio ${ratios.at(-1)?.toFixed(2)}`,
    );
  }
  console.log(`  median ratio ${findMedian(ratios).toFixed(2)} (goal: at most 1.15)`);
}

/** Measures how the gate's time and memory grow with the number of iterations. */
export async function measureGrowth(): Promise<void> {
  console.log('\nGrowth: the gate at 100, 1,000 and 10,000 iterations; per iteration against the step before');
  let before: number | null = null;
  for (const count of [100, 1000, 10_000]) {
    const cost = await measureOnce('./gate-iterations.ts', count);
    const perIteration = cost.durationMs / count;
    const growth = before === null ? '' : `, ratio ${(perIteration / before).toFixed(2)}`;
    const peak = `${Math.round(cost.peakBytes / 2 ** 20)} MiB`;
    console.log(
      `  ${String(count).padStart(6)}: ${formatSeconds(cost)}, ${perIteration.toFixed(2)} ms each${growth}, peak ${peak}`,
    );
    before = perIteration;
  }
  console.log('  (goal: linear, at most 300 MiB)');
}

async function measureOnce(script: string, count: number): Promise<Cost> {
  await using server = await startEverything();
  const cost = await measureInChild<Cost>(script, [server.url, String(count)]);
  if (cost.passed !== count) throw new Error(`${script}: only ${cost.passed} of ${count} passed.`);
  return cost;
}

function formatSeconds({ durationMs }: Cost): string {
  return `${(durationMs / 1000).toFixed(2)} s`;
}
