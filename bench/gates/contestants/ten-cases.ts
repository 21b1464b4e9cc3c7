import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contestant } from '../contestant.ts';
import { installOwn, makeWorkspace, measureEvals, runEvals } from '../own.ts';

const servers = fileURLToPath(new URL('../servers', import.meta.url));
const file = 'ten-cases.evals.yaml';
/** Cases name files as `files/…`, or relative to that directory. */
const tree = 'tree';

export const contestant: Contestant = {
  title: 'Ten cases from the README, in mcp-eval-ci’s format',
  kind: 'person',
  kept: [file, tree],
  install: installOwn,
  async prepare({ server, project }) {
    await cp(join(servers, server.name, file), join(project, file));
    await makeWorkspace(project, `${tree}/files`);
  },
  // The sandbox refuses to write into the checkout.
  check: async (gate) => {
    const command = `${gate.start} {{workspace}}/files`;
    return await runEvals(gate, { evals: file, surface: null, command, files: tree });
  },
  measureStrength: async (gate) =>
    await measureEvals(gate, { command: `${gate.start} {{workspace}}/files`, evals: file, files: tree }),
  async countLines({ name }) {
    const text = await readFile(join(servers, name, file), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#')).length;
  },
};
