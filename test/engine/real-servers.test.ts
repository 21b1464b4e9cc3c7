import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/cases/step.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { openTestServer, stdioServerCommand } from '../support/servers/running-server.ts';

async function run(url: string, steps: Step[]): Promise<CaseOutcome> {
  const target = { url, serverName: 'real', protocol: 'legacy' as const };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs: 60_000 });
}

describe('runCase on a stdio server behind the bridge', () => {
  it('gives every iteration a server-memory of its own', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'memory-'));
    const file = path.join(directory, 'memory.json');
    await using server = await openTestServer({
      command: 'node_modules/.bin/mcp-server-memory',
      env: { MEMORY_FILE_PATH: file },
    });
    const outcome = await run(server.url, [
      callStep('create_entities', { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] }),
      callStep('read_graph'),
      assertStep({ type: 'toolResultContains', needle: 'likes tea' }),
    ]);
    expect(outcome.error).toBeNull();
    await rm(directory, { recursive: true });
  });

  it('reads a file through server-filesystem, and not one outside of its directory', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'files-'));
    await writeFile(path.join(directory, 'note.txt'), 'buy milk');
    await using server = await openTestServer({ command: `node_modules/.bin/mcp-server-filesystem ${directory}` });
    const outcome = await run(server.url, [
      callStep('read_text_file', { path: path.join(directory, 'note.txt') }),
      assertStep({ type: 'toolResultContains', needle: 'buy milk' }),
      callStep('read_text_file', { path: '/etc/hostname' }),
      assertStep({ type: 'toolResultIsError', isError: true }),
    ]);
    expect(outcome.error).toBeNull();
    await rm(directory, { recursive: true });
  });

  it('fails a call under which the server dies', async () => {
    await using server = await openTestServer({ command: stdioServerCommand });
    expect(await run(server.url, [callStep('crash', { code: 3 })])).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: expect.stringContaining('The server under test exited with code 3 before it answered.'),
    });
  });
});
