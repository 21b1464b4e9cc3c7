// Makes docs/explored-servers.md of what was measured.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ExploredServer, servers } from './servers.ts';

const page = fileURLToPath(new URL('../../docs/explored-servers.md', import.meta.url));

interface Counted {
  reached: number;
  of: number;
}

/** What was measured of one server. */
export interface Measured {
  server: ExploredServer;
  commit: string;
  date: string;
  processors: number;
  node: string;
  /** How long the server took to start; null if no gate ran. */
  startMs: number | null;
  seconds: number;
  cpuSeconds: number;
  exitCode: number | null;
  coverage: { tools: Counted; parameters: Counted; errorPaths: Counted };
  findings: string;
  cases: number;
  isCut: boolean;
  /** True if a second run with the same seed wrote the same files. */
  isSameBytes: boolean;
  /** True if the package and HOME were the same before and after. */
  isTreeSame: boolean;
  gates: { green: number; of: number; ofClock: number; red: readonly string[] };
}

export async function writePage(measured: readonly Measured[]): Promise<void> {
  const rows = servers.map((server) => ({ server, found: measured.find((each) => each.server.name === server.name) }));
  const local = measured.filter(({ server, cases }) => server.kind !== 'API' && cases > 0);
  const [any] = measured;
  const lines = [
    '# Init on servers of other authors',
    '',
    '<!-- `npm run bench -- explored-servers --table` writes this page. -->',
    '',
    'These servers were chosen by a [rule](../bench/explored-servers/RULE.md) that was written before any run.',
    '`npm run bench -- explored-servers --server mcp-hello-world` measures one of them.',
    '',
    ...(any === undefined
      ? []
      : [
          `Node.js ${any.node}, ${any.processors} processors, shared with other work, so that processor time says more than the seconds that passed. Sandbox level: confined, network off. Seed 1.`,
          '',
        ]),
    '| Server | Kind | Start | Seconds | Processor seconds | Tools | Parameters | Error paths | Cases | Findings | Same bytes twice | Trees unchanged | Runs that were green | After commit |',
    '| --- | --- | --: | --: | --: | --- | --- | --- | --: | --- | --- | --- | --- | --- |',
    ...rows.map(({ server, found }) => writeRow(server, found)),
    '',
    `Medians of the ${local.length} measured servers that need no service: ${writeMedians(local)}.`,
    '',
    'A run is one of the written gate on the unchanged server. Where the server runs in Node.js, the clock is a day or a month ahead in half of them.',
    'A server that was _cut_ had no time left: its row shows what the time was enough for.',
    'Trees are the package of the server and the home directory. They are compared around everything: `init` starts the server once as a user does, to list its tools, and so does each gate. A server may write there by itself, such as the version cache of FastMCP.',
    '',
  ];
  await writeFile(page, lines.join('\n'));
  console.log('Wrote docs/explored-servers.md.');
}

/** The cells behind the name and the kind of a server. */
const emptyCells = 12;

function writeRow({ package: name, version, registry, kind }: ExploredServer, found: Measured | undefined): string {
  const head = `| ${name} ${version} (${registry}) | ${kind} |`;
  if (found === undefined) return `${head} ${Array.from({ length: emptyCells }, () => 'not measured').join(' | ')} |`;
  if (found.cases === 0 && found.startMs === null)
    return `${head} init got no answer to initialize | ${Array.from({ length: emptyCells - 1 }, () => '').join(' | ')} |`;
  const { coverage, gates } = found;
  const moved = gates.ofClock === 0 ? '' : `, ${gates.ofClock} with a moved clock`;
  const cells = [
    found.startMs === null ? 'no gate' : `${(found.startMs / 1000).toFixed(1)} s`,
    `${found.seconds.toFixed(0)}${found.isCut ? ', cut' : ''}`,
    found.cpuSeconds.toFixed(0),
    ...[coverage.tools, coverage.parameters, coverage.errorPaths].map(({ reached, of }) => `${reached} of ${of}`),
    String(found.cases),
    found.findings,
    found.isSameBytes ? 'yes' : 'no',
    found.isTreeSame ? 'yes' : 'no',
    `${gates.green} of ${gates.of}${moved}`,
    `\`${found.commit.slice(0, 8)}\`, ${found.date}`,
  ];
  return `${head} ${cells.join(' | ')} |`;
}

function writeMedians(measured: readonly Measured[]): string {
  const parts = (['tools', 'parameters', 'errorPaths'] as const).map((key) => {
    const shares = measured.flatMap(({ coverage }) =>
      coverage[key].of === 0 ? [] : [coverage[key].reached / coverage[key].of],
    );
    const name = key === 'errorPaths' ? 'error paths' : key;
    return `${(median(shares) * 100).toFixed(0)} % of the ${name}`;
  });
  return parts.join(', ');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}
