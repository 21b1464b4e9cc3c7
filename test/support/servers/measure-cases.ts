/**
 * Runs one case for each tool that is named, all at the same time, and prints their outcomes and the most memory that this
 * process had. Run by Node itself: `node test/support/servers/measure-cases.ts <url> <tool>...`.
 */
import { systemClock } from '../../../src/base/time.ts';
import { runCase } from '../../../src/engine/run-case.ts';
import { callStep, createCase } from '../factories/case-factory.ts';

const [url = '', ...tools] = process.argv.slice(2);
const target = { url, serverName: 'raw', protocol: 'legacy' as const };
const outcomes = await Promise.all(
  tools.map(async (tool) => {
    const outcome = await runCase(createCase([callStep(tool)]), target, { clock: systemClock, timeoutMs: 60_000 });
    return [tool, { status: outcome.status, result: outcome.result, error: outcome.error }];
  }),
);
// On Linux in kibibytes.
const maxRssMiB = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(JSON.stringify({ outcomes: Object.fromEntries(outcomes), maxRssMiB }));
process.exit(0);
