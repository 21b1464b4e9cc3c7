// Child of the benchmarks: calls a tool in `iterations` iterations through the gate, each with a process of its own on stdio.
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { createRedactor } from '../lib/base/redaction.js';
import { gate } from '../lib/gate/gate.js';
import { limitHeapGrowth } from '../src/gate/host-process.ts';
import { parseGateOptions } from '../lib/gate/options.js';
import { planGate } from '../lib/gate/plan/plan.js';

// The action and the command do the same.
limitHeapGrowth();

const [command = '', iterations = '', sandbox = ''] = process.argv.slice(2);
const cases = [
  {
    title: 'echo',
    steps: [{ toolCall: 'echo', arguments: { message: 'hello' } }, { assert: { toolResultContains: 'Echo: hello' } }],
  },
];
const options = parseGateOptions({
  tests: JSON.stringify(cases),
  runs: iterations,
  'server-command': command,
  sandbox,
  concurrency: '2',
});
const plan = await planGate(options, { cwd: process.cwd(), environment: process.env });
const { report } = await gate(plan, {
  clock: systemClock,
  logger: silentLogger,
  redactor: createRedactor(),
  signal: new AbortController().signal,
  environment: process.env,
});
console.log(JSON.stringify({ passed: report.totals.passed, verdict: report.verdict.reasons }));
process.exit(0);
