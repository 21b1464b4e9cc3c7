import type { Contestant } from '../contestant.ts';

const never = async () => await Promise.reject(new Error('It is not installed.'));

export const contestant: Contestant = {
  title: '@gleanwork/mcp-server-tester',
  kind: 'peer',
  kept: [],
  install: async () =>
    await Promise.resolve({ missing: 'it is a Playwright framework whose tests a person writes; not set up yet' }),
  prepare: never,
  check: never,
  countLines: async () => await Promise.resolve(0),
};
