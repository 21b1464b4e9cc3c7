/**
 * Runs every fault on every server over every transport, and the gates on servers in other languages: `npm run test:servers`.
 *
 *     npm run test:servers -- --server server-memory --transport stdio --fault exits-0-after-answer
 *     npm run test:servers -- --language go --language rust
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { openEverything, openQuickEverything } from './everything.ts';
import {
  findExpected,
  listDifferences,
  type OutcomeName,
  type Shape,
  shapes,
  transports,
} from './expected-outcomes.ts';
import type { Transport } from './expected-outcomes.ts';
import { languageNames } from './languages/build.ts';
import { runLanguages } from './languages/run-languages.ts';
import { openFilesystem, openMemory } from './node-servers.ts';
import { fastMcpVersions, installFastMcp, openFastMcp } from './python-servers.ts';
import { runShape, type TestedServer } from './run-shape.ts';

const { values } = parseArgs({
  options: {
    server: { type: 'string', multiple: true },
    transport: { type: 'string', multiple: true },
    fault: { type: 'string', multiple: true },
    /** Runs no faults: builds the servers in these languages and runs their gates. */
    language: { type: 'string', multiple: true },
    /** Gates at the same time. */
    side: { type: 'string', default: '3' },
    /** Where the virtual environments of the Python servers are kept. */
    python: { type: 'string', default: path.join(tmpdir(), 'mcp-eval-ci-python') },
  },
});

const servers: ReadonlyMap<string, () => Promise<TestedServer>> = new Map([
  ['server-everything', openEverything],
  ['server-memory', openMemory],
  ['server-filesystem', openFilesystem],
  ...fastMcpVersions.map((version): [string, () => Promise<TestedServer>] => [
    `FastMCP ${version}`,
    async () => await openFastMcp(version, await installFastMcp(version, values.python)),
  ]),
]);

interface Cell {
  shape: Shape;
  transport: Transport;
  expected: OutcomeName;
}

const cells: Cell[] = shapes.flatMap((shape) =>
  transports.flatMap((transport) => {
    const expected = findExpected(shape, transport);
    return expected !== null && isWanted(values.transport, transport) && isWanted(values.fault, shape.fault)
      ? [{ shape, transport, expected }]
      : [];
  }),
);
const marks = new Map<string, string[]>();
const counts = { met: 0, differing: 0 };

const hasFaults = values.language === undefined;
const selectsFaults = [values.server, values.transport, values.fault].some((selected) => selected !== undefined);
if (!hasFaults || !selectsFaults) {
  const { met, differing } = await runLanguages(values.language ?? languageNames);
  counts.met += met;
  counts.differing += differing;
}

const chosen = values.server?.includes('quick') === true ? [['quick', openQuickEverything] as const] : [...servers];
for (const [name, open] of hasFaults ? chosen : []) {
  if (!isWanted(values.server, name)) continue;
  const startMs = performance.now();
  let server: TestedServer;
  try {
    server = await open();
  } catch (error) {
    console.log(`${name} is skipped: ${String(error)}`);
    continue;
  }
  await using _server = server;
  const found = await pMap(cells, (cell) => judgeCell(server, cell), { concurrency: Number(values.side) });
  for (const [index, { shape, transport }] of cells.entries()) {
    const key = `${shape.fault.padEnd(30)} ${transport}`;
    marks.set(key, [...(marks.get(key) ?? []), `${found[index] ?? '?'} ${name}`]);
  }
  console.log(`${name}: ${cells.length} gates in ${Math.round((performance.now() - startMs) / 1000)} s.`);
}
if (hasFaults) console.log('\n✓ as required, ✗ another outcome than required\n');
for (const [key, row] of marks) console.log(`${key.padEnd(45)} ${row.join('  ')}`);
console.log(`\n${counts.met} as required, ${counts.differing} others.`);
process.exitCode = counts.differing === 0 ? 0 : 1;

async function judgeCell(server: TestedServer, { shape, transport, expected }: Cell): Promise<string> {
  const place = `${server.name}, ${transport}, ${shape.fault}`;
  try {
    const found = await runShape(server, shape, transport);
    const differences = listDifferences(shape, expected, found);
    if (differences.length === 0) {
      counts.met += 1;
      return '✓';
    }
    counts.differing += 1;
    for (const difference of differences) console.log(`${place}: ${difference}`);
    for (const reason of found.reasons) console.log(`    ${reason.slice(0, 300)}`);
    return '✗';
  } catch (error) {
    counts.differing += 1;
    console.log(`${place}: threw ${String(error)}`);
    return '✗';
  }
}

function isWanted(wanted: readonly string[] | undefined, name: string): boolean {
  return wanted === undefined || wanted.includes(name) || name === 'quick';
}
