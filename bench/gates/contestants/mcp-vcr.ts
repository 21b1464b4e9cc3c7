import type { Contestant } from '../contestant.ts';

const never = async () => await Promise.reject(new Error('It is not installed.'));

export const contestant: Contestant = {
  title: 'mcp-vcr',
  kind: 'peer',
  kept: [],
  install: async () => await Promise.resolve({ missing: 'neither npm nor PyPI has it' }),
  prepare: never,
  check: never,
  countLines: async () => await Promise.resolve(0),
};
