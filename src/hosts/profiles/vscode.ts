import type { HostProfile } from '../profile.ts';

const documented = {
  kind: 'sourced',
  version: null,
  date: '2026-11-24',
  source: 'https://code.visualstudio.com/docs/copilot/agents/agent-tools',
} as const;

const reported = {
  kind: 'sourced',
  version: null,
  date: '2026-11-24',
  source: 'https://github.com/microsoft/foundry-dev-tools/issues/201',
} as const;

export const vscode: HostProfile = {
  id: 'vscode',
  title: 'VS Code',
  names: {
    value: { pattern: '{tool}', namespace: null, kept: null, limit: 64, long: 'refused' },
    basis: reported,
    note: 'The provider refuses a longer name. The prefix that a model is shown is not known.',
  },
  tools: { limit: { value: 128, basis: documented } },
  schemas: {},
  results: {},
};
