// Prints ratios to yardsticks that are measured in the same run, because absolute times depend more on the machine.
// `npm run bench` runs everything; `npm run bench -- throughput` runs one part. `npm run bench -- gates` takes days for all cells, and runs only
// if it is named; further arguments select cells. So do `npm run bench -- hosts --host codex`, which installs a host, and
// `npm run bench -- explored-servers`, which installs servers.
import { measureBaseline } from './baseline.ts';
import { measureCapture } from './capture.ts';
import { measureColdStart } from './cold-start.ts';
import { measureExploredServers } from './explored-servers/main.ts';
import { runGates } from './gates/main.ts';
import { runHosts } from './hosts/main.ts';
import { measureLibraryImport } from './library-import.ts';
import { measurePage } from './page.ts';
import { measureMutate } from './mutate.ts';
import { measureReplay } from './replay.ts';
import { measureScale } from './scale.ts';
import { measureServeMemory } from './serve-memory.ts';
import { measureSequential } from './sequential.ts';
import { measureStdio } from './stdio.ts';
import { measureGrowth, measureThroughput } from './throughput.ts';
import { measureStatistics } from './statistics.ts';
import { measureTunnel } from './tunnel.ts';
import { measureVerdict } from './verdict.ts';

const benchmarks = {
  'cold-start': measureColdStart,
  'library-import': measureLibraryImport,
  throughput: measureThroughput,
  growth: measureGrowth,
  stdio: measureStdio,
  capture: measureCapture,
  mutate: measureMutate,
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
const named = { gates: runGates, hosts: runHosts, 'explored-servers': measureExploredServers };
const [first = ''] = wanted;
const isNamed = (name: string): name is keyof typeof named => Object.hasOwn(named, name);
if (isNamed(first)) process.exitCode = await named[first](wanted.slice(1));
for (const [name, measure] of Object.entries(benchmarks)) {
  if (wanted.length === 0 || (!isNamed(first) && wanted.includes(name))) await measure();
}
