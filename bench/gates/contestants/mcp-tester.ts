import type { Contestant } from '../contestant.ts';

const never = async () => await Promise.reject(new Error('It is not installed.'));

export const contestant: Contestant = {
  title: 'mcp-tester (Rust)',
  kind: 'peer',
  kept: [],
  install: async () =>
    await Promise.resolve({
      missing:
        'cargo install takes longer than this run allows; it tests servers over HTTP, and needs a gateway for stdio',
    }),
  prepare: never,
  check: never,
  countLines: async () => await Promise.resolve(0),
};
