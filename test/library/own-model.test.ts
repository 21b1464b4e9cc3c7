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

  it('decide nothing by nonsense or silence, and may count no tokens', async () => {
    await using workspace = await createWorkspace({});
    const answer = { finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] };
    const say = [{ type: 'text', text: 'polly' }];
    const answers = {
      'counts-nothing': { ...answer, content: say, usage: { inputTokens: {}, outputTokens: {} } },
      'has-no-usage': { ...answer, content: say, usage: undefined },
      'is-nothing': null,
      'is-text': 'polly',
      'has-no-content': answer,
      'has-odd-content': { ...answer, content: [5, { type: 'text' }, null] },
    };
    const models = [
      ...Object.entries(answers).map(([name, value]) =>
        createModel(name, () => Promise.resolve(JSON.parse(JSON.stringify(value)))),
      ),
      createModel('hangs', () => new Promise(() => {})),
      createModel('throws-text', () => {
        // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- a model may throw anything
        throw 'no weights';
      }),
    ];
    const report = await runGate({
      serverCommand: plainServerCommand,
      cwd: workspace.path,
      env: {},
      modelTimeout: 1000,
      models,
      tests: models.map(({ name }) => ({
        title: name.slice(5),
        model: name,
        steps: [{ prompt: 'Speak.' }, { assert: { responseContains: 'polly' } }],
      })),
    });
    const results = report.cases.map(({ title, outcome, failures }) => [title, outcome, failures[0]?.reasons[0]]);
    expect(Object.fromEntries(results.map(([title, ...rest]) => [title, rest]))).toMatchInlineSnapshot(`
      {
        "counts-nothing": [
          "passed",
          undefined,
        ],
        "hangs": [
          "inconclusive",
          "mine/hangs failed: mine/hangs took longer than 1 s.",
        ],
        "has-no-content": [
          "inconclusive",
          "mine/has-no-content failed: its answer is none of the specification v4 (\`content\`: Invalid input: expected array, received undefined)",
        ],
        "has-no-usage": [
          "passed",
          undefined,
        ],
        "has-odd-content": [
          "inconclusive",
          "mine/has-odd-content failed: its answer is none of the specification v4 (\`content.0\`: Invalid input: expected object, received number)",
        ],
        "is-nothing": [
          "inconclusive",
          "mine/is-nothing failed: its answer is none of the specification v4 (Invalid input: expected object, received null)",
        ],
        "is-text": [
          "inconclusive",
          "mine/is-text failed: its answer is none of the specification v4 (Invalid input: expected object, received string)",
        ],
        "throws-text": [
          "inconclusive",
          "mine/throws-text failed: no weights",
        ],
      }
    `);
  });

  it('are refused before anything starts if they are none', async () => {
    const gate = { serverCommand: plainServerCommand, evals: 'x', models: [{ name: 'parrot', model: {} }] };
    await expect(runGate(gate as object)).rejects.toThrow(
      'has an entry 1 that is an object; give models that `defineModel` made',
    );
  });
});
