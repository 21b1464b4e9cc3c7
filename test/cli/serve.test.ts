import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Runs `serve`, hands its ready line to `use`, then stops it. */
async function serve(
  args: readonly string[],
  use: (ready: { baseUrl: string; apiKey: string; project: string }) => Promise<void>,
): Promise<number | null> {
  await using workspace = await createWorkspace();
  const used = Promise.withResolvers<void>();
  let isUsed = false;
  const stop = new AbortController();
  const result = await runCommand(['serve', ...args], {
    cwd: workspace.path,
    stop: stop.signal,
    onOutput: (output) => {
      if (isUsed || !output.includes('}\n')) return undefined;
      isUsed = true;
      use(JSON.parse(output))
        .then(used.resolve, used.reject)
        .finally(() => stop.abort());
      return undefined;
    },
  });
  await used.promise;
  return result.exitCode;
}

describe('mcp-eval-ci serve', () => {
  it('prints one JSON line when it is ready, answers with that key only, and leaves well on a signal', async () => {
    const exitCode = await serve([], async ({ baseUrl, apiKey, project }) => {
      expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
      const authorized = await request(`${baseUrl}/projects`, { headers: { authorization: `Bearer ${apiKey}` } });
      expect(await authorized.body.json()).toMatchObject({ items: [{ id: project }] });
      const refused = await request(`${baseUrl}/projects`, { headers: { authorization: 'Bearer wrong' } });
      expect(refused.statusCode).toBe(401);
      await refused.body.dump();
    });
    expect(exitCode).toBe(0);
  });

  it('takes the key that it is given, and limits the rate only when asked', async () => {
    const count429 = async (args: readonly string[]) => {
      let refusals = 0;
      await serve([...args, '--api-key', 'sk_test_key'], async ({ baseUrl, apiKey }) => {
        expect(apiKey).toBe('sk_test_key');
        for (let call = 0; call < 15; call += 1) {
          const { statusCode, body } = await request(`${baseUrl}/me`, {
            headers: { authorization: 'Bearer sk_test_key' },
          });
          await body.dump();
          if (statusCode === 429) refusals += 1;
        }
      });
      return refusals;
    };
    expect(await count429([])).toBe(0);
    expect(await count429(['--rate-limit'])).toBeGreaterThan(0);
  });

  it.each([
    [['--api-key', ''], 'Write a key'],
    [['--api-key', 'two words'], 'Write a key'],
    [['--data', 'file/below'], 'data: the directory cannot be made'],
  ])('refuses %j', async (args, message) => {
    await using workspace = await createWorkspace({ file: '' });
    const result = await runCommand(['serve', ...args], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain(message);
  });

  it('rejects an invalid port', async () => {
    await using workspace = await createWorkspace();
    const result = await runCommand(['serve', '--port', 'http'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
