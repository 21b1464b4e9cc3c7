import type { HostProfile } from '../profile.ts';

const reported = {
  kind: 'sourced',
  version: null,
  date: '2026-11-24',
  source: 'https://github.com/idosal/git-mcp/issues/163',
} as const;

export const cursor: HostProfile = {
  id: 'cursor',
  title: 'Cursor',
  names: {
    value: {
      pattern: '{tool}',
      namespace: null,
      kept: null,
      limit: 60,
      counted: '{server}{tool}',
      long: 'tool-dropped',
    },
    basis: reported,
    note: 'The limit applies to the names of server and tool together. The name that a model is shown is not known.',
  },
  tools: {},
  schemas: {},
  results: {},
};
