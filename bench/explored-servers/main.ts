// `npm run bench -- explored-servers`: runs `init` on servers that RULE.md chose, and makes docs/explored-servers.md with `--table`.
import { cpus, tmpdir } from 'node:os';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { moveClock } from '../../lib/explore/world/shift-clock.js';
import { readCommit } from '../gates/own.ts';
import { type Ran, runProgram } from '../gates/process.ts';
import { hashDirectory } from '../gates/servers.ts';
import { type Measured, writePage } from './page.ts';
import { type ExploredServer, installExplored, servers } from './servers.ts';

const main = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url));
/** Committed, so that one server can be measured anew without all others. */
const results = fileURLToPath(new URL('results', import.meta.url));

const options = {
  server: { type: 'string' },
  /** How often each written gate runs again. In half of the runs, the clock of a server in Node.js is a day or a month ahead. */
  repeats: { type: 'string', default: '20' },
  'time-limit': { type: 'string', default: '4m' },
  table: { type: 'boolean' },
  results: { type: 'string', default: results },
} as const;

/** Reads the arguments after `explored-servers`; gives the exit code. */
export async function measureExploredServers(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options });
  await mkdir(values.results, { recursive: true });
  const wanted = values.server?.split(',');
  const chosen = values.table === true ? [] : servers.filter(({ name }) => wanted?.includes(name) ?? true);
  for (const server of chosen) {
    const limits = { repeats: Number(values.repeats), timeLimit: values['time-limit'] };
    const measured = await measureServer(server, limits);
    await writeFile(join(values.results, `${server.name}.json`), `${JSON.stringify(measured, null, 2)}\n`);
    console.log(JSON.stringify(measured));
  }
  if (values.table === true) {
    const files = (await readdir(values.results)).filter((file) => file.endsWith('.json'));
    const read = await Promise.all(
      files.map(async (file) => JSON.parse(await readFile(join(values.results, file), 'utf8')) as Measured),
    );
    await writePage(read);
  }
  return 0;
}

async function measureServer(
  server: ExploredServer,
  { repeats, timeLimit }: { repeats: number; timeLimit: string },
): Promise<Measured> {
  const installed = await installExplored(server);
  const scratch = await mkdtemp(join(tmpdir(), 'explored-run-'));
  try {
    const home = join(scratch, 'home');
    await mkdir(home);
    const command = server.command.replaceAll('{{directory}}', installed);
    // `hashDirectory` leaves `node_modules` out.
    const own = server.registry === 'npm' ? join(installed, 'node_modules', server.package) : installed;
    const before = [await hashDirectory(own), await hashDirectory(home)];
    const start = `--server-command=${command}`;
    const run = async (directory: string, words: readonly string[]): Promise<Ran> => {
      await mkdir(directory, { recursive: true });
      return await runProgram([process.execPath, main, ...words, start], {
        cwd: directory,
        env: { HOME: home, CI: '1' },
      });
    };
    const init = ['init', '--yes', `--time-limit=${timeLimit}`];
    const [first, second] = [join(scratch, 'first'), join(scratch, 'second')];
    const usedBefore = await readUsage();
    const startedMs = performance.now();
    const { code, stdout, stderr } = await run(first, init);
    const seconds = (performance.now() - startedMs) / 1000;
    const cpuSeconds = (await readUsage()) - usedBefore;
    await run(second, [...init, '--no-run']);
    const [written, again] = await Promise.all([first, second].map((each) => hashDirectory(join(each, 'evals'))));
    const gates = { green: 0, ofClock: 0, red: [] as string[] };
    const gate = ['run', '--evals=evals/tools.evals.yaml', '--surface=evals/surface.json', '--quiet'];
    const canMove = server.registry === 'npm';
    for (let count = 0; count < repeats; count += 1) {
      const daysAhead = canMove && count % 2 === 1 ? (count % 4 === 1 ? 1 : 31) : 0;
      const { NODE_OPTIONS: moved } = await moveClock(daysAhead, { directory: scratch, options: undefined });
      const ran = await run(first, [...gate, ...(moved === undefined ? [] : [`--server-env=NODE_OPTIONS=${moved}`])]);
      if (ran.code === 0) gates.green += 1;
      else gates.red.push(ran.stdout.slice(-400));
      if (daysAhead > 0) gates.ofClock += 1;
    }
    const after = [await hashDirectory(own), await hashDirectory(home)];
    const output = `${stderr}\n${stdout}`;
    const [, startMs, unit] = / answers over stdio after ([\d.]+) (ms|s)\b/.exec(output) ?? [];
    return {
      server,
      commit: readCommit(),
      date: new Date().toISOString().slice(0, 10),
      processors: cpus().length,
      node: process.version,
      startMs: startMs === undefined ? null : Number(startMs) * (unit === 's' ? 1000 : 1),
      seconds,
      cpuSeconds,
      exitCode: code,
      coverage: readCoverage(output),
      findings: /^Findings: (.*)$/m.exec(output)?.[1] ?? '',
      cases: Number(/\(created, (\d+) cases?\)/.exec(output)?.[1] ?? 0),
      isCut: /cut by time|the time was over/i.test(output),
      isSameBytes: written === again,
      isTreeSame: before.join() === after.join(),
      gates: { ...gates, of: repeats },
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function readCoverage(output: string): Measured['coverage'] {
  const found = /^Coverage: (\d+) of (\d+) tools?, (\d+) of (\d+) parameters?, (\d+) of (\d+) error paths?$/m.exec(
    output,
  );
  const [tools = 0, ofTools = 0, parameters = 0, ofParameters = 0, paths = 0, ofPaths = 0] = (found ?? [])
    .slice(1)
    .map(Number);
  return {
    tools: { reached: tools, of: ofTools },
    parameters: { reached: parameters, of: ofParameters },
    errorPaths: { reached: paths, of: ofPaths },
  };
}

/** Reads the processor time of this process and of all processes that it started and that have ended, in seconds; 0 where the system does not show it. */
async function readUsage(): Promise<number> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [children, system] = [fields[13], fields[14]].map(Number);
  return ((children ?? 0) + (system ?? 0)) / 100;
}
