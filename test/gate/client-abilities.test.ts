import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { createAskingServer } from '../support/servers/asking-server.ts';
import { startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

async function run(manner: string, needle: string) {
  await using server = await startFixtureMcpServer({}, { era: 'both', create: createAskingServer });
  await using workspace = await createWorkspace({
    'x.evals.yaml': `suite: x
protocol: 2025-11-25
cases:
  - title: Asks
    steps:
      - toolCall: ask
        arguments: { needs: [roots], manner: ${manner} }
      - assert: { toolResultContains: ${needle} }
`,
  });
  return await runEmbeddedGate(workspace, { 'server-command': '', 'server-url': server.url, isolation: '' });
}

describe('a server that asks for roots in a case that offers none', () => {
  it('passes and fails by what it answers, if it answers', async () => {
    expect((await run('softly', 'refused')).exitCode).toBe(0);
    const { exitCode, report } = await run('softly', 'file:///notes');
    expect(exitCode).toBe(1);
    expect(JSON.stringify(report.cases)).toContain('The server asked for roots, which the case does not offer.');
  });

  it('establishes nothing if its call fails for it', async () => {
    const { exitCode, report } = await run('blind', 'anything');
    expect(exitCode).toBe(3);
    expect(JSON.stringify(report)).toContain('ask needs roots, which the case does not offer.');
  });
});
