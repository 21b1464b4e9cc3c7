import type { Contestant } from '../contestant.ts';
import { installOwn, runOwn, runSurface } from '../own.ts';

const file = 'surface.json';

export const contestant: Contestant = {
  title: 'mcp-eval-ci `surface` alone',
  kind: 'own',
  kept: [file],
  install: installOwn,
  async prepare(gate) {
    await runOwn(gate, ['surface', `--server-command=${gate.start}`, `--file=${file}`, '--update']);
  },
  check: async (gate) => await runSurface(gate, file),
  countLines: async () => await Promise.resolve(0),
};
