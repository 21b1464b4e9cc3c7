/** Runs random schedules of faults: `npm run test:chaos -- --seed 1 --runs 2000`. */
import { parseArgs } from 'node:util';
import { createAmbiguously } from '../support/faults/ambiguous-creates.ts';
import { describeSchedule, drawSchedule, runSchedule } from '../support/faults/chaos.ts';
import { perils } from './perils.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    runs: { type: 'string', default: '2000' },
    creates: { type: 'string', default: '1000' },
    verbose: { type: 'boolean', default: false },
  },
});
const firstSeed = Number(values.seed);
const runs = Number(values.runs);
const counts = { recoverable: 0, broken: 0 };

console.log(`${runs} schedules from seed ${firstSeed} on.`);
for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
  const schedule = drawSchedule(seed, perils);
  if (schedule.isRecoverable) counts.recoverable += 1;
  const breaches = await runSchedule(schedule).catch((error: unknown) => [`threw ${String(error)}`]);
  if (values.verbose || breaches.length > 0) console.log(describeSchedule(schedule));
  if (breaches.length === 0) continue;
  counts.broken += 1;
  console.log(`  ${breaches.join('\n  ')}\n  Again: npm run test:chaos -- --seed ${seed} --runs 1`);
}
console.log(
  `${runs - counts.broken} of ${runs} kept every promise; ${counts.recoverable} were recoverable, each to its true verdict.`,
);
const creates = Number(values.creates);
const created = await createAmbiguously(creates, firstSeed);
console.log(
  `${creates} ambiguous creates, ${created.lost} answers lost: ${created.runs} runs, ${created.receipts} receipts.`,
);
const isExact = created.runs === creates && created.receipts === creates;
process.exitCode = counts.broken === 0 && isExact ? 0 : 1;
