/**
 * Runs one case for each tool of a group at the same time, one group after the other, and prints the outcomes of each group and the peak memory
 * of this process. Run by Node itself: `node test/support/servers/measure-cases.ts <url> <tool,tool>...`.
 */
import { systemClock } from '../../../src/base/time.ts';
import { runCase } from '../../../src/engine/run-case.ts';
import { callStep, createCase } from '../factories/case-factory.ts';
import { readOwnPeakBytes } from '../process/peak-memory.ts';

const [url = '', ...groups] = process.argv.slice(2);
const target = { url, serverName: 'raw', protocol: 'legacy' as const };

async function runTool(tool: string) {
  const outcome = await runCase(createCase([callStep(tool)]), target, { clock: systemClock, timeoutMs: 60_000 });
  return [tool, { status: outcome.status, result: outcome.result, error: outcome.error }] as const;
}

const outcomes: object[] = [];
for (const group of groups) outcomes.push(Object.fromEntries(await Promise.all(group.split(',').map(runTool))));
process.stdout.write(JSON.stringify({ outcomes, peakMiB: Math.round(readOwnPeakBytes() / 2 ** 20) }));
process.exit(0);
