import type { Contestant } from '../contestant.ts';
import { findPeer, installPeer } from '../python-peers.ts';

const name = 'mcp-vcr';

interface Verified {
  results?: ReadonlyArray<{ snapshot: string; status: string; message: string; diff: unknown }>;
}

export const contestant: Contestant = {
  title: 'mcp-vcr `generate`, `verify`',
  kind: 'peer',
  kept: ['snapshots'],
  // It needs Python 3.12.
  install: async () => await installPeer(name, ['mcp-vcr==0.2.2'], ['python3.14', 'python3.13', 'python3.12']),
  async prepare(gate) {
    const { code, stdout, stderr } = await gate.run([findPeer(name), 'generate', '--server', gate.start, '--yes']);
    if (code !== 0) throw new Error(`${stdout}${stderr}`.trim().split('\n').at(-1));
  },
  async check(gate) {
    const { code, stdout } = await gate.run([findPeer(name), 'verify', 'snapshots', '--json', '--', gate.start]);
    const { results = [] } = JSON.parse(stdout.slice(stdout.indexOf('{')) || '{}') as Verified;
    const failed = results.filter(({ status }) => status !== 'pass');
    return {
      fails: code !== 0,
      findings: failed.map(({ snapshot, message, diff }) => `${snapshot}: ${message} ${JSON.stringify(diff)}`),
    };
  },
  countLines: async () => await Promise.resolve(0),
};
