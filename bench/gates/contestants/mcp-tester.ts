import type { Contestant } from '../contestant.ts';

const never = async () => await Promise.reject(new Error('It is not installed.'));

export const contestant: Contestant = {
  title: 'mcp-tester (Rust)',
  kind: 'peer',
  kept: [],
  install: async () =>
    await Promise.resolve({
      missing: 'not set up yet: it tests servers over HTTP, and its installation compiles for a quarter of an hour',
    }),
  prepare: never,
  check: never,
  countLines: async () => await Promise.resolve(0),
};
