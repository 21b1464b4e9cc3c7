import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '1.0.102', date: '2026-11-24' } as const;

const measuredAgain = { ...measured, date: '2026-11-26' } as const;

export const copilotCli: HostProfile = {
  id: 'copilot-cli',
  title: 'Copilot CLI',
  names: {
    value: { pattern: '{server}-{tool}', namespace: null, kept: 'A-Za-z0-9_-', limit: 64, long: 'cut-end' },
    basis: measuredAgain,
  },
  tools: {
    deferral: { value: { kind: 'none' }, basis: measured },
    forApps: { value: 'shown', basis: measured },
  },
  description: { value: { limit: null }, basis: measured },
  instructions: { value: { shown: 'never' }, basis: measured },
  schemas: {
    changes: {
      value: [
        {
          kind: 'keywords-described',
          keywords: [
            'minimum',
            'maximum',
            'exclusiveMinimum',
            'exclusiveMaximum',
            'minLength',
            'maxLength',
            'minItems',
            'maxItems',
            'pattern',
          ],
        },
      ],
      basis: measured,
      note: 'The words in the description were not recorded, so that the shown description is an estimate.',
    },
    refused: { value: null, basis: measured },
  },
  arguments: { value: 'passed-on', basis: measured },
  timeout: { value: 180, basis: measured },
  results: {
    structured: { value: 'both', basis: measured },
    structuredAlone: { value: 'json', basis: measured },
    error: { value: 'prefixed', basis: measured },
    image: { value: 'lost', basis: measured },
    resource: { value: 'text', basis: measured },
    link: { value: 'lost', basis: measured },
    audio: { value: 'lost', basis: measured },
    forUser: { value: 'shown', basis: measured },
    long: {
      value: { over: 21100, unit: 'characters', head: 500, tail: 0, rest: 'file', isError: false },
      basis: measuredAgain,
      note: 'A text of 20,320 characters was shown whole.',
    },
  },
};
