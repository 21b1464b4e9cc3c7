import { describe, expect, it } from 'vitest';
import type { Suite } from '../../src/cases/suite.ts';
import { compileSuite } from '../../src/suite/compile.ts';
import { hashDefinition } from '../../src/suite/definition-hash.ts';
import { loadSuites } from '../../src/suite/load.ts';
import { contract } from '../../src/suite/dialect.ts';
import { readSuite } from '../../src/suite/read.ts';
import { selectCases } from '../../src/suite/select.ts';
import { createWorkspace } from '../support/workspace.ts';

const asks = { title: 'Asks', steps: [{ prompt: 'What is 2 + 3?' }] };
const calls = { title: 'Calls', steps: [{ toolCall: 'get-sum' }] };

function read(fields: Record<string, unknown>, cases: unknown[] = [asks, calls]): Suite {
  const { suite, findings } = readSuite(JSON.stringify({ suite: 'Sums', ...fields, cases }), { file: 'a.evals.yaml' });
  expect(findings).toEqual([]);
  if (suite === null) throw new Error('The suite was not read.');
  return suite;
}

function findMessages(fields: Record<string, unknown>): string[] {
  const text = JSON.stringify({ suite: 'Sums', cases: [asks], ...fields });
  return readSuite(text, { file: 'a.evals.yaml' }).findings.map(({ code, message }) => `${code}: ${message}`);
}

describe('the models of a suite', () => {
  it('are those of the cases with prompts', () => {
    const { cases } = read({ model: 'anthropic/one' });
    expect(cases.map(({ id, model }) => [id, model])).toEqual([
      ['asks', 'anthropic/one'],
      ['calls', null],
    ]);
    const [own] = read({ model: 'anthropic/one' }, [{ ...asks, model: 'openai/two' }]).cases;
    expect(own?.model).toBe('openai/two');
    expect(read({}).cases[0]?.model).toBeNull();
  });

  it('make a case of its own of each case with a prompt and each model', () => {
    const { cases } = read({ models: ['anthropic/claude-haiku-4.5', 'openai/gpt-5'] });
    expect(cases.map(({ id, title, model, variantOf }) => [id, title, model, variantOf[0]?.id])).toEqual([
      ['asks--anthropic-claude-haiku-4-5', 'Asks (anthropic/claude-haiku-4.5)', 'anthropic/claude-haiku-4.5', 'asks'],
      ['asks--openai-gpt-5', 'Asks (openai/gpt-5)', 'openai/gpt-5', 'asks'],
      ['calls', 'Calls', null, undefined],
    ]);
    const longId = { ...asks, id: 'a'.repeat(128) };
    const ids = read({ models: ['a/b', `c/${'d'.repeat(100)}`] }, [longId]).cases.map(({ id }) => id);
    expect(ids.map(({ length }) => length)).toEqual([127, 127]);
  });

  it('are selected by the name of the case, or one by one', () => {
    const suite = read({ models: ['a/one', 'a/two'] });
    const select = (name: string) => {
      const { suites, issues } = selectCases([suite], { cases: [name], tags: [], runs: null });
      return { ids: suites[0]?.cases.map(({ id }) => id), codes: issues.map(({ code }) => code) };
    };
    expect(select('asks')).toEqual({ ids: ['asks--a-one', 'asks--a-two'], codes: [] });
    expect(select('Asks')).toEqual({ ids: ['asks--a-one', 'asks--a-two'], codes: [] });
    expect(select('asks--a-two')).toEqual({ ids: ['asks--a-two'], codes: [] });
    expect(select('ask')).toEqual({ ids: undefined, codes: ['unknown-case'] });
  });

  it('change the definition of a case, as its settings do', () => {
    const hash = (fields: Record<string, unknown>) => {
      const suite = read(fields, [asks]);
      return suite.cases.map((testCase) => hashDefinition(testCase, suite)).join(' ');
    };
    const base = hash({ model: 'a/one' });
    expect(hash({ model: 'a/one', maxSteps: 3 })).not.toBe(base);
    expect(hash({ model: 'a/one', system: 'Add.' })).not.toBe(base);
    expect(hash({ model: 'a/two' })).not.toBe(base);
    expect(hash({ model: 'a/one' })).toBe(base);
  });

  it.each([
    [{ model: 'one' }, 'bad-model: "one" is not a model; write `provider/name`'],
    [{ models: ['a/b', 'a/b'] }, 'duplicate-model: A model is named twice; name each once'],
    [{ model: 'a/b', models: ['a/c'] }, 'model-and-models: Both `model` and `models` are given; write one of them'],
    [{ model: 'a/b', toolPolicy: { dney: ['x'] } }, 'unknown-key: Unknown key `dney`; did you mean `deny`?'],
    [
      { recordings: { ignore: ['('] } },
      'bad-ignore-pattern: The pattern "(" is no RE2 regular expression: error parsing regexp: missing closing ): `(`',
    ],
  ])('are refused where they make no sense: %j', (fields, message) => {
    expect(findMessages(fields)).toEqual([message]);
  });
});

