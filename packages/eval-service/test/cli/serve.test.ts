import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { type CommandResult, runCommand } from '../../../../test/support/process/command.ts';
import { runProgramInTest } from '../../../../test/support/process/program.ts';
import { openScriptedProvider } from '../../../../test/support/models/scripted-provider.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

/** Runs `serve`, hands its ready line to `use`, then stops it and returns how it ended. */
async function serve(
  args: readonly string[],
  use: (ready: { baseUrl: string; apiKey: string; project: string }) => Promise<void>,
  env: Record<string, string> = {},
): Promise<CommandResult> {
  await using workspace = await createWorkspace();
  const used = Promise.withResolvers<void>();
  let isUsed = false;
  const stop = new AbortController();
  const result = await runCommand(['serve', ...args], {
    cwd: workspace.path,
    env,
    stop: stop.signal,
    onOutput: (output) => {
      if (isUsed || !output.includes('}\n')) return undefined;
      isUsed = true;
      use(JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? ''))
        .then(used.resolve, used.reject)
        .finally(() => stop.abort());
      return undefined;
    },
  });
  await used.promise;
  return result;
}

/** Takes turns of the agent, and keeps the answers. */
async function take(
  { baseUrl, apiKey, project }: { baseUrl: string; apiKey: string; project: string },
  replies: string[],
  turns: number,
): Promise<void> {
  for (let turn = 1; turn <= turns; turn += 1) {
    const { body } = await request(`${baseUrl}/projects/${project}/agent`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    replies.push(await body.text());
  }
}

describe('mcp-eval-ci serve', () => {
  it('prints one JSON line when it is ready, answers with that key only, and leaves well on a signal', async () => {
    const { exitCode } = await serve([], async ({ baseUrl, apiKey, project }) => {
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
    const list429 = async (args: readonly string[]) => {
      const waits: string[] = [];
      await serve([...args, '--api-key', 'sk_test_key'], async ({ baseUrl, apiKey }) => {
        expect(apiKey).toBe('sk_test_key');
        const call = async () => {
          const { statusCode, body, headers } = await request(`${baseUrl}/me`, {
            headers: { authorization: 'Bearer sk_test_key' },
          });
          await body.dump();
          if (statusCode === 429) waits.push(String(headers['retry-after']));
        };
        // At once: in a minute, all of them would be in time.
        await Promise.all(Array.from({ length: 61 }, call));
      });
      return waits;
    };
    expect(await list429([])).toEqual([]);
    const waits = await list429(['--rate-limit']);
    expect(waits.length).toBeGreaterThan(0);
    for (const wait of waits) expect(wait).toMatch(/^[1-9]\d*$/);
  });

  it('asks the model that it is given, with the key of the environment, which it prints nowhere', async () => {
    const key = 'sk-canary-4f9a1c7be20d8356';
    await using provider = await openScriptedProvider({
      format: 'anthropic',
      answers: [{ text: 'Hello.' }, { status: 401, body: `Wrong key: ${key}` }],
    });
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: provider.baseUrl };
    const replies: string[] = [];
    const result = await serve(['--model', 'anthropic/claude-haiku-4-5'], (ready) => take(ready, replies, 2), env);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(replies[0]).toContain('"reply":"Hello."');
    expect(replies[1]).toContain('ANTHROPIC_API_KEY');
    expect(provider.requests[0]?.headers['x-api-key']).toBe(key);
    expect([...replies, result.stdout, result.stderr].join('\n')).not.toContain(key);
  });

  it('warns about a model without a key, and names its variable in each answer', async () => {
    const replies: string[] = [];
    const result = await serve(['--model', 'anthropic/claude-haiku-4-5'], (ready) => take(ready, replies, 1));
    expect(result.stderr).toContain('Warning: The model of `--model` cannot be asked.');
    for (const text of [result.stderr, ...replies]) expect(text).toContain('ANTHROPIC_API_KEY is not set');
  });

  it.each([
    [['--model', 'haiku'], '"haiku" is not a model', runCommand],
    [['--api-key', ''], 'Write a key'],
    [['--api-key', 'two words'], 'Write a key'],
    [['--data', 'file/below'], 'data: the directory cannot be made'],
  ])('refuses %j', async (args, message, run = runProgramInTest) => {
    await using workspace = await createWorkspace({ file: '' });
    const result = await run(['serve', ...args], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain(message);
  });

  it('rejects an invalid port', async () => {
    await using workspace = await createWorkspace();
    const result = await runProgramInTest(['serve', '--port', 'http'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
