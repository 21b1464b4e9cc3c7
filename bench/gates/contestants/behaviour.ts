import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Contestant } from '../contestant.ts';
import { hasOption, installOwn, makeWorkspace, runBehaviour, workspace } from '../own.ts';

const base = 'base';

export const contestant: Contestant = {
  title: 'mcp-eval-ci `behaviour: base` and `surface: base`, without evals',
  kind: 'own',
  kept: [base, workspace],
  async install() {
    if (await hasOption('run', '--behaviour')) return await installOwn();
    return { missing: 'the command of this commit has no option `--behaviour`' };
  },
  async prepare({ project, start }) {
    // A base has a checkout of its own, with the same files.
    const checkout = join(project, base);
    await mkdir(checkout);
    for (const part of ['server', 'files', 'home', 'tmp']) {
      await cp(join(project, part), join(checkout, part), { recursive: true, verbatimSymlinks: true });
    }
    const script = await readFile(start, 'utf8');
    await writeFile(join(checkout, 'start'), script.replaceAll(project, checkout), { mode: 0o755 });
    await makeWorkspace(project);
  },
  check: async (gate) => await runBehaviour(gate, join(gate.project, base)),
  countLines: async () => await Promise.resolve(0),
};
