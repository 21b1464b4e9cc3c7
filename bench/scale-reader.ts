// Child of the scale benchmark: reads a run to its end and reports it, as the gate does after its run.
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { unlimitedPacer } from '../lib/base/pacing.js';
import { createRedactor, Secret } from '../lib/base/redaction.js';
import { createEvidenceCollector } from '../lib/gate/run/evidence-log.js';
import { limitHeapGrowth } from '../src/gate/host-process.ts';
import { openIterationLog } from '../lib/gate/run/trace-log.js';
import { parseGateOptions } from '../lib/gate/options.js';
import { planGate } from '../lib/gate/plan/plan.js';
import { publishFiles } from '../lib/gate/publish/publish-files.js';
import { readHostedRun } from '../lib/gate/run/hosted-run.js';
import { explainFailures, readIterations } from '../lib/gate/run/read-results.js';
import {
  applyLimitDefaults,
  applyPolicyDefaults,
  applyPricingDefaults,
  emptyPolicyLayer,
  noGateRules,
} from '../lib/model/policy.js';
import { buildReport } from '../lib/report/build.js';
import { openServiceClient } from '../lib/service/client.js';
import { serviceProfiles } from '../lib/service/profile.js';
import { getRun } from '../lib/service/run-client.js';
import { judgeGate } from '../src/verdict/judge-gate.ts';
import { createTally } from '../lib/verdict/tally.js';
import { readOwnPeakBytes } from '../test/support/process/peak-memory.ts';

// The action and the command do the same.
limitHeapGrowth();

const [baseUrl = '', apiKey = '', projectId = '', runId = '', directory = '', cases = '', runs = ''] =
  process.argv.slice(2);
const clock = systemClock;
const logger = silentLogger;
const redactor = createRedactor();
const texts = { tests: '- title: t\n  steps:\n    - toolCall: t\n', 'server-url': baseUrl, 'report-dir': directory };
const plan = await planGate(parseGateOptions(texts), { cwd: directory, environment: {} });
const startedMs = performance.now();
const startedBytes = readOwnPeakBytes();
await using client = openServiceClient({
  baseUrl,
  apiKey: new Secret(apiKey),
  profile: serviceProfiles.svc,
  clock,
  logger,
  pacer: unlimitedPacer,
});
const { signal } = new AbortController();
await using iterationLog = await openIterationLog(plan.reportDir, { logger, redactor });
const ids = Array.from({ length: Number(cases) }, (_, index) => `case_${index}`);
const tally = createTally(
  {
    id: 'scale',
    name: 'Scale',
    file: null,
    cases: ids.map((id) => ({
      id,
      title: id,
      tags: [],
      isRequired: false,
      location: null,
      definitionHash: null,
      model: null,
      runs: Number(runs),
    })),
    leftOut: [],
  },
  { caseIds: new Map(ids.map((id) => [id, id])) },
);
const evidence = createEvidenceCollector(redactor, { traces: 'none' });
const reading = { suite: { id: 'scale', name: 'Scale' }, tally, judge: null };
const keepers = { iterationLog, traceLog: null, evidence, round: 0 };
const source = { run: readHostedRun({ client, projectId }, runId), runId, signal };
const context = { ...source, maxExplained: 1000, logger, ...keepers };
const run = await getRun(client, { projectId, runId });
await readIterations(reading, context);
const readMs = performance.now() - startedMs;
await explainFailures(reading, context);
const results = tally.finish({ run, runUrl: null, isComplete: true, tunnelBreaks: 0, interruption: null });
const minimumPassRate = { value: 0.8, source: 'default' };
const requirements = applyPolicyDefaults({ ...emptyPolicyLayer, minimumPassRate });
const policy = {
  today: '2026-01-01',
  suites: [{ suiteId: results.suiteId, ...requirements }],
  ...applyLimitDefaults(noGateRules),
  ...applyPricingDefaults(noGateRules),
  baseline: null,
  lowered: [],
};
const { exit: _exit, ...judgement } = judgeGate([results], policy);
const { verdict } = judgement;
const report = buildReport({
  startedAt: new Date().toISOString(),
  durationMs: 0,
  generator: { name: 'bench', version: '0' },
  server: null,
  policy,
  ...judgement,
});
await publishFiles(report, plan, {
  logger,
  redactor,
  summaryPath: `${directory}/summary.md`,
  evidence: evidence.collect(),
});
const peakBytes = readOwnPeakBytes();
const durationMs = performance.now() - startedMs;
const { iterations, failed } = report.totals;
console.log(
  JSON.stringify({ readMs, durationMs, startedBytes, peakBytes, iterations, failed, outcome: verdict.outcome }),
);
process.exit(0);
