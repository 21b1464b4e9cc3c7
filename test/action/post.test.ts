import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createJobOutput } from '../../src/action/logger.ts';
import { runPost } from '../../src/action/post.ts';
import { captureOutput } from '../support/captured-output.ts';
import { isRunning } from '../support/processes.ts';

afterEach(() => {
  delete process.env['STATE_processMarker'];
});

describe.runIf(process.platform === 'linux')('runPost', () => {
  it('stops what carries the marker of the main step, and says how many', async () => {
    const marker = randomUUID();
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], {
      detached: true,
      env: { ...process.env, MCP_EVAL_CI_PROCESS: marker },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    process.env['STATE_processMarker'] = marker;
    const printed = await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0));
    expect(printed).toBe('Processes of the server that had been left running and are stopped now: 1.\n');
    expect(isRunning(child.pid ?? 0)).toBe(false);
    expect(await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0))).toBe('');
  });

  it('does nothing where the main step never came to start a server', async () => {
    expect(await captureOutput(async () => expect(await runPost(createJobOutput())).toBe(0))).toBe('');
  });
});
