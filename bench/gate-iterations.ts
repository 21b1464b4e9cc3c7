// Child of the benchmarks: makes `iterations` tool calls through the gate and prints their cost.
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { createRedactor } from '../lib/base/redaction.js';
import { gate } from '../lib/gate/gate.js';
import { limitHeapGrowth } from '../src/gate/host-process.ts';
import { parseGateOptions } from '../lib/gate/options.js';
import { planGate } from '../lib/gate/plan/plan.js';
import { readOwnPeakBytes } from '../test/support/process/peak-memory.ts';
import { concurrency } from './concurrency.ts';

// The action and the command do the same.
limitHeapGrowth();

const [url = '', iterations = ''] = process.argv.slice(2);
const runs = Math.min(100, Number(iterations) / 10);
const cases = Array.from({ length: Number(iterations) / runs }, (_, index) => ({
  title: `echo ${index}`,
  steps: [
    { toolCall: 'echo', arguments: { message: `hello ${index}` } },
    { assert: { toolResultContains: `Echo: hello ${index}` } },
  ],
}));

const options = parseGateOptions({
  tests: JSON.stringify(cases),
  runs: String(runs),
  'server-url': url,
  concurrency: String(concurrency),
});
const plan = await planGate(options, { cwd: process.cwd(), environment: process.env });
const startedMs = performance.now();
const { report } = await gate(plan, {
  clock: systemClock,
  logger: silentLogger,
  redactor: createRedactor(),
  signal: new AbortController().signal,
  environment: process.env,
});
console.log(
  JSON.stringify({
    durationMs: performance.now() - startedMs,
    peakBytes: readOwnPeakBytes(),
    passed: report.totals.passed,
  }),
);
process.exit(0);
