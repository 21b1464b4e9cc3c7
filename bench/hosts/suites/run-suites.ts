// `npm run bench -- hosts --suites`: three servers of npm in four profiles and in the programs of hosts, live and in replay.
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/base/time.ts';
import { findAdapter } from '../../../src/host-drivers/catalog.ts';
import { runEmbeddedGate } from '../../../test/support/gate/embedded-gate.ts';
import { findHostVersion } from '../../../test/support/hosts/installed-hosts.ts';
import { type HostFormat, openScriptedProvider } from '../../../test/support/models/scripted-provider.ts';
import { createWorkspace } from '../../../test/support/workspace.ts';
import { findProgram, measuredHosts } from '../hosts.ts';
import { installPackage } from '../install.ts';
import { isolation } from '../run-host.ts';
import { answerAsScripted } from './model.ts';
import { columns, profileIds, programIds, writtenVerdicts } from './verdicts.ts';

type ProgramId = (typeof programIds)[number];

// goose shows images only to models that it knows to take them; Codex shows all tools at once only to models that it does not know.
const programs: Readonly<Record<ProgramId, { version: string; format: HostFormat; model: string }>> = {
  codex: { version: '0.171.0', format: 'responses', model: 'openai/gpt-test' },
  'copilot-cli': { version: '1.0.102', format: 'compatible', model: 'openai/gpt-4o' },
  'gemini-cli': { version: '0.61.0', format: 'google', model: 'google/gemini-2.5-flash' },
  goose: { version: '1.52.0', format: 'compatible', model: 'openai/gpt-4o' },
};

const prefixes: Readonly<Record<HostFormat, string>> = {
  anthropic: 'ANTHROPIC',
  compatible: 'OPENAI',
  google: 'GEMINI',
  responses: 'OPENAI',
};

const packages = fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol', import.meta.url));
const start = (name: string) => `${process.execPath} ${packages}/server-${name}/dist/index.js`;

const servers = [
  { suite: 'everything', inputs: { 'server-command': start('everything') } },
  { suite: 'filesystem', inputs: { 'server-command': `${start('filesystem')} {{workspace}}` } },
  {
    suite: 'memory',
    inputs: { 'server-command': start('memory'), 'server-env': 'MEMORY_FILE_PATH={{workspace}}/memory.jsonl' },
  },
] as const;

const half = 'A line of the file.\n'.repeat(750);
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const threeDaysMs = 3 * 24 * 3_600_000;

type Outcome = 'passed' | 'failed' | 'no result';
type Run = 'live' | 'replay';

interface Setting {
  suite: string;
  /** The evals file without what `head` says. */
  text: string;
  inputs: Readonly<Record<string, string>>;
  head: string;
  format: HostFormat;
  path: string;
}

interface GateRun {
  /** By host and case. */
  outcomes: Map<string, { outcome: Outcome; reason: string }>;
  /** Iterations. */
  passed: number;
  durationMs: number;
}

