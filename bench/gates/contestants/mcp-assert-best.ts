import type { Contestant } from '../contestant.ts';
import { findPeer, installPeer } from '../python-peers.ts';

const name = 'mcp-assert';
const suite = 'evals';
const baseline = 'evals/baseline.json';

export const contestant: Contestant = {
  title: 'mcp-assert `generate --include-writes`, `ci --fail-on-regression` and `snapshot`',
  kind: 'peer',
  kept: [suite],
  install: async () => await installPeer(name, ['mcp-assert==0.12.3']),
  async prepare(gate) {
    const options = ['--server', gate.start, '--fixture', 'files'];
    await gate.run([findPeer(name), 'generate', '--include-writes', '--output', suite, ...options]);
    await gate.run([findPeer(name), 'snapshot', '--update', '--suite', suite, ...options]);
    await gate.run([findPeer(name), 'ci', '--suite', suite, ...options, '--save-baseline', baseline]);
  },
  async check(gate) {
    const options = ['--suite', suite, '--server', gate.start, '--fixture', 'files'];
    // What failed on the base is no regression.
    const regression = ['--threshold', '0', '--baseline', baseline, '--fail-on-regression'];
    const runs = [
      // In the order of the preparation, since calls may write.
      await gate.run([findPeer(name), 'snapshot', ...options]),
      await gate.run([findPeer(name), 'ci', ...options, ...regression]),
    ];
    const findings = runs.flatMap(
      ({ stdout }) => stdout.match(/^\s*(?:FAIL|CHANGED|DIFF|MISMATCH|MISSING)\s+.*$/gm) ?? [],
    );
    const stable = findings.map((line) => line.replaceAll(/\s+\d+ms$/g, '').trim());
    return { fails: runs.some(({ code }) => code !== 0), findings: stable };
  },
  countLines: async () => await Promise.resolve(0),
};
