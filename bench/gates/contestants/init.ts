import type { Contestant } from '../contestant.ts';
import { installOwn, runEvals, runOwn } from '../own.ts';

export const contestant: Contestant = {
  title: 'mcp-eval-ci `init` (evals and surface)',
  kind: 'own',
  kept: ['evals'],
  install: installOwn,
  async prepare(gate) {
    await runOwn(gate, ['init', `--server-command=${gate.start}`, '--yes', '--no-run']);
  },
  check: async (gate) => await runEvals(gate, { evals: 'evals/*.evals.yaml', surface: 'evals/surface.json' }),
  countLines: async () => await Promise.resolve(0),
};
