import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { previewGate } from '../../src/gate/preview.ts';
import { listTools } from '../../src/models/recordings/files.ts';
import { printRecording } from '../../src/models/recordings/format.ts';
import { printToolFile } from '../../src/models/recordings/tool-file.ts';
import { renderSurfaceFile } from '../../src/surface/file.ts';
import { createScenario, day, record, recordedOn } from '../models/recordings/conversation.ts';
import { testProviderKey } from '../support/models/model-source.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
} from '../support/service/contract-service.ts';
import { type GateInputs, readGateInputs } from '../support/gate/gate-inputs.ts';
import { jobOnBranch, runHostedGate } from '../support/gate/hosted-gate.ts';
import { openServiceTap } from '../support/service/service-tap.ts';
import { catchError } from '../support/service/service-client.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const tests = (...titles: string[]) =>
  titles
    .map((title) => `- title: ${title}\n  steps:\n    - toolCall: echo\n      arguments: { value: ${title} }\n`)
    .join('');
const promptEvals = `suite: Notes
model: anthropic/claude-test
maxSteps: 4
cases:
  - id: reads
    title: Reads a note
    runs: 2
    steps:
      - prompt: What does note 7 say?
      - prompt: And note 8?
  - id: lists
    title: Lists notes
    model: openai/gpt-test
    maxSteps: 10
    steps:
      - prompt: List them.
  - id: echo
    title: Asks no model
    steps:
      - toolCall: echo
`;
const recorded = { ...(await record(createScenario())), model: { provider: 'anthropic', name: 'claude-test' } };
const testRecording = printRecording(recorded);
const testTools = printToolFile(listTools(recorded).values());
const dottedSurface = renderSurfaceFile({
  version: 1,
  configurations: {
    default: {
      capabilities: {},
      tools: [{ name: 'notes.read', inputSchema: { type: 'object' } }],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    },
  },
});
const stored = tests('kept', 'gone', 'changed');

let service: ContractService;

beforeAll(async () => {
  service = await openContractService();
  // The gate makes the suite that the dry runs read.
  const { report } = await runHostedGate(service, { 'server-command': plainServerCommand, tests: stored });
  if (report.verdict.outcome !== 'passed') throw new Error(JSON.stringify(report.verdict.reasons));
});

afterAll(() => service[Symbol.asyncDispose]());

/** Returns the output of a dry run, and every request that it sends. */
async function preview(inputs: GateInputs, environment: Record<string, string> = {}) {
  await using tap = await openServiceTap(service);
  const hosted = { service: 'svc', 'base-url': tap.service.baseUrl, 'api-key': service.apiKey };
  // This server would fail if the gate started it.
  const server = { 'server-command': 'no-such-program --flag', 'server-name': 'demo' };
  const options = readGateInputs({ ...server, ...hosted, 'dry-run': 'true', ...inputs });
  const plan = await planGate(options, { cwd: process.cwd(), environment: { ...jobOnBranch, ...environment } });
  const context = { clock: systemClock, logger: silentLogger, redactor: createRedactor() };
  const lines = await previewGate(plan, { ...context, signal: new AbortController().signal });
  return { lines, methods: [...new Set(tap.requests.map((request) => request.split(' ')[0]))] };
}

/** Returns the output of a dry run about the models of a suite. One iteration of one case is recorded. */
async function previewPrompts(
  inputs: GateInputs,
  {
    environment = {},
    nowMs = recordedOn,
    files = {},
  }: { environment?: Record<string, string>; nowMs?: number; files?: Record<string, string> } = {},
): Promise<string[]> {
  await using workspace = await createWorkspace({
    ...files,
    'notes.evals.yaml': promptEvals,
    'recordings/notes/reads.anthropic-claude-test.jsonl': testRecording,
    'recordings/notes/tools.jsonl': testTools,
  });
  const options = readGateInputs({ 'server-command': 'no-such-program', evals: 'notes.evals.yaml', ...inputs });
  const plan = await planGate(options, { cwd: workspace.path, environment });
  const clock = { ...systemClock, now: () => nowMs };
  const context = { clock, logger: silentLogger, redactor: createRedactor() };
  const lines = await previewGate(plan, { ...context, signal: new AbortController().signal });
  expect(lines.join()).not.toContain(testProviderKey);
  return lines.slice(lines.findIndex((line) => line.includes('recordings: ')));
}

