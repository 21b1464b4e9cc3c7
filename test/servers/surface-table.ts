/**
 * Compares the surfaces of servers with themselves, in processes of their own and in both eras of MCP, and prints a table. Nothing may
 * have changed, and between the eras only capabilities may.
 *
 *     npm run test:surfaces -- "memory=mcp-server-memory" "time=uvx mcp-server-time"
 */
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/base/time.ts';
import type { Surface } from '../../src/model/surface.ts';
import { compareSurfaces } from '../../src/surface/compare-surfaces.ts';
import { lintSurface } from '../../src/surface/lint.ts';
import { readSurface } from '../../src/surface/read.ts';
import { measureTools, sumSizes } from '../../src/surface/report.ts';
import { openTestServer } from '../support/servers/running-server.ts';

type Revision = '2025-11-25' | '2026-07-28';

/** Null where the server does not speak the revision. */
async function readOnce(command: string, revision: Revision): Promise<Surface | null> {
  const { signal } = new AbortController();
  const protocol = { value: revision, source: 'the table' };
  const options = { command, protocol, cwd: process.cwd(), env: { ...process.env } };
  const opened = await openTestServer(
    { ...options, env: Object.fromEntries(Object.entries(options.env).map(([name, value]) => [name, value ?? ''])) },
    { logger: silentLogger },
  ).catch((error: unknown) => {
    if (revision === '2025-11-25') console.error(`${command}: ${String(error)}`);
    return null;
  });
  if (opened === null) return null;
  await using running = opened;
  const target = { url: running.url, serverName: 'table', protocol: running.protocol };
  return (await readSurface(target, { clock: systemClock, signal })).surface;
}

function describe(before: Surface | null, after: Surface | null): string {
  if (before === null || after === null) return 'not spoken';
  const changes = compareSurfaces(before, after);
  return changes.length === 0 ? 'no changes' : changes.map(({ severity, id }) => `${severity} ${id}`).join(', ');
}

console.log('| Server | Tools | Bytes | Findings | 2025-11-25 twice | 2026-07-28 twice | Between them |');
console.log('|---|---|---|---|---|---|---|');
for (const argument of process.argv.slice(2)) {
  const [name = '', ...rest] = argument.split('=');
  const command = rest.join('=');
  const [old, again] = [await readOnce(command, '2025-11-25'), await readOnce(command, '2025-11-25')];
  const [modern, modernAgain] = [await readOnce(command, '2026-07-28'), await readOnce(command, '2026-07-28')];
  const known = old ?? modern;
  const facts =
    known === null ? ['–', '–', '–'] : [known.tools.length, sumSizes(measureTools(known)), lintSurface(known).length];
  const cells = [name, ...facts, describe(old, again), describe(modern, modernAgain), describe(old, modern)];
  console.log(`| ${cells.join(' | ')} |`);
}
