import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAction } from '../support/runner/run-action.ts';
import { stdioServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
/** Texts of the lazy parts: of what holds conversations with models, of the library for providers, and of each wire format. */
const marks = {
  conversations: 'The connections to the providers of models were closed.',
  providers: 'AI_APICallError',
  anthropic: 'anthropic-version',
  compatible: 'supportsStructuredOutputs',
};

/** Finds the files of dist that contain a text. */
async function findFiles(mark: string): Promise<string[]> {
  const names = (await readdir(join(root, 'dist'))).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(names.map((name) => readFile(join(root, 'dist', name), 'utf8')));
  return names.filter((_, index) => texts[index]?.includes(mark));
}

/** Runs the action from a copy of dist without the part for models. */
async function runWithoutModels(steps: string) {
  await using action = await createWorkspace();
  for (const name of ['dist', 'action.yml']) {
    await cp(join(root, name), join(action.path, name), { recursive: true });
  }
  const chunks = await Promise.all(Object.values(marks).map(findFiles));
  for (const chunk of chunks.flat()) await rm(join(action.path, 'dist', chunk));
  await using workspace = await createWorkspace();
  return await runAction({
    workspace: workspace.path,
    actionDirectory: action.path,
    inputs: {
      'server-command': `node ${stdioServerPath}`,
      'report-formats': 'html, ctrf, iterations, otlp',
      tests: `- title: works\n  model: anthropic/claude-haiku-4.5\n  steps:\n${steps}`,
    },
  });
}

describe('the part of the action for models', () => {
  it('is not needed by a gate without prompts, and by one with a prompt', async () => {
    const pinned = await runWithoutModels('    - toolCall: argv\n');
    expect(pinned).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed', passed: '1' } });
    const prompted = await runWithoutModels('    - prompt: Hello\n');
    expect(prompted.exitCode).not.toBe(0);
    expect(prompted.outputs['verdict']).not.toBe('passed');
  });

  it.each(Object.entries(marks))('has a file of its own for %s', async (_, mark) => {
    expect(await findFiles(mark)).toEqual([expect.stringMatching(/^\d+\.stages\.js$/)]);
  });

  it('has one file more for each wire format', async () => {
    const files = await Promise.all([marks.providers, marks.anthropic, marks.compatible].map(findFiles));
    expect(new Set(files.flat()).size).toBe(3);
  });
});