describe('the settings of a model', () => {
  const settings = { system: 'Add.', temperature: 0, maxSteps: 3, maxResultTokens: 900, toolPolicy: { deny: ['x'] } };

  it('are layered key by key, and compiled for cases with prompts', () => {
    const suite = read({ model: 'a/one', ...settings, decoys: [{ name: 'y' }] }, [{ ...asks, maxSteps: 5 }, calls]);
    const [asking, calling] = compileSuite(suite, { dialect: 'embedded' });
    expect(asking).toMatchObject({
      model: 'a/one',
      provider: 'a',
      advancedConfig: { ...settings, maxSteps: 5, decoys: [{ name: 'y' }] },
    });
    expect(calling?.advancedConfig).toEqual({ timeoutMs: 60_000 });
  });

  const parameters = { reasoningEffort: 'low', maxOutputTokens: 700, topP: 0.9, seed: 7 };

  it('have the parameters of calls together, key by key', () => {
    const suite = read({ model: 'a/one', ...parameters, modelTimeout: '90s' }, [{ ...asks, seed: 8 }, calls]);
    const [asking, calling] = compileSuite(suite, { dialect: 'embedded' });
    expect(asking?.advancedConfig).toEqual({
      timeoutMs: 60_000,
      modelParameters: { ...parameters, seed: 8 },
      modelTimeoutMs: 90_000,
    });
    expect(calling?.advancedConfig).toEqual({ timeoutMs: 60_000 });
    expect(suite.cases[0]?.modelSettings.ownSetting?.key).toBe('reasoningEffort');
  });

  it.each([
    ['reasoningEffort', 'huge'],
    ['maxOutputTokens', 0],
    ['topP', 2],
    ['seed', 0.5],
    ['modelTimeout', '0s'],
  ])('refuse %s: %j', (key, value) => {
    const text = JSON.stringify({ suite: 'Sums', model: 'a/one', [key]: value, cases: [asks] });
    expect(readSuite(text, { file: 'a' }).findings).toHaveLength(1);
  });

  it('are left out for a service that has no field for them', () => {
    const suite = read({ model: 'a/one', ...settings }, [asks]);
    const [asking] = compileSuite(suite, { dialect: contract });
    expect(asking?.advancedConfig).toEqual({ system: 'Add.', temperature: 0 });
    expect(suite.cases[0]?.modelSettings.ownSetting?.key).toBe('maxSteps');
  });
});

describe('decoys in a file', () => {
  const evals = JSON.stringify({ suite: 'Sums', model: 'a/one', decoys: 'decoys.json', cases: [asks] });

  it('are read from next to the evals file', async () => {
    await using workspace = await createWorkspace({
      'evals/a.evals.yaml': evals,
      'evals/decoys.json': JSON.stringify([{ name: 'send-mail', inputSchema: { type: 'object' } }]),
    });
    const { suites, findings } = await loadSuites(['evals/*.evals.yaml'], { cwd: workspace.path });
    expect(findings).toEqual([]);
    expect(suites[0]?.cases[0]?.modelSettings.decoys).toEqual([{ name: 'send-mail', inputSchema: { type: 'object' } }]);
  });

  it.each([
    [{}, 'The decoys in evals/decoys.json cannot be read: ENOENT'],
    [{ 'evals/decoys.json': '{"name": 1}' }, 'The file must be a list, not a mapping'],
    [{ 'evals/decoys.json': '[{"nam": "a"}]' }, 'Unknown key `nam`; did you mean `name`?'],
  ])('are refused with their location where they cannot be used', async (files, message) => {
    await using workspace = await createWorkspace({ 'evals/a.evals.yaml': evals, ...files });
    const { findings } = await loadSuites(['evals/*.evals.yaml'], { cwd: workspace.path });
    expect(findings.map((finding) => finding.message).join('\n')).toContain(message);
    expect(findings[0]?.file).toMatch(/^evals\//);
  });
});
