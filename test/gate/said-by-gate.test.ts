import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { stdioServerCommand } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';

describe('the notes of a gate', () => {
  it('say that no case called anything, and what the server wrote to stdout', async () => {
    await using workspace = await createWorkspace({
      'idle.evals.yaml': 'suite: Idle\ncases:\n  - title: Answers\n    steps: [{ ping: true }, { listTools: true }]\n',
      'noisy.sh': `echo "Listening on stdio"\nexec ${stdioServerCommand}\n`,
    });
    const { report } = await runEmbeddedGate(workspace, { 'server-command': `bash ${workspace.path}/noisy.sh` });
    expect([report.verdict.outcome, report.notes]).toEqual([
      'passed',
      [
        'No case calls a tool, reads a resource or gets a prompt: the verdict says only that the server starts and lists what it has.',
        'The server writes to stdout, where only MCP messages belong: "Listening on stdio". Its logs belong on stderr.',
      ],
    ]);
  });

  it('are empty for a quiet server with a case that calls a tool', async () => {
    await using workspace = await createWorkspace({
      'call.evals.yaml': 'suite: Calls\ncases:\n  - title: Counts\n    steps: [{ toolCall: count }]\n',
    });
    const { report } = await runEmbeddedGate(workspace, { 'server-command': stdioServerCommand });
    expect([report.verdict.outcome, report.notes]).toEqual(['passed', []]);
  });
});
