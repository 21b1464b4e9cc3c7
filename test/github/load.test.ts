import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWorkspace } from '../support/workspace.ts';

/** Loads the client as a job does whose event is in this file, with the code of a new process. */
async function load(eventPath: string) {
  vi.stubEnv('GITHUB_EVENT_PATH', eventPath);
  vi.resetModules();
  const { loadGitHub } = await import('../../src/github/load.ts');
  return async () => await loadGitHub({ eventPath }).catch((error: unknown) => error);
}

describe('loadGitHub', () => {
  beforeEach(() => vi.stubEnv('HTTPS_PROXY', 'http://user:password@proxy.example:3128'));
  afterEach(() => vi.unstubAllEnvs());

  it('refuses an event file that is a pipe, and does not wait for it', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'event.json');
    execFileSync('mkfifo', [path]);
    const error = await (await load(path))();
    expect(error).toMatchObject({ issues: [{ code: 'unusable-github-client' }] });
    expect(error).toHaveProperty('message', expect.stringContaining('is not a regular file'));
  });

  it('refuses a damaged event file, also after it was repaired', async () => {
    await using workspace = await createWorkspace({ 'event.json': '{"pull_request":' });
    const again = await load(join(workspace.path, 'event.json'));
    const error = await again();
    expect(error).toHaveProperty('message', expect.stringMatching(/^GitHub's client does not load .*JSON/));
    await workspace.write('event.json', '{}');
    expect(await again()).toBe(error);
  });
});
