import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '2.1.332', date: '2026-11-27' } as const;

export const claudeCode: HostProfile = {
  id: 'claude-code',
  title: 'Claude Code',
  names: {
    value: { pattern: 'mcp__{server}__{tool}', namespace: null, kept: 'A-Za-z0-9_-', limit: 128, long: 'tool-dropped' },
    basis: measured,
  },
  tools: {
    deferral: {
      value: { kind: 'search', characters: 0 },
      basis: measured,
      note: '`ENABLE_TOOL_SEARCH=false` and `--tools ""` show all tools at once.',
    },
    search: {
      value: { name: 'ToolSearch', callName: null, most: null },
      basis: {
        kind: 'sourced',
        version: null,
        date: '2026-11-26',
        source: 'https://dev.to/gentic_news/how-claude-codes-tool-search-saves-90-of-your-context-window-1j1f',
      },
    },
    forApps: { value: 'hidden', basis: measured },
  },
  description: { value: { limit: 4096 }, basis: measured, note: 'The description of a deferred tool is whole.' },
  instructions: { value: { shown: 'message', limit: 4096 }, basis: measured },
  schemas: {
    changes: { value: [], basis: measured },
    refused: { value: null, basis: measured },
  },
  arguments: { value: 'passed-on', basis: measured },
  timeout: { value: null, basis: measured, note: 'The timeout is long.' },
  results: {
    structured: { value: 'structured', basis: measured },
    structuredImage: { value: 'shown', basis: measured },
    structuredAlone: { value: 'json', basis: measured },
    error: { value: 'marked', basis: measured },
    image: { value: 'shown', basis: measured },
    resource: { value: 'text', basis: measured },
    link: { value: 'text', basis: measured },
    audio: { value: 'file', basis: measured },
    forUser: { value: 'shown', basis: measured },
    long: {
      value: { over: 50790, unit: 'characters', head: 1960, tail: 0, rest: 'file', isError: false },
      basis: measured,
      note: 'A text of 50,000 characters was shown whole. The model is shown the beginning of the result as JSON.',
    },
  },
};
