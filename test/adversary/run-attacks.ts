/**
 * Runs every attack with and without a sandbox and prints a table: `npm run test:adversary`.
 *
 *     npm run test:adversary -- --class signals --level none --verbose
 */
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { bundleCommand } from '../support/process/bundle-command.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { setup as bundleServers } from '../support/servers/bundle-servers.ts';
import { accessAttacks, runAccessAttack } from './access-attacks.ts';
import { type Attack, type AttackResult, isolationLevels, levelOf, type ServerAttack } from './attack.ts';
import { artifactAttacks, runArtifactAttack } from './artifact-attacks.ts';
import { baseAttacks, portAttacks, runBaseAttack, runPortAttack } from './base-attacks.ts';
import { baseRepositoryAttacks, runBaseRepositoryAttack } from './base-repository-attacks.ts';
import { browserAttacks, runBrowserAttack } from './browser-attacks.ts';
import { fileAttacks as writtenFileAttacks, runFileAttack } from './file-attacks.ts';
import { inputAttacks, runInputAttack } from './input-attacks.ts';
import { programAttacks, runProgramAttack } from './program-attacks.ts';
import { pullRequestAttacks, runPullRequestAttack } from './pull-request-attacks.ts';
import { openServiceLab, serviceAttacks } from './service-attacks.ts';
import { type AttackedGate, type AttackOptions, runServerAttacks } from './run-server-attacks.ts';
import { runShardAttack, shardAttacks } from './shard-attacks.ts';
import { runSurfaceAttack, surfaceAttacks } from './surface-attacks.ts';
import { codeAttacks, fileAttacks, floodAttacks, loneAttacks, sharedAttacks, signalStorm } from './server-attacks.ts';

const { values } = parseArgs({
  options: {
    class: { type: 'string', multiple: true },
    level: { type: 'string', multiple: true },
    /** Part of the names of attacks. */
    name: { type: 'string', default: '' },
    /** The number of gates at the same time. */
    side: { type: 'string', default: '2' },
    /** The factor by which a gate may exceed its promised time. */
    slack: { type: 'string', default: '1' },
    verbose: { type: 'boolean', default: false },
  },
});

interface Batch {
  attacks: ServerAttack[];
  options: AttackOptions;
}

await bundleServers();
await bundleCommand();
const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));
const isWanted = (wanted: readonly string[] | undefined, name: string) => wanted?.includes(name) ?? true;
const choose = (attacks: readonly ServerAttack[]) =>
  attacks.filter((attack) => isWanted(values.class, attack.class) && attack.name.includes(values.name));

/** Packs attacks into gates with this many cases. */
function pack(attacks: readonly ServerAttack[], size: number, options: AttackOptions): Batch[] {
  const chosen = choose(attacks);
  const count = Math.ceil(chosen.length / size);
  return Array.from({ length: count }, (_, index) => ({
    attacks: chosen.slice(index * size, (index + 1) * size),
    options,
  }));
}

const slack = Number(values.slack);
/** The width of class names in the table. */
const nameLength = 16;
/** The levels whose attacks run. */
const levels = new Set(
  isolationLevels.filter((level) => isWanted(values.level, level) && (hasSandbox || level === 'none')),
);
const off: AttackOptions = { level: 'none', slack };
const packInSandbox = (options: AttackOptions) => [
  ...pack(
    sharedAttacks.filter((attack) => attack.class !== 'loopback'),
    40,
    { ...options, timeoutS: 240 },
  ),
  ...pack(fileAttacks, 40, { ...options, timeoutS: 240 }),
  ...pack(signalStorm, 4, { ...options, timeoutS: 60 }),
  ...pack(floodAttacks, 6, { ...options, timeoutS: 120 }),
  ...pack(
    // Signals do not arrive, so that true answers pass.
    loneAttacks.filter(
      (attack) => attack.moment === 'start' && (attack.class !== 'signals' || attack.answer === 'false'),
    ),
    1,
    options,
  ),
];
const batches = [
  ...pack(sharedAttacks, 40, { ...off, timeoutS: 240 }),
  ...pack(fileAttacks, 40, { ...off, timeoutS: 240 }),
  ...pack(floodAttacks, 6, { ...off, timeoutS: 120 }),
  ...pack(loneAttacks, 1, off),
  ...pack(codeAttacks, 1, { ...off, isCopied: true }),
  ...packInSandbox({ level: 'isolated', slack }),
  ...packInSandbox({ level: 'confined', slack }),
].filter(({ options }) => levels.has(options.level));
if (!hasSandbox) console.log('This machine has no sandbox: the attacks run at the level `none` alone.');

const startMs = performance.now();
const counts = new Map<string, { attacks: number; gates: number; succeeded: number; mebibytes: number }>();
let succeeded = 0;

/** Attacks without a level run only if no level is selected. */
const canRun = (attack: Attack) => {
  const level = levelOf(attack);
  return level === null ? values.level === undefined : levels.has(level);
};

