import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createRedactor } from '../../../../src/base/redaction.ts';
import { systemClock } from '../../../../src/base/time.ts';
import { createProviderSource } from '../../../../src/models/provider-source.ts';
import { readProviders } from '../../../../src/models/providers.ts';
import { openScriptedProvider } from '../../../../test/support/models/scripted-provider.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import {
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

const canary = 'sk-canary-9c2e51d07ab34f68';

function readStore(directory: string): string {
  return readdirSync(directory)
    .map((file) => readFileSync(path.join(directory, file), 'latin1'))
    .join('\n');
}

describe('the model keys of a run', () => {
  it('reach the provider, and no answer, no log and no file of the store', async () => {
    await using mcp = await startEchoServer();
    await using workspace = await createWorkspace();
    await using provider = await openScriptedProvider({
      format: 'compatible',
      answers: [{ text: 'Hello.' }, { status: 401, body: { error: { message: `Incorrect API key: ${canary}` } } }],
    });
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const logger = { ...silentLogger, debug: log, info: log, warning: log, error: log };
    await using models = createProviderSource({
      providers: readProviders({ environment: { OPENAI_BASE_URL: provider.baseUrl } }),
      clock: systemClock,
      random: () => 0.5,
      logger,
      redactor: createRedactor(),
    });
    const answers: unknown[] = [];
    const dataDir = path.join(workspace.path, 'data');
    {
      await using service = await openContractService({ dataDir, logger, models });
      const serverId = await saveServer(service, { url: mcp.url });
      const test = { title: 'Greets', steps: [{ id: 'p', kind: 'prompt', prompt: 'Hello?' }] };
      const { suiteId } = await saveSuite(service, serverId, [test], { model: 'openai/gpt-5-mini' });
      const run = async (fields: Record<string, unknown>) => {
        const created = await service.project.post('/eval-runs', { suiteId, ...fields });
        answers.push(created.body);
        if (created.status !== 202) return created;
        const ended = await waitForEnd(service, created.body.runId);
        const { body: page } = await service.project.get(`/eval-runs/${created.body.runId}/iterations`);
        const id = String(page.items[0].id);
        const trace = await service.project.get(`/eval-runs/${created.body.runId}/iterations/${id}/trace`);
        answers.push(ended, page, trace.body);
        return ended;
      };
      const modelApiKeys = { openai: canary };
      expect(await run({})).toMatchObject({ status: 422 });
      expect(await run({ modelApiKeys, idempotencyKey: 'k' })).toMatchObject({ status: 'completed', result: 'passed' });
      expect(await run({ modelApiKeys })).toMatchObject({ status: 'failed', result: null });
      expect(await run({ modelApiKeys: { openai: [canary] } })).toMatchObject({ status: 400 });
      expect(await run({ modelApiKeys, colour: 'red' })).toMatchObject({ status: 400 });
      expect(readStore(dataDir)).not.toContain(canary);
    }
    expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${canary}`,
      `Bearer ${canary}`,
    ]);
    expect(JSON.stringify(answers)).toContain('Hello.');
    for (const text of [JSON.stringify(answers), lines.join('\n'), readStore(dataDir)]) {
      expect(text).not.toContain(canary);
    }
  });
});
