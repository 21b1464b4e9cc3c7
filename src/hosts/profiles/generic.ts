import type { HostProfile } from '../profile.ts';

const documented = { kind: 'sourced', version: '0.1.0', date: '2026-11-26', source: 'docs/models.md' } as const;

/** The host of prompts in evals files: what the gate itself shows a model. */
export const generic: HostProfile = {
  id: 'generic',
  title: 'Prompts of evals files',
  names: {
    value: { pattern: '{tool}', namespace: null, kept: 'A-Za-z0-9_-', limit: 64, long: 'hash' },
    basis: documented,
  },
  tools: {
    deferral: { value: { kind: 'none' }, basis: documented },
    forApps: { value: 'hidden', basis: documented },
  },
  description: { value: { limit: null }, basis: documented },
  instructions: { value: { shown: 'system-prompt', limit: null }, basis: documented },
  schemas: {
    changes: { value: [], basis: documented },
    refused: { value: null, basis: documented },
  },
  arguments: { value: 'checked', basis: documented },
  results: {
    structured: { value: 'both', basis: documented, note: 'Structured content that repeats the text is left out.' },
    structuredAlone: { value: 'json', basis: documented },
    error: { value: 'marked', basis: documented },
    image: { value: 'shown', basis: documented },
    resource: { value: 'text', basis: documented },
    link: { value: 'json', basis: documented },
    audio: { value: 'note', basis: documented },
    long: { value: null, basis: documented },
  },
};
