// Child of the scale benchmark: the embedded service with one ended run that has the given number of iterations.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../lib/base/time.js';
import { silentLogger } from '../lib/base/logger.js';
import { openEmbeddedService } from '../lib/eval-service/open-service.js';
import { openStore } from '../lib/eval-service/store/open-store.js';

const [cases = 0, runs = 0] = process.argv.slice(2).map(Number);
const dataDir = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-bench-'));
fillStore();
const service = await openEmbeddedService({ clock: systemClock, logger: silentLogger, concurrency: 1, dataDir });
process.on('disconnect', () => {
  void service[Symbol.asyncDispose]()
    .then(() => rm(dataDir, { recursive: true }))
    .then(() => process.exit());
});
const { baseUrl, apiKey, projectId } = service;
process.send?.({ baseUrl, apiKey: apiKey.reveal(), projectId, runId: 'run_scale' });

/** Fills the store with iterations; every tenth failed. */
function fillStore(): void {
  const store = openStore(dataDir);
  const now = Date.now();
  const runId = 'run_scale';
  const content = { organizationId: 'org_local', description: null, icon: null, visibility: 'private' as const };
  store.projects.insert({ id: 'prj_scale', name: 'Scale', content, now });
  store.transact(() => {
    const total = cases * runs;
    const run = {
      id: runId,
      projectId: 'prj_scale',
      suiteId: 'suite_scale',
      minimumPassRate: 80,
      notes: null,
      total,
      evaluationConfigHash: null,
      now,
    };
    store.runs.insert(run);
    for (let position = 0; position < total; position += 1) {
      const [index, iterationNumber] = [Math.floor(position / runs), (position % runs) + 1];
      const id = `iter_${position}`;
      const title = `Case ${index} of a suite with a title of ordinary length`;
      store.iterations.insert({
        runId,
        position,
        id,
        caseId: `case_${index}`,
        caseKey: `case_${index}`,
        title,
        iterationNumber,
        model: null,
      });
      store.iterations.start(id, now);
      const result = position % 10 === 0 ? 'failed' : 'passed';
      const call = { toolName: 'get_weather', arguments: { city: `City ${position}`, units: 'metric', days: 3 } };
      const error = result === 'failed' ? `Expected the result to contain "rain ${position}", got "sun".` : null;
      const step = { stepId: 's1', stepIndex: 0, kind: 'toolCall' as const, status: 'ok' as const, reason: error };
      store.iterations.end(id, {
        status: 'completed',
        result,
        error,
        steps: [{ ...step, status: error === null ? 'ok' : 'fail' }],
        actualToolCalls: [call, call],
        expectedToolCalls: [call],
        startedAtMs: now,
        durationMs: 100 + (position % 900),
        trace: { messages: [], spans: [], prompts: [], metadata: { predicates: [] } },
        protocolVersion: null,
        loss: null,
        predicates: [],
        usage: null,
        judges: [],
        usedAnswers: [],
        fixtures: [],
        warnings: [],
        runStop: null,
      });
      store.runs.count(runId, result);
    }
    store.runs.end(runId, { status: 'completed', result: 'passed', failure: null, now });
  });
  store.close();
}
