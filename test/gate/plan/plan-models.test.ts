import { expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { createWorkspace } from '../../support/workspace.ts';

const file = 'evals/a.evals.yaml';

async function listIssues(
  settings: string,
  models = 'anthropic/claude-haiku-4-5, openai/gpt-5-mini',
): Promise<string[]> {
  const evals = `suite: Notes
models: [${models}]
${settings}
cases:
  - title: Reads the note
    steps:
      - prompt: What should I buy?
`;
  await using workspace = await createWorkspace({ [file]: evals });
  const options = parseGateOptions({ 'server-command': 'node server.js', evals: file, recordings: 'replay' });
  try {
    await planGate(options, { cwd: workspace.path, environment: {}, nowMs: 0 });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues.map(({ file: where, line, code, message }) => `${where}:${line} ${code}: ${message}`);
  }
}

it('refuses a parameter that one of the providers has not, before anything starts', async () => {
  expect(await listIssues('seed: 7')).toEqual([
    `${file}:7 parameter-not-taken: anthropic takes no \`seed\`; leave it out, or set it in the cases of other providers`,
  ]);
});

it('takes parameters that all of the providers have', async () => {
  expect(await listIssues('seed: 7', 'openai/gpt-5-mini, ollama/gpt-oss:20b')).toEqual([]);
  expect(await listIssues('reasoningEffort: low\ntopP: 0.9\nmaxOutputTokens: 700')).toEqual([]);
});
