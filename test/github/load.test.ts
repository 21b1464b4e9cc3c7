import { execFile, execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createWorkspace } from '../support/workspace.ts';

/**
 * Loads the client twice as a job does whose event is in this file, which is repaired in between. Runs in a process of its own, because a
 * package is imported once in a process. Resolves to the message and the codes of the error, and whether the second error is the same.
 */
async function load(eventPath: string): Promise<{ message: string; codes: string[]; isSame: boolean }> {
  const source = fileURLToPath(new URL('../../src/github/load.ts', import.meta.url));
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { loadGitHub } from ${JSON.stringify(source)};
    const [eventPath, repair] = process.argv.slice(1);
    const attempt = () => loadGitHub({ eventPath }).catch((error) => error);
    const error = await attempt();
    if (repair === 'true') await writeFile(eventPath, '{}');
    const isSame = (await attempt()) === error;
    console.log(JSON.stringify({ message: error.message, codes: error.issues.map(({ code }) => code), isSame }));`;
  const isFile = statSync(eventPath).isFile();
  const { stdout } = await execute(
    process.execPath,
    ['--input-type=module', '--eval', script, eventPath, String(isFile)],
    {
      env: { ...process.env, GITHUB_EVENT_PATH: eventPath, HTTPS_PROXY: 'http://user:password@proxy.example:3128' },
    },
  );
  return z.object({ message: z.string(), codes: z.array(z.string()), isSame: z.boolean() }).parse(JSON.parse(stdout));
}

const execute = promisify(execFile);

describe('loadGitHub', () => {
  it('refuses an event file that is a pipe, and does not wait for it', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'event.json');
    execFileSync('mkfifo', [path]);
    expect(await load(path)).toEqual({
      message: expect.stringContaining('is not a regular file'),
      codes: ['unusable-github-client'],
      isSame: true,
    });
  });

  it('refuses a damaged event file, also after it was repaired', async () => {
    await using workspace = await createWorkspace({ 'event.json': '{"pull_request":' });
    expect(await load(join(workspace.path, 'event.json'))).toEqual({
      message: expect.stringMatching(/^GitHub's client does not load .*JSON/),
      codes: ['unusable-github-client'],
      isSame: true,
    });
  });
});
