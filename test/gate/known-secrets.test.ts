import { describe, expect, it } from 'vitest';
import { listKnownSecrets, parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { createWorkspace, greenEvals } from '../support/workspace.ts';

const reveal = (texts: Record<string, string>, environment: Record<string, string> = {}) =>
  listKnownSecrets(texts, environment).map((secret) => secret.reveal());

describe('listKnownSecrets', () => {
  it('lists keys, whether or not they can be read', () => {
    const keys = 'anthropic=model-key-1\nmodel-key-2\n\nopenai= model-key=3 ';
    expect(reveal({ 'api-key': ' key over\ntwo lines ', 'model-api-keys': keys, timeout: '5m' })).toEqual([
      'key over\ntwo lines',
      'model-key-1',
      'model-key-2',
      'model-key=3',
    ]);
  });

  it('lists the credentials that a runner gives a job, and nothing else of its environment', () => {
    const environment = { GITHUB_TOKEN: 'ghs_1', ACTIONS_RUNTIME_TOKEN: 'runtime', GITHUB_SHA: '4b7e0c', PATH: '/bin' };
    expect(reveal({}, environment)).toEqual(['ghs_1', 'runtime']);
    expect(reveal({ 'api-key': '' }, { GITHUB_TOKEN: '' })).toEqual([]);
  });
});

describe('the secrets of a plan', () => {
  it("include the query of the server's URL and its secret parameters", async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': greenEvals });
    const options = parseGateOptions({
      'server-url': 'http://127.0.0.1:9/mcp?apiKey=in-url&tenant=production',
      evals: 'x.evals.yaml',
    });
    const plan = await planGate(options, { cwd: workspace.path, environment: {} });
    expect(plan.secrets.map((secret) => secret.reveal())).toEqual(['?apiKey=in-url&tenant=production', 'in-url']);
  });

  it('hold nothing of a URL without a query', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': greenEvals });
    const options = parseGateOptions({ 'server-url': 'http://127.0.0.1:9/mcp', evals: 'x.evals.yaml' });
    expect((await planGate(options, { cwd: workspace.path, environment: {} })).secrets).toEqual([]);
  });
});