/** Reads everything in the project that a run could change. */
async function readProject(): Promise<unknown> {
  const { items: suites } = (await service.project.get('/eval-suites')).body;
  const cases = suites.map(
    async ({ id }: { id: string }) => (await service.project.get(`/eval-suites/${id}/cases`)).body,
  );
  return { suites, cases: await Promise.all(cases), servers: (await service.project.get('/servers')).body };
}

describe('previewGate', () => {
  const would = 'Would test no-such-program --flag with the service svc, through a tunnel as demo, within 30 min.';

  it.each([
    [
      'a suite that the project does not have',
      tests('kept'),
      { GITHUB_REF_NAME: 'other' },
      ['The project has no suite Inline tests · other; it would be created.'],
    ],
    [
      'a suite that has changed',
      `${tests('kept', 'new')}${tests('changed').replace('value: changed', 'value: other')}`,
      {},
      [
        'Inline tests · change: 1 case to create, 1 to change, 1 to delete, 1 as in the file.',
        '  + new',
        '  ~ changed (steps)',
        '  - gone',
      ],
    ],
    [
      'a suite that is as in the file',
      stored,
      {},
      ['Inline tests · change: nothing to change, 3 cases as in the file.'],
    ],
  ])('says what would become of %s, and writes nothing', async (_, evals, environment, changes) => {
    const before = await readProject();
    const { lines, methods } = await preview({ tests: evals }, environment);
    expect(lines[0]).toBe(would);
    expect(lines.slice(-changes.length)).toEqual(changes);
    expect(methods).toEqual(['GET']);
    expect(await readProject()).toEqual(before);
  });

  it('says that failed cases would be repeated', async () => {
    const again = 'Inline tests: cases that fail would be run again, in up to 2 rounds (policy.retryFailed).';
    expect((await preview({ tests: stored, policy: { retryFailed: 2 } })).lines).toContain(again);
    expect((await preview({ tests: stored })).lines.filter((line) => line.includes('again'))).toEqual([]);
  });

  it('uses the oldest suite if jobs that started together each created one', async () => {
    const environment = { GITHUB_REF_NAME: 'twice' };
    const serverId = await saveServer(service, { name: 'other' });
    const save = async (title: string) =>
      await saveSuite(service, serverId, [inlineTest('echo', { title })], { name: 'Inline tests · twice' });
    await save('first');
    // Makes the times differ by milliseconds.
    await systemClock.sleep(5);
    await save('second');
    const { lines } = await preview({ tests: tests('mine') }, environment);
    expect(lines.slice(-3)).toEqual([
      'Inline tests · twice: 1 case to create, 0 to change, 1 to delete, 0 as in the file.',
      '  + mine',
      '  - first',
    ]);
    expect((await catchError(preview({ suite: 'Inline tests · twice' }))).message).toMatch(/Several suites are called/);
  });

  it('does not change a suite of the service', async () => {
    const { lines, methods } = await preview({ suite: 'Inline tests · change' });
    expect(lines.slice(1)).toEqual(['Suite Inline tests · change of the service, as it stands.']);
    expect(methods).toEqual(['GET']);
  });

  it('sends no request where the service is this process', async () => {
    const { lines, methods } = await preview({ service: 'embedded', tests: tests('kept') });
    expect(lines).toHaveLength(3);
    expect(methods).toEqual([]);
  });

  it('says how often models can be called, what is recorded and where the keys are', async () => {
    const anthropic = { ANTHROPIC_API_KEY: testProviderKey };
    const noOpenAiKey = '  There is no API key for the provider openai: OPENAI_API_KEY is not set.';
    // Two iterations of two prompts with 4 steps each, and one of one prompt with 10.
    expect(await previewPrompts({}, { environment: { ...anthropic, OPENAI_API_KEY: testProviderKey } })).toEqual([
      'Notes: up to 26 model calls with anthropic/claude-test, openai/gpt-test; recordings: auto, 1 of 3 iterations recorded.',
      '  anthropic: the key is in ANTHROPIC_API_KEY.',
      '  openai: the key is in OPENAI_API_KEY.',
    ]);
    expect(await previewPrompts({ 'model-api-keys': `anthropic=${testProviderKey}` })).toEqual([
      'Notes: up to 16 model calls with anthropic/claude-test; recordings: auto, 1 of 3 iterations recorded.',
      '  anthropic: the key is in model-api-keys.',
      noOpenAiKey,
    ]);
    expect(await previewPrompts({})).toEqual([
      'Notes: no model calls; recordings: auto, 1 of 3 iterations recorded.',
      '  There is no API key for the provider anthropic: ANTHROPIC_API_KEY is not set.',
      noOpenAiKey,
    ]);
    expect(await previewPrompts({ recordings: 'replay' }, { environment: anthropic })).toEqual([
      'Notes: no model calls; recordings: replay, 1 of 3 iterations recorded.',
    ]);
  });

  it('warns of tools that models are offered in another form, where a surface file has them', async () => {
    const [, ...warnings] = await previewPrompts(
      { recordings: 'replay', surface: 'surface.json', cases: 'reads' },
      { files: { 'surface.json': dottedSurface } },
    );
    expect(warnings).toEqual([
      'Models are offered tools under names that all providers take: "notes.read" as "notes_read".',
    ]);
    const [, ...others] = await previewPrompts(
      { recordings: 'replay', surface: 'surface.json', cases: 'reads' },
      { files: { 'surface.json': dottedSurface.replace('notes.read', 'notes-read') } },
    );
    expect(others).toEqual([]);
  });

  it('cuts the model calls at the budget, counts the rounds of retries, and knows old recordings', async () => {
    const read = async (inputs: GateInputs) => {
      const context = { environment: { ANTHROPIC_API_KEY: testProviderKey }, nowMs: recordedOn + 8 * day };
      return (await previewPrompts({ cases: 'reads', ...inputs }, context))[0];
    };
    expect(await read({ policy: { budgets: { modelCalls: 10 } } })).toBe(
      'Notes: up to 16 model calls with anthropic/claude-test, at most 10 by budgets.modelCalls (from policy.budgets.modelCalls); recordings: auto, 1 of 2 iterations recorded.',
    );
    expect(await read({ policy: { retryFailed: 2, recordings: { maximumAge: '7d' } } })).toContain(
      'Notes: up to 48 model calls with anthropic/claude-test; recordings: auto, 1 of 2 iterations recorded (1 too long ago).',
    );
    expect(await read({ recordings: 'record' })).toBe(
      'Notes: up to 16 model calls with anthropic/claude-test; recordings: record.',
    );
  });

  it('names the calls that a server can ask for, which nothing limits but the budget', async () => {
    const client = '    client: { sampling: model }\n    steps: [{ toolCall: summarize }]\n';
    const sampling = `suite: Sampling\nmodel: anthropic/claude-test\ncases:\n  - title: Summarizes\n${client}`;
    const read = async (inputs: GateInputs) =>
      (await previewPrompts({ evals: '', ...inputs }, { environment: { ANTHROPIC_API_KEY: testProviderKey } }))[0];
    expect(await read({ tests: sampling })).toBe(
      'Sampling: 1 model call for each request of the server for sampling with anthropic/claude-test, at most 300 by budgets.modelCalls (the default); recordings: auto, 0 of 1 iteration recorded.',
    );
    const both = `${sampling}  - title: Asks\n    maxSteps: 4\n    steps: [{ prompt: Hello }]\n`;
    expect(await read({ tests: both, policy: { budgets: { modelCalls: 10 } } })).toBe(
      'Sampling: up to 4 model calls and one for each request of the server for sampling with anthropic/claude-test, at most 10 by budgets.modelCalls (from policy.budgets.modelCalls); recordings: auto, 0 of 2 iterations recorded.',
    );
    expect(await read({ tests: sampling, recordings: 'replay' })).toMatch(/^Sampling: no model calls;/);
  });

  it('counts three opinions of each judge', async () => {
    const judged = `suite: Judged
model: anthropic/claude-test
judgeModel: anthropic/claude-judge
checks:
  - judge: The answer is polite.
cases:
  - title: Greets
    runs: 2
    maxSteps: 1
    steps:
      - prompt: Hello
      - assert: { judge: It greets. }
      - assert: { judge: It is short., model: ollama/judge }
`;
    const lines = await previewPrompts(
      { evals: '', tests: judged },
      { environment: { ANTHROPIC_API_KEY: testProviderKey } },
    );
    // Two iterations: a prompt, two judges with one model and one judge with the other, three times each.
    expect(lines).toEqual([
      'Judged: up to 20 model calls with anthropic/claude-test, anthropic/claude-judge, ollama/judge; recordings: auto, 0 of 2 iterations recorded, judges of 0 of 4 iterations recorded.',
      '  anthropic: the key is in ANTHROPIC_API_KEY.',
      '  ollama is called without a key.',
    ]);
  });

  it('refuses a key, a project and a suite that a run would refuse', async () => {
    const refuse = async (inputs: Record<string, string>) => {
      const error = await catchError(preview(inputs));
      expect(error).toMatchObject({ exitCode: 2 });
      return error.message;
    };
    expect(await refuse({ 'api-key': 'sk_wrong', tests: stored })).toMatch(
      /^api-key: The service does not take the key/,
    );
    expect(await refuse({ project: 'Nowhere', tests: stored })).toMatch(/^project: .*Nowhere/);
    expect(await refuse({ suite: 'Nightly' })).toMatch(
      /^suite: The project has no suite with the id or name "Nightly"/,
    );
  });

  it('says what would be posted on GitHub, without posting it', async () => {
    const telling = {
      'report-to': 'comment, check-run, issue',
      'github-token': 'token_0123456789',
    };
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com' };
    const read = async (branch: string) => {
      const { lines } = await preview({ tests: stored, ...telling }, { GITHUB_REF_NAME: branch, ...traces });
      return lines.filter((line) => /^Would (?!test)/.test(line));
    };
    expect(await read('gh-readonly-queue/main/pr-12-abc')).toEqual([
      'Would comment on pull request 12 (always).',
      'Would add a check to the commit.',
      'Would send the traces to otel.example.com.',
    ]);
    expect(await read('main')).toEqual([
      'Would add a check to the commit.',
      'Would keep an issue open for every suite that fails.',
      'Would send the traces to otel.example.com.',
    ]);
    const { lines } = await preview({ tests: stored });
    expect(lines.filter((line) => /^Would (?!test)/.test(line))).toEqual([]);
  });

  it('says where results would be uploaded to, and checks that the service accepts the key', async () => {
    const before = await readProject();
    const upload = { service: 'embedded', upload: 'svc', tests: tests('kept') };
    const { lines, methods } = await preview(upload);
    expect(lines.at(-1)).toMatch(
      /^Would upload the results of Inline tests to the suite "Inline tests · change" of the project "Default" at http:/,
    );
    expect([methods, await readProject()]).toEqual([['GET'], before]);
    expect((await catchError(preview({ ...upload, project: 'Other' }))).message).toMatch(/No project has .* "Other"/);
  });
});
