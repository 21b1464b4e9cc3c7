import type { Contestant } from '../contestant.ts';
import { findPeer, installPeer } from '../python-peers.ts';

const name = 'mcp-assert';

export const contestant: Contestant = {
  title: 'mcp-assert `init --include-writes`, `ci` and `snapshot`',
  kind: 'peer',
  kept: ['evals'],
  install: async () => await installPeer(name, ['mcp-assert==0.12.3']),
  async prepare(gate) {
    const options = ['--include-writes', '--server', gate.start, '--fixture', 'files'];
    await gate.run([findPeer(name), 'init', ...options, 'evals']);
  },
  async check(gate) {
    const options = ['--suite', 'evals', '--server', gate.start, '--fixture', 'files'];
    const runs = [
      await gate.run([findPeer(name), 'ci', ...options]),
      await gate.run([findPeer(name), 'snapshot', ...options]),
    ];
    const findings = runs.flatMap(
      ({ stdout }) => stdout.match(/^\s*(?:FAIL|CHANGED|DIFF|MISMATCH|MISSING)\s+.*$/gm) ?? [],
    );
    const stable = findings.map((line) => line.replaceAll(/\s+\d+ms$/g, '').trim());
    return { fails: runs.some(({ code }) => code !== 0), findings: stable };
  },
  countLines: async () => await Promise.resolve(0),
};
