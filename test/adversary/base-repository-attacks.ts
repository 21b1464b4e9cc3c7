import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describePullRequest, runGitIn } from '../support/github/pull-request.ts';
import type { Workspace } from '../support/workspace.ts';
import { type AttackResult, isolationLevels, type LevelledAttack } from './attack.ts';
import { createAttackedRepository, lostCase, runBaseGate } from './base-attacks.ts';
import { forgeObject, plantKey, programKeys, promiseObject, readObject, writeMarker } from './repository-attacks.ts';

/** A change that is worse than its base and makes git or the cache show another base. */
export interface BaseRepositoryAttack extends LevelledAttack {
  attacker: 'pull-request';
  /** Changes the repository before the gate, as earlier steps of the job or an earlier gate would. */
  prepare?: (repository: Workspace) => void;
  /** The module that the server of the change runs when it starts. A second gate follows. */
  spoil?: string;
  /** Keeps results of the base, and changes those of an earlier gate. */
  cache?: (repository: Workspace, file: string) => void;
  /** The secret that signs the cache. */
  key?: string;
}

type Variant = Pick<BaseRepositoryAttack, 'prepare' | 'spoil' | 'cache' | 'key'>;

/** Makes the results of the base as bad as those of the change. */
const worsen = (file: string) =>
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"marks":"p+"/g, '"marks":"f"'));

const forge = (repository: Workspace, revision: string, type: 'blob' | 'tree' | 'commit', other: string) =>
  forgeObject(
    repository,
    runGitIn(repository, 'rev-parse', revision),
    type,
    readObject(repository, runGitIn(repository, 'rev-parse', other), type),
  );

const variants: Record<string, Variant> = {
  'changes nothing': {},
  'names a program under every key of git': {
    prepare: (repository) => {
      const { program } = writeMarker(repository);
      for (const key of programKeys) plantKey(repository, key, program);
    },
  },
  'has a remote promise a file of the base': {
    prepare: (repository) =>
      promiseObject(repository, runGitIn(repository, 'rev-parse', 'main:words.txt'), writeMarker(repository).program),
  },
  'forges a file of the base': {
    prepare: (repository) => forge(repository, 'main:words.txt', 'blob', 'HEAD:words.txt'),
  },
  'forges the directory of the base': {
    prepare: (repository) => forge(repository, 'main^{tree}', 'tree', 'HEAD^{tree}'),
  },
  'forges the commit of the base': { prepare: (repository) => forge(repository, 'main', 'commit', 'HEAD') },
  'replaces the commit of the base': {
    prepare: (repository) => void runGitIn(repository, 'replace', '-f', 'main', 'HEAD'),
  },
  'moves the branch of the base': {
    prepare: (repository) => void runGitIn(repository, 'update-ref', 'refs/heads/main', 'HEAD'),
  },
  'grafts its commit onto nothing': {
    prepare: (repository) => {
      mkdirSync(join(repository.path, '.git/info'), { recursive: true });
      writeFileSync(join(repository.path, '.git/info/grafts'), `${runGitIn(repository, 'rev-parse', 'HEAD')}\n`);
    },
  },
  'says that its history is shallow': {
    prepare: (repository) =>
      writeFileSync(join(repository.path, '.git/shallow'), `${runGitIn(repository, 'rev-parse', 'HEAD')}\n`),
  },
  'gives a command of git another meaning': {
    prepare: ({ path }) => appendFileSync(join(path, '.git/config'), '[alias]\n\tcat-file = !true\n'),
  },
  'has its server name a program in the configuration of git': {
    spoil: `
const program = join(process.cwd(), '.git/planted');
writeFileSync(program, '#!/bin/sh\\necho ran >>' + join(process.cwd(), '.git/marker') + '\\n', { mode: 0o755 });
mkdirSync('.git/info', { recursive: true });
writeFileSync('.git/info/attributes', '* filter=x diff=x merge=x\\n');
writeFileSync('.git/config', readFileSync('.git/config', 'utf8') +
  '[core]\\n\\tfsmonitor = ' + program + '\\n[filter "x"]\\n\\tsmudge = ' + program + '\\n\\tprocess = ' + program + '\\n');
`,
  },
  'commits results of the base': {
    cache: (repository, file) => {
      worsen(file);
      runGitIn(repository, 'add', '-f', file);
      runGitIn(repository, 'commit', '-q', '-m', 'cache');
    },
  },
  'commits results of the base, and the job has a key': {
    key: 'a key of the job',
    cache: (repository, file) => {
      worsen(file);
      runGitIn(repository, 'add', '-f', file);
      runGitIn(repository, 'commit', '-q', '-m', 'cache');
    },
  },
  'changes results of the base': { cache: (_, file) => worsen(file) },
  'changes results of the base that a key signs': { key: 'a key of the job', cache: (_, file) => worsen(file) },
};

export const baseRepositoryAttacks: readonly BaseRepositoryAttack[] = Object.entries(variants).flatMap(
  ([name, variant]) =>
    isolationLevels.map((level): BaseRepositoryAttack => ({
      name: `${name}, at the level ${level}`,
      class: variant.cache === undefined ? 'base repository' : 'base cache',
      attacker: 'pull-request',
      deserves: 'failed',
      level,
      ...variant,
    })),
);

/** Runs the gate of the change in the job of its pull request. A skipped comparison counts as inconclusive. */
export async function runBaseRepositoryAttack(attack: BaseRepositoryAttack, { slack = 1 } = {}): Promise<AttackResult> {
  const { level, prepare, spoil = '', cache, key } = attack;
  await using workspace = await createAttackedRepository({ spoil });
  const repository = { ...workspace, path: join(workspace.path, 'repository') };
  const env = await describePullRequest(repository, runGitIn(repository, 'rev-parse', 'main'));
  const kept = cache === undefined ? [] : ['--base=cache=kept'];
  const args = ['--base=git', ...kept, ...(key === undefined ? [] : [`--base-cache-key=${key}`])];
  if (cache !== undefined) {
    // Without a key, a gate keeps results of the base only outside of a pull request.
    const first = { level, args: [...args, '--base-ref=main'], slack };
    await runBaseGate(workspace, key === undefined ? first : { ...first, env });
    const directory = join(repository.path, 'kept');
    const [file = ''] = existsSync(directory) ? readdirSync(directory) : [];
    if (file === '') return { attack, found: 'no cache', problems: ['no cache that could be forged'] };
    cache(repository, join(directory, file));
  }
  prepare?.(repository);
  if (attack.spoil !== undefined) await runBaseGate(workspace, { level, args, env, slack });
  const { exitCode, worse, found } = await runBaseGate(workspace, { level, args, env, slack });
  const isCompared = exitCode === 1 && worse.join() === lostCase;
  const isLeftOut = exitCode === 2 || (exitCode === 3 && found.includes('base-not-compared'));
  const hasRun = existsSync(join(repository.path, '.git/marker'));
  return {
    attack,
    found,
    problems: [...(isCompared || isLeftOut ? [] : [found]), ...(hasRun ? ['git ran a program of the change'] : [])],
  };
}
