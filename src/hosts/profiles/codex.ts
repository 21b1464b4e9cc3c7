import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '0.171.0', date: '2026-11-27' } as const;

export const codex: HostProfile = {
  id: 'codex',
  title: 'Codex',
  names: {
    value: {
      pattern: '{tool}',
      namespace: 'mcp__{server}',
      kept: 'A-Za-z0-9_',
      limit: 128,
      counted: 'mcp__{server}__{tool}',
      long: 'hash',
    },
    basis: measured,
    note: 'The limit counts the namespace. The hash has another form than the one that is shown here.',
  },
  tools: {
    deferral: {
      value: { kind: 'by-model' },
      basis: measured,
      note: 'A model that Codex does not know is shown all tools; gpt-5.5 searches them, and gpt-5.6-sol calls them from a program.',
    },
    forApps: { value: 'hidden', basis: measured },
  },
  description: { value: { limit: null }, basis: measured },
  instructions: {
    value: { shown: 'namespace', limit: 250 },
    basis: measured,
    note: 'The limit applies to models that Codex knows.',
    models: 'models that Codex knows',
  },
  schemas: {
    changes: {
      value: [
        {
          kind: 'keywords-dropped',
          keywords: [
            'minimum',
            'maximum',
            'exclusiveMinimum',
            'exclusiveMaximum',
            'minLength',
            'maxLength',
            'maxItems',
            'pattern',
            'default',
            'examples',
          ],
        },
      ],
      basis: measured,
    },
    refused: { value: null, basis: measured },
  },
  arguments: { value: 'passed-on', basis: measured },
  timeout: { value: 300, basis: measured },
  results: {
    structured: { value: 'structured', basis: measured },
    structuredImage: { value: 'lost', basis: measured },
    structuredAlone: { value: 'json', basis: measured },
    error: { value: 'unmarked', basis: measured },
    image: { value: 'shown', basis: measured },
    resource: { value: 'json', basis: measured },
    link: { value: 'json', basis: measured },
    audio: { value: 'note', basis: measured },
    forUser: { value: 'shown', basis: measured },
    long: {
      value: { over: 12000, unit: 'characters', head: 6000, tail: 6000, rest: 'dropped', isError: false },
      basis: measured,
      note: 'The model is shown 12,000 characters of head and tail; their shares are an estimate.',
    },
  },
};
