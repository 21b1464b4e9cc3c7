import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canMake } from '../support/process/sandbox-lab.ts';
import type { Attack, LevelledAttack } from './attack.ts';
import { accessAttacks, runAccessAttack } from './access-attacks.ts';
import { artifactAttacks, runArtifactAttack } from './artifact-attacks.ts';
import { baseAttacks, portAttacks, runBaseAttack, runPortAttack } from './base-attacks.ts';
import { baseRepositoryAttacks, runBaseRepositoryAttack } from './base-repository-attacks.ts';
import { browserAttacks, runBrowserAttack } from './browser-attacks.ts';
import { fileAttacks, runFileAttack } from './file-attacks.ts';
import { inputAttacks, runInputAttack } from './input-attacks.ts';
import { pullRequestAttacks, runPullRequestAttack } from './pull-request-attacks.ts';
import { runShardAttack, shardAttacks } from './shard-attacks.ts';
import { runSurfaceAttack, surfaceAttacks } from './surface-attacks.ts';
import { openServiceLab, type ServiceLab, serviceAttacks } from './service-attacks.ts';

// Attacks against which the gate defends itself in different ways; `npm run test:adversary` runs all attacks.

/** Finds the attacks with these names. Each must exist. */
function choose<T extends Attack>(attacks: readonly T[], names: readonly string[]): T[] {
  return names.map((name) => {
    const found = attacks.find((attack) => attack.name === name);
    if (found === undefined) throw new Error(`no attack ${name}`);
    return found;
  });
}

describe('a pull request, judged by the policy of its base,', () => {
  const chosen = pullRequestAttacks.filter((_, index) => index % 2 === 1);
  it.each(chosen.map((attack) => [attack.name, attack] as const))('that %s does not pass', async (_, attack) => {
    expect((await runPullRequestAttack(attack)).problems).toEqual([]);
  });
});

describe.runIf(process.platform !== 'win32')('a gate of which', () => {
  // One attack for each reader: a gate, its file of servers, a directory of shards, and patterns with and without a range. A single
  // function reads all files, which test/architecture.test.ts checks.
  const chosen = choose(inputAttacks, [
    'a named pipe is the policy',
    'a named pipe is the file of servers',
    'a named pipe is the report of a shard',
    'a range in the pattern of evals',
    'braces in a pattern to validate',
  ]);
  it.each(chosen.map((attack) => [attack.name, attack] as const))('%s refuses it', async (_, attack) => {
    expect((await runInputAttack(attack)).problems).toEqual([]);
  });
});

describe('the files that a gate writes', () => {
  const chosen = fileAttacks.filter((_, index) => index % 3 === 0);
  it.each(chosen.map((attack) => [attack.name, attack] as const))('are safe where a change %s', async (_, attack) => {
    expect((await runFileAttack(attack)).problems).toEqual([]);
  });
});

describe('a secret of the job', () => {
  const chosen = accessAttacks.filter(({ class: name }, index) => name !== 'env hosts' || index % 4 === 0);
  it.each(chosen.map((attack) => [attack.name, attack] as const))('stays where a change %s', async (_, attack) => {
    expect((await runAccessAttack(attack)).problems).toEqual([]);
  });
});

describe('a surface that is too large to be compared as a whole', { timeout: 300_000 }, () => {
  const chosen = surfaceAttacks.filter(
    ({ name }) => name === 'changes 400 alternatives of 50 members and takes a tool away, at the level none',
  );
  it.each(chosen.map((attack) => [attack.name, attack] as const))('does not pass: %s', async (_, attack) => {
    expect((await runSurfaceAttack(attack, { slack: 10 })).problems).toEqual([]);
  });
});

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

describe('a change that is worse than its base', () => {
  const canRun = ({ level }: LevelledAttack) => hasSandbox || level === 'none';
  // One attack for each level. test/gate/base-sides.test.ts covers the directories of each side.
  const chosen = choose(baseAttacks, [
    'plants a module in its temporary directory, at the level none',
    'renames the temporary directory of the job, at the level isolated',
    'plants a module in the HOME of the job, at the level confined',
  ]).filter(canRun);
  it.each(chosen.map((attack) => [attack.name, attack] as const))('and that %s does not pass', async (_, attack) => {
    expect((await runBaseAttack(attack, { slack: 10 })).problems).toEqual([]);
  });

  // repository.test.ts covers other contents of a repository, without a gate.
  const hidden = choose(baseRepositoryAttacks, [
    'names a program under every key of git, at the level none',
    'forges the commit of the base, at the level none',
    'changes results of the base, at the level none',
  ]);
  it.each(hidden.map((attack) => [attack.name, attack] as const))('and that %s does not pass', async (_, attack) => {
    expect((await runBaseRepositoryAttack(attack, { slack: 10 })).problems).toEqual([]);
  });

  const onPorts = portAttacks.filter(canRun).slice(0, 2);
  it.each(onPorts.map((attack) => [attack.name, attack] as const))('and that %s does not pass', async (_, attack) => {
    expect((await runPortAttack(attack, { slack: 10 })).problems).toEqual([]);
  });

  it('fails next to a base at a port where nothing else answers', async () => {
    const [attack] = choose(portAttacks, ['answers at the port of the base, at the level none']);
    const { found } = await runPortAttack({ ...attack!, spoil: '' }, { slack: 10 });
    expect(found).toContain('exit code 1, regressed');
  });
});

describe('a change whose gate runs in shards', () => {
  it.each(shardAttacks.map((attack) => [attack.name, attack] as const))(
    'does not pass where it %s',
    async (_, attack) => {
      expect((await runShardAttack(attack)).problems).toEqual([]);
    },
  );
});

describe.runIf(process.platform === 'linux')('a server', () => {
  const chosen = browserAttacks.filter(
    ({ level, plant }) => (hasSandbox || level === 'none') && plant.includes('rename'),
  );
  it.each(chosen.map((attack) => [attack.name, attack] as const))(
    'that %s does not have it started',
    async (_, attack) => {
      const { problems, starts } = await runBrowserAttack(attack);
      // The gate starts the browser again only if the server cannot replace it.
      expect([problems, starts.length > 1]).toEqual([[], attack.level !== 'none']);
    },
  );
});

describe('the artifact of a failed gate', () => {
  it.each(artifactAttacks.map((attack) => [attack.name, attack] as const))(
    'that %s is not read as passed',
    async (_, attack) => {
      expect((await runArtifactAttack(attack)).problems).toEqual([]);
    },
  );

  it('is read as failed where nothing is changed', async () => {
    const [sound] = await Promise.all(artifactAttacks.slice(0, 1).map(runArtifactAttack));
    expect([sound?.found]).toEqual(['failed']);
  });
});

describe('a hosted service of whose cases one fails', () => {
  let lab: ServiceLab;
  beforeAll(async () => {
    lab = await openServiceLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  it.each(serviceAttacks.map((attack) => [attack.name, attack] as const))(
    'does not pass where it %s',
    async (_, attack) => {
      expect((await lab.run(attack)).problems).toEqual([]);
    },
  );
});
