// Prints ratios against yardsticks measured in the same run, since absolute times say more about the machine.
// `npm run bench` runs everything; `npm run bench -- throughput` one part. `npm run bench -- gates` takes days for all cells, and runs only
// where it is named; the arguments after it choose cells.
import { measureBaseline } from './baseline.ts';
import { measureColdStart } from './cold-start.ts';
import { runGates } from './gates/main.ts';
import { measurePage } from './page.ts';
import { measureReplay } from './replay.ts';
import { measureScale } from './scale.ts';
import { measureServeMemory } from './serve-memory.ts';
import { measureSequential } from './sequential.ts';
import { measureGrowth, measureThroughput } from './throughput.ts';
import { measureStatistics } from './statistics.ts';
import { measureTunnel } from './tunnel.ts';
import { measureVerdict } from './verdict.ts';

const benchmarks = {
  'cold-start': measureColdStart,
  throughput: measureThroughput,
  growth: measureGrowth,
  replay: measureReplay,
  scale: measureScale,
  'serve-memory': measureServeMemory,
  tunnel: measureTunnel,
  verdict: measureVerdict,
  sequential: measureSequential,
  baseline: measureBaseline,
  statistics: measureStatistics,
  page: measurePage,
};

const wanted = process.argv.slice(2);
if (wanted[0] === 'gates') process.exitCode = await runGates(wanted.slice(1));
for (const [name, measure] of Object.entries(benchmarks)) {
  if (wanted.length === 0 || (wanted[0] !== 'gates' && wanted.includes(name))) await measure();
}
