import type { Contestant } from '../contestant.ts';
import { findPeer, installPeer } from '../python-peers.ts';

const name = 'mcp-fuzzer';

export const contestant: Contestant = {
  title: 'mcp-fuzzer, realistic phase of tools',
  kind: 'peer',
  kept: [],
  install: async () => await installPeer(name, ['mcp-fuzzer==0.7.0']),
  async prepare() {
    // It compares nothing with a base.
    await Promise.resolve();
  },
  async check(gate) {
    const target = ['--protocol', 'stdio', '--endpoint', gate.start];
    const amount = ['--mode', 'tools', '--phase', 'realistic', '--runs', '5', '--seed', '1'];
    const output = ['--output-dir', 'fuzzed', '--fs-root', 'fuzzed', '--no-corpus', '--log-level', 'ERROR'];
    const { code, stdout } = await gate.run([findPeer(name), ...amount, ...target, ...output]);
    // How many runs of a tool fail differs from run to run of the unchanged server, in spite of the seed.
    const failed = [...stdout.matchAll(/^\s*• (.*): \d+\/\d+ failed runs.*$/gm)];
    return { fails: code !== 0, findings: failed.map(([, tool = '']) => tool) };
  },
  countLines: async () => await Promise.resolve(0),
};
