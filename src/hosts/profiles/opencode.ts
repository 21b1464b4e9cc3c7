import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '1.18.33', date: '2026-11-24' } as const;

const measuredAgain = { ...measured, date: '2026-11-26' } as const;

export const opencode: HostProfile = {
  id: 'opencode',
  title: 'opencode',
  names: {
    value: { pattern: '{server}_{tool}', namespace: null, kept: 'A-Za-z0-9_-', limit: null, long: 'kept' },
    basis: measured,
  },
  tools: {
    deferral: { value: { kind: 'none' }, basis: measured },
    forApps: { value: 'shown', basis: measured },
  },
  description: { value: { limit: null }, basis: measured },
  instructions: { value: { shown: 'system-prompt', limit: null }, basis: measured },
  schemas: {
    changes: { value: [{ kind: 'closed' }], basis: measured },
    refused: { value: { shape: 'property-true', drops: 'server' }, basis: measured },
  },
  arguments: { value: 'passed-on', basis: measured },
  timeout: { value: 60, basis: measuredAgain },
  results: {
    structured: { value: 'text', basis: measured },
    structuredAlone: { value: 'json', basis: measured },
    error: { value: 'unmarked', basis: measured },
    image: { value: 'message', basis: measured },
    resource: { value: 'text', basis: measured },
    link: { value: 'lost', basis: measured },
    audio: { value: 'lost', basis: measured },
    forUser: { value: 'shown', basis: measured },
    long: {
      value: { over: 51570, unit: 'characters', head: 0, tail: 0, rest: 'file', isError: false },
      basis: measuredAgain,
      note: 'A text of 50,790 characters was shown whole.',
    },
  },
};
