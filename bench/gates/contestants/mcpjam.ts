import type { Contestant } from '../contestant.ts';

const never = async () => await Promise.reject(new Error('It is not installed.'));

export const contestant: Contestant = {
  title: '@mcpjam/cli, its local tests',
  kind: 'peer',
  kept: [],
  install: async () =>
    await Promise.resolve({
      missing: 'its only command, `evals run`, asks a model, for which the benchmark has no key',
    }),
  prepare: never,
  check: never,
  countLines: async () => await Promise.resolve(0),
};
