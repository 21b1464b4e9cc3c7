import { cp, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAction } from '../support/runner/run-action.ts';
import { stdioServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const chunks = ['models.js', 'models-anthropic.js', 'models-compatible.js'];

/** Runs the action from a copy of dist without the part for models. */
async function runWithoutModels(steps: string) {
  await using action = await createWorkspace();
  for (const name of ['dist', 'action.yml']) {
    await cp(join(root, name), join(action.path, name), { recursive: true });
  }
  for (const chunk of chunks) await rm(join(action.path, 'dist', chunk));
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

async function listStaticImports(chunk: string): Promise<string[]> {
  const text = await readFile(join(root, 'dist', chunk), 'utf8');
  return [...text.matchAll(/(?:\bfrom|\bimport)"\.\/([\w-]+\.js)"/g)].map((match) => match[1] ?? '');
}

describe('the part of the action for models', () => {
  it('is not needed by a gate without prompts, and by one with a prompt', async () => {
    const pinned = await runWithoutModels('    - toolCall: argv\n');
    expect(pinned).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed', passed: '1' } });
    const prompted = await runWithoutModels('    - prompt: Hello\n');
    expect(prompted.exitCode).not.toBe(0);
    expect(prompted.outputs['verdict']).not.toBe('passed');
  });

  it.each(['gate.js', 'run-local-backend.js', 'run-hosted-backend.js', 'engine.js', 'mcp.js', 'sinks.js'])(
    'is no static import of %s',
    async (chunk) => {
      const imports = await listStaticImports(chunk);
      expect(imports).not.toEqual([]);
      expect(imports.filter((name) => chunks.includes(name))).toEqual([]);
    },
  );

  it('is one chunk, and one more for each wire format', async () => {
    expect(await listStaticImports('models-anthropic.js')).toContain('models.js');
    expect(await listStaticImports('models-compatible.js')).toContain('models.js');
    expect(await listStaticImports('models.js')).not.toContain('models-anthropic.js');
  });
});
