import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '1.52.0', date: '2026-11-27' } as const;

export const goose: HostProfile = {
  id: 'goose',
  title: 'goose',
  names: {
    value: { pattern: '{server}__{tool}', namespace: null, kept: null, limit: null, long: 'kept' },
    basis: measured,
    note: 'Names of tools are passed on raw; that of the server becomes lower case, without white space.',
  },
  tools: {
    deferral: { value: { kind: 'none' }, basis: measured },
    forApps: { value: 'hidden', basis: measured },
  },
  description: { value: { limit: null }, basis: measured },
  instructions: { value: { shown: 'system-prompt', limit: null }, basis: measured },
  schemas: {
    changes: { value: [], basis: measured },
    refused: { value: null, basis: measured },
  },
  arguments: { value: 'passed-on', basis: measured },
  timeout: { value: 300, basis: measured, note: 'Each extension can set its own.' },
  results: {
    structured: { value: 'text', basis: measured },
    structuredAlone: { value: 'placeholder', basis: measured },
    error: { value: 'unmarked', basis: measured },
    image: {
      value: 'message',
      basis: measured,
      note: 'Other models get a note.',
      models: 'models that goose knows to take images',
    },
    resource: { value: 'text', basis: measured },
    link: { value: 'lost', basis: measured },
    audio: { value: 'lost', basis: measured },
    forUser: { value: 'lost', basis: measured },
    long: { value: null, basis: measured },
  },
};
