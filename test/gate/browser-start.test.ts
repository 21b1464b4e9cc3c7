import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { writeScriptedBrowser } from '../support/scripted-browser.ts';
import { plainServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Lists the processes that a gate of the case starts, in order. */
async function listStarts(assertion: string): Promise<string[]> {
  await using workspace = await createWorkspace({
    'x.evals.yaml': `suite: Words\ncases:\n  - title: Says one\n    steps:\n      - toolCall: argv\n      - assert: ${assertion}\n`,
    'server.mjs': `import { appendFileSync } from 'node:fs';
appendFileSync('log', 'server\\n');
await import(${JSON.stringify(plainServerPath)});
`,
  });
  const browser = join(workspace.path, 'chromium');
  await writeScriptedBrowser(browser, { log: join(workspace.path, 'log'), line: 'browser' });
  const inputs = { 'server-command': `${process.execPath} server.mjs one`, sandbox: 'off', isolation: 'run' };
  await runEmbeddedGate(workspace, inputs, { environment: { MCP_EVAL_CI_CHROMIUM: browser } });
  return (await workspace.read('log')).trim().split('\n');
}

describe.skipIf(process.platform === 'win32')('a gate', { timeout: 60_000 }, () => {
  it('starts the browser of its cases before the server, which could replace its program', async () => {
    expect((await listStarts('{ textVisible: one, toolName: argv }'))[0]).toBe('browser');
  });

  it('starts no browser where no case is about an app', async () => {
    expect(await listStarts('{ toolResultContains: one }')).not.toContain('browser');
  });
});
