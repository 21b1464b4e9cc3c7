import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTools } from '../../src/server/sandbox/tools.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { programAttacks, runProgramAttack } from './program-attacks.ts';

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

describe.runIf(process.platform === 'linux')('a server that plants programs in PATH', { timeout: 300_000 }, () => {
  // Without strace, the test only shows that no planted program runs.
  const hasStrace = (process.env['PATH'] ?? '').split(delimiter).some((path) => existsSync(join(path, 'strace')));

  it.each(programAttacks.filter(({ level }) => level === 'none' || hasSandbox).map((attack) => [attack.level, attack]))(
    'has none of them run by a gate that starts only programs of the sandbox by the paths found before, at the level %s',
    async (_, attack) => {
      const { problems, observed, isPlanted, late } = await runProgramAttack(attack, { traces: hasStrace });
      expect({ isPlanted, problems, output: observed.output }).toMatchObject({ isPlanted: true, problems: [] });
      const tools = findTools(process.env['PATH']);
      const paths = 'missing' in tools ? [] : Object.values(tools);
      // The server cannot write to the programs of a sandbox. The shell is the one in the sandbox.
      const known = attack.level === 'none' ? [] : [...paths, '/bin/sh'];
      expect({ unknown: late?.filter((file) => !known.includes(file)) ?? [], output: observed.output }).toMatchObject({
        unknown: [],
      });
      expect(observed.exitCode).toBe(1);
    },
  );
});
