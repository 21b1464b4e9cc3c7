import type { Contestant } from '../contestant.ts';
import { findPeer, installPeer } from '../python-peers.ts';

const name = 'mcp-assert';

export const contestant: Contestant = {
  title: 'mcp-assert `init`, `ci`',
  kind: 'peer',
  kept: ['evals'],
  install: async () => await installPeer(name, ['mcp-assert==0.12.3']),
  async prepare(gate) {
    await gate.run([findPeer(name), 'init', '--server', gate.start, '--fixture', 'files', 'evals']);
  },
  async check(gate) {
    const args = ['ci', '--suite', 'evals', '--server', gate.start, '--fixture', 'files'];
    const { code, stdout } = await gate.run([findPeer(name), ...args]);
    const failed = stdout.match(/^FAIL\s+(.*?)\s{2,}/gm) ?? [];
    return { fails: code !== 0, findings: failed.map((line) => line.trim()) };
  },
  countLines: async () => await Promise.resolve(0),
};
