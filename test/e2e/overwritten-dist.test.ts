import { cp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAction } from '../support/runner-harness/run-action.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = resolve(import.meta.dirname, '../..');

describe('a server that overwrites the action while it runs', () => {
  it('changes neither the verdict nor what is written of it', async () => {
    await using action = await createWorkspace();
    for (const name of ['dist', 'action.yml']) {
      await cp(join(root, name), join(action.path, name), { recursive: true });
    }
    await using workspace = await createWorkspace();
    const server = join(root, 'test/support/hostile-server.ts');
    const run = await runAction({
      workspace: workspace.path,
      actionDirectory: action.path,
      inputs: {
        'server-command': `node ${server} overwrite out.txt ${join(action.path, 'dist')}`,
        tests:
          '- title: right\n  steps:\n    - toolCall: check\n    - assert: { toolResultContains: "right" }\n- title: wrong\n  steps:\n    - toolCall: check\n    - assert: { toolResultContains: "wrong" }\n    - assert: { toolResultSchema: { required: [said] } }\n',
        'report-formats': 'html, ctrf, badge, otlp',
        'history-path': 'history.jsonl',
        'retry-failed': '1',
      },
    });
    expect(Number(await workspace.read('out.txt'))).toBeGreaterThan(10);
    const code = await readFile(join(action.path, 'dist/gate.js'), 'utf8');
    expect(code).toBe('process.exit(0);\n');
    expect(run.exitCode).toBe(1);
    expect(run.outputs).toMatchObject({ verdict: 'failed', passed: '1', failed: '1' });
    expect(run.summary).toContain('right');
    expect(run.annotations.filter(({ level }) => level === 'warning')).toEqual([]);
    for (const file of ['report.json', 'junit.xml', 'report.html', 'ctrf.json', 'badge.svg', 'traces.otlp.jsonl']) {
      expect(await workspace.read(join('mcp-eval-report', file))).not.toBe('');
    }
    expect(await workspace.read('history.jsonl')).not.toBe('');
  });
});