await using lab = await openServiceLab();
const others = [
  ...serviceAttacks.map((attack) => [attack, () => lab.run(attack)] as const),
  ...pullRequestAttacks.map((attack) => [attack, () => runPullRequestAttack(attack)] as const),
  ...inputAttacks.map((attack) => [attack, () => runInputAttack(attack)] as const),
  ...accessAttacks.map((attack) => [attack, () => runAccessAttack(attack)] as const),
  ...browserAttacks.map((attack) => [attack, () => runBrowserAttack(attack)] as const),
  ...programAttacks.map((attack) => [attack, () => runProgramAttack(attack)] as const),
  ...surfaceAttacks.map((attack) => [attack, () => runSurfaceAttack(attack, { slack })] as const),
  ...baseAttacks.map((attack) => [attack, () => runBaseAttack(attack, { slack })] as const),
  ...portAttacks.map((attack) => [attack, () => runPortAttack(attack, { slack })] as const),
  ...baseRepositoryAttacks.map((attack) => [attack, () => runBaseRepositoryAttack(attack, { slack })] as const),
  ...artifactAttacks.map((attack) => [attack, () => runArtifactAttack(attack)] as const),
  ...shardAttacks.map((attack) => [attack, () => runShardAttack(attack)] as const),
  ...writtenFileAttacks.map((attack) => [attack, () => runFileAttack(attack)] as const),
].filter(([attack]) => canRun(attack) && isWanted(values.class, attack.class) && attack.name.includes(values.name));
await pMap(
  others,
  async ([attack, run]) => {
    const { found, problems } = await run();
    const key = `${attack.class.padEnd(nameLength)}  ${levelOf(attack) ?? ''}`;
    const row = counts.get(key) ?? { attacks: 0, gates: 0, succeeded: 0, mebibytes: 0 };
    const isHit = problems.length > 0;
    counts.set(key, { ...row, attacks: row.attacks + 1, succeeded: row.succeeded + Number(isHit) });
    succeeded += Number(isHit);
    console.log(`${isHit ? '✗' : '✓'} ${attack.attacker} ${attack.name}: ${found}`);
    for (const problem of problems) if (problem !== found) console.log(`    ${problem}`);
  },
  { concurrency: Number(values.side) },
);

await pMap(
  batches,
  async (batch) => {
    const ran = await runServerAttacks(batch.attacks, batch.options);
    report(batch, ran);
  },
  { concurrency: Number(values.side) },
);

console.log(`\n${'class'.padEnd(nameLength)}  level      attacks  gates  succeeded  memory of the gate at most`);
for (const [key, row] of [...counts].toSorted(([one], [other]) => one.localeCompare(other))) {
  const numbers = [row.attacks, row.gates, row.succeeded].map((number, index) =>
    String(number).padStart([7, 5, 9][index] ?? 0),
  );
  console.log(`${key.padEnd(nameLength + 11)}  ${numbers.join('  ')}  ${row.mebibytes} MiB`);
}
const total = [...counts.values()].reduce((sum, row) => sum + row.attacks, 0);
const seconds = Math.round((performance.now() - startMs) / 1000);
console.log(`\n${total} attacks in ${batches.length} gates and ${seconds} s: ${succeeded} succeeded.`);
process.exitCode = succeeded === 0 ? 0 : 1;

function report({ attacks, options }: Batch, { results, problems, observed, bystander }: AttackedGate): void {
  const [first] = attacks;
  const isAlone = first?.isAlone === true;
  // A gate with a single attack has the problems of that attack.
  const shared = isAlone ? [] : problems;
  const hit = results.filter((result) => result.problems.length > 0);
  succeeded += hit.length + (shared.length > 0 ? 1 : 0);
  for (const name of new Set(attacks.map((attack) => attack.class))) {
    const key = `${name.padEnd(nameLength)}  ${options.level}`;
    const row = counts.get(key) ?? { attacks: 0, gates: 0, succeeded: 0, mebibytes: 0 };
    const of = ({ attack }: AttackResult) => attack.class === name;
    counts.set(key, {
      attacks: row.attacks + results.filter(of).length,
      gates: row.gates + 1,
      succeeded: row.succeeded + hit.filter(of).length,
      mebibytes: Math.max(row.mebibytes, Math.round(observed.maxMemoryMiB)),
    });
  }
  const label = isAlone ? first.name : `${attacks.length} from ${first?.class}: ${first?.name}`;
  const end = `exit code ${observed.exitCode}, ${Math.round(observed.durationS)} s, bystander ${bystander}`;
  console.log(`${hit.length + shared.length === 0 ? '✓' : '✗'} ${options.level} ${label}: ${end}`);
  for (const problem of new Set(shared)) console.log(`    ${problem}`);
  for (const result of hit) console.log(`    ${result.attack.name}: ${result.problems.join('; ')}`);
  if (values.verbose) {
    for (const { attack, found } of results) console.log(`    . ${attack.name}: ${found}`);
    console.log(observed.output.slice(-3000));
  }
}
