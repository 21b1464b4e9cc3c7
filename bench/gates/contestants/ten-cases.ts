import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contestant } from '../contestant.ts';
import { installOwn, runEvals } from '../own.ts';

const servers = fileURLToPath(new URL('../servers', import.meta.url));
const file = 'ten-cases.evals.yaml';

export const contestant: Contestant = {
  title: 'Ten cases from the README, in mcp-eval-ci’s format',
  kind: 'person',
  kept: [file],
  install: installOwn,
  async prepare({ server, project }) {
    await cp(join(servers, server.name, file), join(project, file));
  },
  check: async (gate) => await runEvals(gate, { evals: file, surface: null }),
  async countLines({ name }) {
    const text = await readFile(join(servers, name, file), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#')).length;
  },
};
