import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '0.24.4', date: '2026-11-24' } as const;

const measuredAgain = { ...measured, date: '2026-11-26' } as const;

export const qwenCode: HostProfile = {
  id: 'qwen-code',
  title: 'Qwen Code',
  names: {
    value: { pattern: 'mcp__{server}__{tool}', namespace: null, kept: 'A-Za-z0-9_-', limit: 63, long: 'hash' },
    basis: measuredAgain,
    note: 'The form of the hash was not recorded, so that the shown name is an estimate.',
  },
  tools: {
    deferral: {
      value: { kind: 'search', characters: 160 },
      basis: measured,
      note: 'The number of characters is approximate.',
    },
    search: {
      value: { name: 'tool_search', callName: 'tool_call', most: 5 },
      basis: {
        kind: 'sourced',
        version: '0.24.4',
        date: '2026-11-26',
        source: 'The code of the package @qwen-code/qwen-code',
      },
      note: 'A model can ask for up to 20 tools.',
    },
    forApps: { value: 'hidden', basis: measured },
  },
  description: { value: { limit: null }, basis: measured, note: 'Whole after the search.' },
  instructions: { value: { shown: 'reminder', limit: null }, basis: measured },
  schemas: {
    changes: { value: [], basis: measured },
    refused: { value: null, basis: measured },
  },
  arguments: { value: 'checked', basis: measured },
  timeout: { value: 300, basis: measuredAgain },
  results: {
    structured: { value: 'both', basis: measured },
    structuredAlone: { value: 'json', basis: measured },
    error: { value: 'marked', basis: measured },
    image: { value: 'note', basis: measured },
    resource: { value: 'text', basis: measured },
    link: { value: 'text', basis: measured },
    audio: { value: 'note', basis: measured },
    forUser: { value: 'shown', basis: measured },
    long: {
      value: { over: 28130, unit: 'characters', head: 2000, tail: 0, rest: 'file', isError: false },
      basis: measuredAgain,
      note: 'A text of 27,350 characters was shown whole.',
    },
  },
};
