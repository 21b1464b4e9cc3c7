import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ending, endings, type Phase, phases, runCancelledJob } from '../support/runner/cancelled-job.ts';
import type { ContractService } from '../support/service/contract-service.ts';
import { startServeProcess } from '../support/service/serve-process.ts';

// Every moment of a hosted job with every way to end it, again and again. `REPEATS` says how often; `npm run test:soak`.

const repeats = Number(process.env['REPEATS'] ?? 15);
const leaves: Array<{ leaveMs: number; cell: string }> = [];
let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  const slowest = leaves.toSorted((a, b) => b.leaveMs - a.leaveMs);
  const [worst] = slowest;
  const median = slowest[Math.floor(slowest.length / 2)];
  console.log(
    `${leaves.length} cancels; time to leave: p50 ${Math.round(median?.leaveMs ?? 0)} ms, p100 ${Math.round(worst?.leaveMs ?? 0)} ms (${worst?.cell}).`,
  );
});

const cells = Object.keys(phases).flatMap((phase) =>
  Object.keys(endings).map((ending) => [phase, ending] as [Phase, Ending]),
);

describe.each(Array.from({ length: repeats }, (_, index) => index + 1))('repeat %d', () => {
  it.each(cells)('leaves nothing behind when it is cancelled %s by %s', async (phase, ending) => {
    const { run, faults } = await runCancelledJob(service, phase, ending);
    if (run.leaveMs !== null) leaves.push({ leaveMs: run.leaveMs, cell: `${phase}, ${ending}` });
    expect(faults, `${run.log}\n${run.post?.log}`).toEqual([]);
  });
});
