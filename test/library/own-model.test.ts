import type { LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { runGate } from '../../src/library/functions.ts';
import { defineModel } from '../../src/library/own-model.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const createModel = (name: string, doGenerate: LanguageModelV4['doGenerate']) =>
  defineModel({
    name: `mine/${name}`,
    model: {
      specificationVersion: 'v4',
      provider: 'mine',
      modelId: name,
      supportedUrls: {},
      doGenerate,
      doStream: () => Promise.reject(new Error('unused')),
    },
  });

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

describe("models of one's own", () => {
  it('answer the cases that name them, and one that throws leaves its case without a result', async () => {
    await using workspace = await createWorkspace({});
    const report = await runGate({
      serverCommand: plainServerCommand,
      cwd: workspace.path,
      env: {},
      models: [
        createModel('parrot', () =>
          Promise.resolve({
            content: [{ type: 'text', text: 'polly' }],
            finishReason: { unified: 'stop', raw: 'stop' },
            usage,
            warnings: [],
          }),
        ),
        createModel('broken', () => Promise.reject(new Error('no weights'))),
      ],
      tests: ['parrot', 'broken'].map((name) => ({
        title: name,
        model: `mine/${name}`,
        steps: [{ prompt: 'Speak.' }, { assert: { responseContains: 'polly' } }],
      })),
    });
    const results = report.cases.map(({ title, outcome, failures }) => [title, outcome, failures[0]?.reasons[0]]);
    expect(results).toEqual([
      ['broken', 'inconclusive', expect.stringContaining('mine/broken failed: no weights')],
      ['parrot', 'passed', undefined],
    ]);
  });

  it('are refused before anything starts if they are none', async () => {
    const gate = { serverCommand: plainServerCommand, evals: 'x', models: [{ name: 'parrot', model: {} }] };
    await expect(runGate(gate as object)).rejects.toThrow('give a list of models that `defineModel` made');
  });
});
