import type { HostProfile } from '../profile.ts';

const measured = { kind: 'measured', version: '0.61.0', date: '2026-11-24' } as const;

const measuredAgain = { ...measured, date: '2026-11-26' } as const;

export const geminiCli: HostProfile = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  names: {
    value: { pattern: 'mcp_{server}_{tool}', namespace: null, kept: 'A-Za-z0-9_.-', limit: 63, long: 'cut-middle' },
    basis: measuredAgain,
    note: 'Which characters a cut keeps was not recorded, so that the shown name is an estimate.',
  },
  tools: {
    deferral: { value: { kind: 'none' }, basis: measured },
    forApps: { value: 'shown', basis: measured },
  },
  description: { value: { limit: null }, basis: measured },
  instructions: { value: { shown: 'project-context', limit: null }, basis: measured },
  schemas: {
    changes: { value: [{ kind: 'parameter-added' }], basis: measured },
    refused: { value: { shape: 'property-true', drops: 'server' }, basis: measured },
  },
  arguments: { value: 'checked', basis: measured },
  timeout: { value: 600, basis: measured },
  results: {
    structured: { value: 'text', basis: measured },
    structuredAlone: { value: 'nothing', basis: measured },
    error: { value: 'marked', basis: measured },
    image: { value: 'message', basis: measuredAgain },
    resource: { value: 'text', basis: measured },
    link: { value: 'text', basis: measured },
    audio: { value: 'note', basis: measuredAgain },
    forUser: { value: 'shown', basis: measured },
    long: {
      value: { over: 40000, unit: 'characters', head: 8000, tail: 32000, rest: 'file', isError: false },
      basis: measuredAgain,
    },
  },
};