/** Makes a directory that has the programs of hosts in the versions above, installed unless PATH has them. */
export async function preparePrograms(scratch: string): Promise<string> {
  const bin = join(scratch, 'bin');
  await mkdir(bin, { recursive: true });
  for (const id of programIds) {
    if (findHostVersion(id) === programs[id].version) continue;
    const host = measuredHosts.find(({ starter }) => starter.id === id);
    const name = findAdapter(id)?.program;
    if (host === undefined || name === undefined) throw new Error(`There is no host ${id}.`);
    const directory = join(scratch, id);
    await mkdir(directory);
    await installPackage(host.package, programs[id].version, directory);
    const [file = ''] = findProgram(join(directory, 'node_modules'), host.program).slice(-1);
    await symlink(file, join(bin, name));
  }
  return `${bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
}

/** The first lines of an evals file whose cases run in the program of a host. */
export function headProgram(id: ProgramId): string {
  const network = isolation === null ? ', allow-host-network: true' : '';
  const { model, version } = programs[id];
  return `model: ${model}\nhost: { command: ${id}, version: ${version}${network} }\n`;
}

const headProfiles = `model: anthropic/claude-test\nhosts: [${profileIds.join(', ')}]\n`;

/** Runs a suite live, and replays it in another directory with another HOME, on another day, without a key. */
export async function runTwice({ suite, text, inputs, head, format, path }: Setting): Promise<Record<Run, GateRun>> {
  await using provider = await openScriptedProvider({ format, answers: answerAsScripted });
  await using workspace = await createWorkspace({
    [`${suite}.evals.yaml`]: `${head}timeout: 2m\n${text}`,
    'files/groceries.md': 'Buy rye bread.\n',
    'files/long.txt': `${half}The middle of the file.\n${half}`,
  });
  await writeFile(join(workspace.path, 'files/dot.png'), Buffer.from(dot, 'base64'));
  const prefix = prefixes[format];
  const keys = { [`${prefix}_API_KEY`]: 'a-key', [`${prefix}_BASE_URL`]: provider.baseUrl };
  const usual = { ...inputs, isolation: 'iteration', concurrency: '2' };
  const live = await time(() =>
    runEmbeddedGate(workspace, { ...usual, recordings: 'record' }, { environment: { PATH: path, ...keys } }),
  );
  const asked = provider.requests.length;
  await using other = await createWorkspace({ 'home/.keep': '' });
  const elsewhere = join(other.path, 'elsewhere');
  await cp(workspace.path, elsewhere, { recursive: true });
  const replay = await time(() =>
    runEmbeddedGate(
      { ...other, path: elsewhere },
      { ...usual, recordings: 'replay' },
      {
        environment: { PATH: path, HOME: join(other.path, 'home') },
        clock: { ...systemClock, now: () => systemClock.now() + threeDaysMs },
      },
    ),
  );
  if (provider.requests.length !== asked) throw new Error(`The replay of ${suite} asked the provider.`);
  return { live, replay };
}

async function time(run: () => ReturnType<typeof runEmbeddedGate>): Promise<GateRun> {
  const startedMs = performance.now();
  const { report } = await run();
  const durationMs = performance.now() - startedMs;
  const outcomes = report.cases.map(
    ({ id, host, passed, failed, failures }): [string, { outcome: Outcome; reason: string }] => {
      const outcome = failed > 0 ? 'failed' : passed > 0 ? 'passed' : 'no result';
      const name = host?.id ?? 'generic';
      // A case that runs in several hosts has an id for each.
      return [`${name} ${id.replace(`--${name}`, '')}`, { outcome, reason: JSON.stringify(failures) }];
    },
  );
  return { outcomes: new Map(outcomes), passed: report.totals.passed, durationMs };
}

/** Prints a table of all cases in all hosts; returns the number of verdicts that are not as written. */
export async function runSuites(path: string): Promise<number> {
  const seen = new Map<string, { outcome: Outcome; reason: string }>();
  const keep = (suite: string, mark: string, runs: Record<Run, GateRun>) => {
    for (const run of ['live', 'replay'] as const) {
      for (const [name, result] of runs[run].outcomes)
        seen.set(`${suite} ${name.replace(' ', `${mark} `)} ${run}`, result);
    }
  };
  for (const { suite, inputs } of servers) {
    const text = await readFile(new URL(`${suite}.evals.yaml`, import.meta.url), 'utf8');
    console.log(`${suite} in profiles`);
    keep(suite, '', await runTwice({ suite, text, inputs, head: headProfiles, format: 'anthropic', path }));
    for (const id of programIds) {
      console.log(`${suite} in the program of ${id}`);
      keep(
        suite,
        '*',
        await runTwice({ suite, text, inputs, head: headProgram(id), format: programs[id].format, path }),
      );
    }
  }
  return printTable(seen);
}

function printTable(seen: ReadonlyMap<string, { outcome: Outcome; reason: string }>): number {
  console.log(
    'Each cell: the written verdict, live, replay. `*` marks the program of a host; the others are profiles.',
  );
  const different: string[] = [];
  const rows = writtenVerdicts.map(({ suite, id, fails }) => {
    const cells = columns.map((column) => {
      const written: Outcome = fails[column] === undefined ? 'passed' : 'failed';
      const found = (['live', 'replay'] as const).map((run) => {
        const { outcome, reason } = seen.get(`${suite} ${column} ${id} ${run}`) ?? { outcome: 'no result', reason: '' };
        if (outcome !== written)
          different.push(`${suite} ${id} in ${column}, ${run}: ${outcome}, not ${written} ${reason}`);
        return outcome;
      });
      return [written, ...found].map((outcome) => marks[outcome]).join(' ');
    });
    return [`${suite} ${id}`, ...cells];
  });
  const head = ['Case', ...columns];
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of [head, ...rows])
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  for (const { suite, id, fails } of writtenVerdicts) {
    for (const [column, reason] of Object.entries(fails))
      console.log(`${suite} ${id} fails in ${column}: it ${reason}`);
  }
  for (const line of different) console.log(`different: ${line}`);
  console.log(`${rows.length * columns.length * 2} verdicts, ${different.length} not as written`);
  return different.length;
}

const marks: Readonly<Record<Outcome, string>> = { passed: '+', failed: '-', 'no result': '?' };
