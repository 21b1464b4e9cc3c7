import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { renderHostCatalog, renderHostIds } from '../../scripts/host-catalog.ts';
import { hostProfiles } from '../../src/hosts/catalog.ts';
import { hostProfileSchema, listFacts } from '../../src/hosts/profile.ts';

const source = new URL('../../src/hosts/', import.meta.url);
const find = (id: string) => {
  const profile = hostProfiles.find((each) => each.id === id);
  if (profile === undefined) throw new Error(`There is no profile ${id}.`);
  return profile;
};

describe('the profiles of hosts', () => {
  it.each(hostProfiles.map((profile) => [profile.id, profile] as const))('%s keeps to the schema', (_, profile) => {
    expect(hostProfileSchema.parse(profile)).toEqual(profile);
  });

  it.each([
    ['a fact without a basis', { description: { value: { limit: 10 } } }],
    ['a measured fact without a version', { timeout: { value: 1, basis: { kind: 'measured', date: '2026-11-24' } } }],
    [
      'a sourced fact without a source',
      { timeout: { value: 1, basis: { kind: 'sourced', version: null, date: '2026-11-24' } } },
    ],
    [
      'a day that does not exist',
      { timeout: { value: 1, basis: { kind: 'measured', version: '1', date: '2026-02-30' } } },
    ],
    ['a field that no profile has', { prompts: {} }],
    [
      'a name without the tool',
      { names: { ...find('goose').names, value: { ...find('goose').names.value, pattern: '{server}' } } },
    ],
  ])('the schema refuses %s', (_, part) => {
    expect(hostProfileSchema.safeParse({ ...find('goose'), ...part }).success).toBe(false);
  });

  it('are all in the catalog, which lists each file of the folder', async () => {
    const catalog = await readFile(new URL('catalog.ts', source), 'utf8');
    expect(catalog).toBe(await renderHostCatalog(new URL('profiles/', source)));
    const ids = await readFile(new URL('../model/host-ids.ts', source), 'utf8');
    expect(ids).toBe(await renderHostIds(new URL('profiles/', source)));
    expect(hostProfiles.map(({ id }) => id)).toEqual([
      'claude-code',
      'codex',
      'copilot-cli',
      'cursor',
      'gemini-cli',
      'generic',
      'goose',
      'opencode',
      'qwen-code',
      'vscode',
    ]);
  });

  it('hold no code, only values of JSON', () => {
    expect(JSON.parse(JSON.stringify(hostProfiles))).toEqual(hostProfiles);
  });

  it('have facts with paths, in groups and alone', () => {
    const paths = listFacts(find('claude-code')).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['names', 'tools.deferral', 'schemas.changes', 'results.long']));
    expect(listFacts(find('vscode')).map(({ path }) => path)).toEqual(['names', 'tools.limit']);
  });

  it('say of one version only what was measured with it', () => {
    for (const profile of hostProfiles) {
      const bases = listFacts(profile).map(({ fact }) => fact.basis);
      const versions = new Set(bases.filter(({ kind }) => kind === 'measured').map(({ version }) => version));
      const count = profile.names.basis.kind === 'measured' ? 1 : 0;
      expect({ id: profile.id, count: versions.size }).toEqual({ id: profile.id, count });
    }
  });
});
