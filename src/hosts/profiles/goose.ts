import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '1.34.0', date: '2026-11-24' } as const;

export const goose: HostProfile = {
  id: 'goose',
  title: 'goose',
  names: {
    value: { pattern: '{server}__{tool}', namespace: null, kept: null, limit: null, long: 'kept' },
    basis: measured,
    note: 'Names are passed on raw.',
  },
  tools: {
    deferral: { value: { kind: 'none' }, basis: measured },
    forApps: { value: 'hidden', basis: measured },
  },
  description: { value: { limit: null }, basis: measured },
  instructions: {
    value: { shown: 'with-tools', limit: null },
    basis: measured,
    note: 'Where the model is shown them was not recorded.',
  },
  schemas: {
    changes: { value: [], basis: measured },
    refused: { value: null, basis: measured },
  },
  arguments: { value: 'passed-on', basis: measured },
  timeout: { value: null, basis: measured, note: 'Each extension sets its own.' },
  results: {
    structured: { value: 'text', basis: measured },
    structuredAlone: { value: 'placeholder', basis: measured },
    error: { value: 'unmarked', basis: measured },
    resource: { value: 'text', basis: measured },
    link: { value: 'lost', basis: measured },
    audio: { value: 'lost', basis: measured },
    long: { value: null, basis: measured },
  },
};
