import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractService, openContractService } from '../support/service/contract-service.ts';
import { findLeaks } from '../support/runner/leaks.ts';
import { type ActionRun, runAction } from '../support/runner/run-action.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

// A server that writes a secret of the job into every text. The runner of these tests does not know the secret, so that only this action
// can hide it.

const canary = 'canary "7f3a" <b>&c/d+e%41=\'x\'|`y`';
const plainCanary = 'canary_5d2e8c7b91f04a66';

const inputs = {
  'server-command': 'node server.mjs',
  'server-env': `PASSED_THROUGH\nSERVICE_TOKEN=${plainCanary}`,
  evals: 'evals/*.evals.yaml',
  'report-formats': 'html, ctrf, badge, otlp',
};

let service: ContractService;
beforeAll(async () => {
  service = await openContractService();
});
afterAll(() => service[Symbol.asyncDispose]());

let runs = 0;

/** Runs a job that also uploads its results. */
async function run(
  files: Record<string, string>,
  check: (run: ActionRun, texts: Texts) => void,
  start = runAction,
): Promise<void> {
  await using workspace = await createWorkspace({ 'server.mjs': talkativeServer, ...files });
  const upload = { upload: 'svc', 'base-url': service.baseUrl, 'api-key': service.apiKey };
  // Uses another run id, because the service would keep the first results of a run.
  const env = { PASSED_THROUGH: canary, GITHUB_RUN_ID: String((runs += 1)) };
  const result = await start({ workspace: workspace.path, inputs: { ...inputs, ...upload }, env });
  check(result, await collectTexts(workspace, result));
}

type Texts = Record<string, string | null>;

/** Collects everything that leaves the job. The raw log omits the lines that register masks, because the runner never shows them. */
async function collectTexts(workspace: Workspace, result: ActionRun): Promise<Texts> {
  const reports = await readdir(join(workspace.path, 'mcp-eval-report'));
  const files = await Promise.all(
    reports.map(async (name) => [name, await workspace.read(`mcp-eval-report/${name}`)] as const),
  );
  return {
    log: result.maskedLog,
    'log without the runner’s masks': result.log.replaceAll(/^::add-mask::.*$/gm, ''),
    'log of post': result.post?.maskedLog ?? null,
    summary: result.summary,
    annotations: JSON.stringify(result.annotations),
    outputs: JSON.stringify(result.outputs),
    state: JSON.stringify(result.state),
    exported: JSON.stringify(result.exported),
    uploaded: await collectUploaded(),
    ...Object.fromEntries(files),
  };
}

/** Collects everything that the service has received. */
async function collectUploaded(): Promise<string> {
  const read = async (path: string) => (await service.project.get(path)).body;
  const texts: unknown[] = [];
  for (const { id } of (await read('/eval-suites')).items) {
    for (const run of (await read(`/eval-suites/${id}/runs`)).items) {
      const { items } = await read(`/eval-runs/${run.id}/iterations`);
      const traces = items.map((item: { id: string }) => read(`/eval-runs/${run.id}/iterations/${item.id}/trace`));
      texts.push(await read(`/eval-suites/${id}`), run, items, await Promise.all(traces));
    }
  }
  return JSON.stringify(texts);
}

describe('a secret that the server returns', () => {
  it('appears nowhere when a case fails on it', async () => {
    await run({ 'evals/red.evals.yaml': redEvals }, (result, texts) => {
      expect(result.exitCode).toBe(1);
      expect(Object.keys(texts)).toEqual(expect.arrayContaining(['report.json', 'report.html', 'junit.xml']));
      expect(findLeaks([canary, plainCanary, service.apiKey], texts)).toEqual([]);
      // The mask shows that the secret did arrive and the gate redacted it.
      for (const place of [
        'log',
        'summary',
        'report.json',
        'report.html',
        'junit.xml',
        'traces.otlp.jsonl',
        'uploaded',
      ])
        expect(texts[place]).toContain('***');
    });
  });

  it('appears nowhere when the server writes it to stderr and exits', async () => {
    const dying = talkativeServer.replace('// now', 'console.error(secrets); process.exit(5);');
    await run({ 'evals/red.evals.yaml': redEvals, 'server.mjs': dying }, (result, texts) => {
      expect(result.exitCode).toBe(3);
      expect(texts['log']).toContain('***');
      expect(findLeaks([canary, plainCanary, service.apiKey], texts)).toEqual([]);
    });
  });

  it('is found by this test if the server returns a value that is not registered as a secret', async () => {
    const server = talkativeServer.replace('const secrets =', `const secrets = 'not-registered-canary' +`);
    const check = (_: ActionRun, texts: Texts) => {
      const places = new Set(findLeaks(['not-registered-canary'], texts).map(({ place }) => place));
      expect([...places]).toEqual(
        expect.arrayContaining([
          'log',
          'summary',
          'annotations',
          'report.json',
          'report.html',
          'junit.xml',
          'traces.otlp.jsonl',
          'uploaded',
        ]),
      );
    };
    await run({ 'evals/red.evals.yaml': redEvals, 'server.mjs': server }, check, runActionInTest);
  });
});

const redEvals = `suite: Secrets
cases:
  - title: Leaks no secret
    required: true
    steps:
      - toolCall: speak
        arguments: { times: 1 }
      - assert: { toolResultContains: something else }
  - title: Leaks none in a long answer, which reports cut
    steps:
      - toolCall: speak
        arguments: { times: 400 }
      - assert: { toolResultContains: something else }
  - title: Leaks none in an error
    steps:
      - toolCall: fail
`;

const talkativeServer = `
import { createInterface } from 'node:readline';
const secrets = process.env.PASSED_THROUGH + ' and ' + process.env.SERVICE_TOKEN;
console.error(secrets);
console.error(Buffer.from(process.env.SERVICE_TOKEN).toString('base64'));
// now
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize') {
    const serverInfo = { name: 'knows ' + secrets, version: secrets };
    answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
  }
  if (method === 'tools/list') answer({ tools: ['speak', 'fail'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (method !== 'tools/call') continue;
  const text = (secrets + ' ').repeat(params.arguments?.times ?? 1);
  if (params.name === 'speak') answer({ content: [{ type: 'text', text }] });
  else console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: text, data: secrets } }));
}
`;
