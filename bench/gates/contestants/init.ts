import type { Contestant } from '../contestant.ts';
import {
  installOwn,
  makeWorkspace,
  measureEvals,
  nameWorkspace,
  runEvals,
  runOwn,
  workspace,
  writeCommand,
} from '../own.ts';

export const contestant: Contestant = {
  title: 'mcp-eval-ci `init` (evals and surface)',
  kind: 'own',
  kept: ['evals', workspace],
  install: installOwn,
  async prepare(gate) {
    await makeWorkspace(gate.project);
    const server = `--server-command=${writeCommand(gate.start)}`;
    const files = `--workspace=${await nameWorkspace(gate.project)}`;
    // A busy machine must not cut what an idle one finds.
    const { code, stderr } = await runOwn(gate, ['init', server, files, '--time-limit=10m', '--yes', '--no-run']);
    if (code !== 0) throw new Error(stderr.trim().split('\n').at(-1) ?? 'nothing was written');
  },
  check: async (gate) => {
    const command = writeCommand(gate.start);
    return await runEvals(gate, { command, evals: 'evals/*.evals.yaml', surface: 'evals/surface.json' });
  },
  measureStrength: async (gate) =>
    await measureEvals(gate, { command: writeCommand(gate.start), evals: 'evals/*.evals.yaml' }),
  countLines: async () => await Promise.resolve(0),
};
