import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CancelledError } from '../../src/base/errors.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { filesystemServerPath, plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('a gate on server-filesystem with fixtures', () => {
  it('writes a file before each iteration and removes it after it, whatever the result', async () => {
    await using workspace = await createWorkspace({
      'files.evals.yaml': [
        'suite: Files',
        'setup:',
        `  - command: [sh, -c, 'echo "buy milk {{iteration}}" > list.txt && cat list.txt']`,
        '    capture: { line: /stdout }',
        'teardown:',
        '  - command: [rm, list.txt]',
        'cases:',
        '  - title: Reads the note',
        '    runs: 2',
        '    steps:',
        '      - { toolCall: read_text_file, arguments: { path: list.txt } }',
        '      - assert: { toolResultEquals: "{{line}}", path: /content }',
        '  - title: Reads another note',
        '    steps:',
        '      - { toolCall: read_text_file, arguments: { path: list.txt } }',
        '      - assert: { toolResultContains: eggs }',
        '  - title: Finds its table',
        '    setup: [{ command: [sh, -c, "echo no such table >&2; exit 3"] }]',
        '    steps: [{ toolCall: list_allowed_directories }]',
        '  - title: Cleans up',
        '    steps: [{ toolCall: list_allowed_directories }]',
        '    teardown: [{ command: [rm, nothing.txt] }]',
      ].join('\n'),
    });
    const { report, warnings } = await runEmbeddedGate(workspace, {
      'server-command': `${process.execPath} ${filesystemServerPath} ${workspace.path}`,
      isolation: 'iteration',
    });
    const results = report.results
      .flatMap(({ cases }) => cases)
      .map(({ title, passed, failed, planned }) => [title, passed, failed, planned]);
    expect(results).toEqual([
      ['Reads the note', 2, 0, 2],
      ['Reads another note', 0, 1, 1],
      ['Finds its table', 0, 0, 1],
      ['Cleans up', 1, 0, 1],
    ]);
    expect(report.verdict.outcome).toBe('failed');
    expect(JSON.stringify(report.verdict)).toContain('Setup failed in step \\"setup-2\\" (command)');
    expect(warnings).toEqual([
      expect.stringContaining(
        'Case "Cleans up": Teardown failed in step "teardown-1" (command): The command "rm" exited',
      ),
    ]);
    expect(existsSync(path.join(workspace.path, 'list.txt'))).toBe(false);
  });
});

describe('a gate that is cancelled', () => {
  it('runs the teardown of the iteration that is under way, and of no other', async () => {
    await using workspace = await createWorkspace({
      'slow.evals.yaml': [
        'suite: Slow',
        'concurrency: 1',
        'setup:',
        `  - command: [sh, -c, 'echo "set up" >> log.txt']`,
        'teardown:',
        `  - command: [sh, -c, 'echo "torn down" >> log.txt']`,
        'cases:',
        '  - title: Waits',
        '    runs: 2',
        '    timeout: 5m',
        '    steps:',
        `      - command: [sh, -c, 'echo waiting >> log.txt; exec sleep 300']`,
      ].join('\n'),
    });
    const cancelled = new AbortController();
    const log = () => readFile(path.join(workspace.path, 'log.txt'), 'utf8').catch(() => '');
    const running = runEmbeddedGate(workspace, { 'server-command': plainServerCommand }, { signal: cancelled.signal });
    await expect.poll(log).toContain('waiting');
    cancelled.abort(new CancelledError('The job was cancelled.'));
    const { report, exitCode } = await running;
    expect(await log()).toBe('set up\nwaiting\ntorn down\n');
    expect([report.verdict.outcome, exitCode]).toEqual(['inconclusive', 130]);
  });
});
