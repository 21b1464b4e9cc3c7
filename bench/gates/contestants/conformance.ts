import type { Contestant } from '../contestant.ts';

const never = async () => await Promise.reject(new Error('It is not installed.'));

export const contestant: Contestant = {
  title: '@modelcontextprotocol/conformance, made for the protocol',
  kind: 'protocol',
  kept: [],
  install: async () =>
    await Promise.resolve({
      missing: 'it tests servers over HTTP; the servers here speak stdio, and no bridge is set up yet',
    }),
  prepare: never,
  check: never,
  countLines: async () => await Promise.resolve(0),
};
