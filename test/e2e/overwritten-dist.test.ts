import { cp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAction } from '../support/runner/run-action.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = resolve(import.meta.dirname, '../..');

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

async function runOverwriting(inputs: Record<string, string>) {
  await using action = await createWorkspace();
  for (const name of ['dist', 'action.yml']) {
    await cp(join(root, name), join(action.path, name), { recursive: true });
  }
  await using workspace = await createWorkspace({ 'policy.yaml': 'retryFailed: 1\n' });
  const server = join(root, 'test/support/servers/hostile-server.ts');
  const run = await runAction({
    workspace: workspace.path,
    actionDirectory: action.path,
    inputs: {
      'server-command': `node ${server} overwrite out.txt ${join(action.path, 'dist')}`,
      tests:
        '- title: right\n  steps:\n    - toolCall: check\n    - assert: { toolResultContains: "right" }\n- title: wrong\n  steps:\n    - toolCall: check\n    - assert: { toolResultContains: "wrong" }\n    - assert: { toolResultMatchesSchema: { required: [said] } }\n',
      'report-formats': 'html, ctrf, badge, otlp',
      'history-path': 'history.jsonl',
      policy: 'policy.yaml',
      ...inputs,
    },
  });
  const read = (file: string) => workspace.read(file).catch(() => '');
  const files = ['report.json', 'junit.xml', 'report.html', 'ctrf.json', 'badge.svg', 'traces.otlp.jsonl'];
  return {
    run,
    overwritten: Number(await read('out.txt')),
    code: await readFile(join(action.path, 'dist/stages.js'), 'utf8'),
    written: await Promise.all([...files.map((file) => join('mcp-eval-report', file)), 'history.jsonl'].map(read)),
  };
}

describe('a server that overwrites the action while it runs', () => {
  it.runIf(hasSandbox)('cannot write to it in a sandbox', async () => {
    const { code, overwritten, run } = await runOverwriting({ sandbox: 'auto' });
    expect(overwritten).toBe(0);
    expect(code).not.toContain('process.exit(0);\n');
    // The server of this test does not expect the refusal and crashes under both cases.
    expect(run).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed', passed: '0', failed: '2' } });
  });

  it('changes neither the verdict nor the reports without a sandbox', async () => {
    const { run, overwritten, code, written } = await runOverwriting({ sandbox: 'off' });
    expect(overwritten).toBeGreaterThan(10);
    expect(code).toBe('process.exit(0);\n');
    expect(run.exitCode).toBe(1);
    expect(run.outputs).toMatchObject({ verdict: 'failed', passed: '1', failed: '1' });
    expect(run.summary).toContain('right');
    expect(run.annotations.filter(({ level }) => level === 'warning')).toEqual([]);
    expect(written).not.toContain('');
  });
});
