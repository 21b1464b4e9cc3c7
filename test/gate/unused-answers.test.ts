import { describe, expect, it } from 'vitest';
import { renderTerminal } from '../../src/report/terminal.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = `suite: Asks nothing
client: { elicitation: [decline] }
cases:
  - title: Is called
    steps: [{ toolCall: argv }]
`;

describe('an answer of the client that no iteration used', () => {
  it('is a note of the report, and no second warning in the log', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    const { report, warnings, exitCode } = await runEmbeddedGate(workspace);
    const note = expect.stringMatching(/^a\.evals\.yaml:2:25: no iteration used this answer of `client\.elicitation`/);
    expect([report.notes, warnings, exitCode]).toEqual([[note], [], 0]);
    expect(renderTerminal(report, { color: false }).split('no iteration used this answer')).toHaveLength(2);
  });
});
