// Child of the benchmarks: runs the iterations of one evals file through the gate and prints their cost, including the plan.
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { createRedactor } from '../lib/base/redaction.js';
import { gate } from '../lib/gate/gate.js';
import { limitHeapGrowth } from '../src/gate/host-process.ts';
import { parseGateOptions } from '../lib/gate/options.js';
import { planGate } from '../lib/gate/plan/plan.js';
import { concurrency } from './concurrency.ts';

// The action and the command do the same.
limitHeapGrowth();

const [url = '', cwd = '', evals = ''] = process.argv.slice(2);
const options = parseGateOptions({
  evals,
  recordings: 'replay',
  'server-url': url,
  concurrency: String(concurrency),
});
const environment = { PATH: process.env['PATH'] };
const startedMs = performance.now();
const startedCpu = process.cpuUsage();
const plan = await planGate(options, { cwd, environment });
const { report } = await gate(plan, {
  clock: systemClock,
  logger: silentLogger,
  redactor: createRedactor(),
  signal: new AbortController().signal,
  environment,
});
const { user, system } = process.cpuUsage(startedCpu);
console.log(
  JSON.stringify({
    durationMs: performance.now() - startedMs,
    cpuMs: (user + system) / 1000,
    passed: report.totals.passed,
    verdict: report.verdict.reasons,
  }),
);
process.exit(0);
