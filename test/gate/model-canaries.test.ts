import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Logger } from '../../src/base/logger.ts';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { gate } from '../../src/gate/gate.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { publishFiles } from '../../src/gate/publish/publish-files.ts';
import { publishRecordings } from '../../src/gate/publish/publish-recordings.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createHurriedClock } from '../support/clocks/bent-clock.ts';
import { readGateInputs } from '../support/gate/gate-inputs.ts';
import { openScriptedProvider, type ScriptedProvider } from '../support/models/scripted-provider.ts';
import { plainServerCommand } from '../support/servers/bundled-servers.ts';
import { startFixtureMcpServer } from '../support/servers/fixture-mcp-server.ts';
import { findEncodedLeaks } from '../support/text/leak-forms.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import {
  answerWithCanaries,
  type Canaries,
  createCanaryTools,
  drawCanaries,
  writeCanaryEvals,
} from './canary-world.ts';

/** Shortens the waits before a repeated call, but no time limit. */
const clock = createHurriedClock({ fromMs: 250, toMs: 30_000, instead: 20, limitsMs: [10_000] });

/** Secrets that the gate must know by itself. */
const known: ReadonlySet<string> = new Set([
  'key of anthropic',
  'key of openai',
  'key of another provider',
  'key in the address of the server',
  'variable of the server',
]);

/** Secrets of the evals file that are never sent to a provider. */
const inEvals = ['suite name', 'case title', 'pinned argument', 'expected argument', 'expected text'];

/** Secrets in answers, tool results and the server that are never sent to a provider. */
const inAnswers = ['refusal message', 'error header', 'error dump', 'error page', 'answer header'];
const inServer = ['resource address', 'result key', 'result value', 'tool title', 'name of the server'];
const unsent = new Set([...inEvals, ...inAnswers, 'answer of another provider', ...inServer]);

interface Providers {
  anthropic: ScriptedProvider;
  openai: ScriptedProvider;
}

interface CanaryGate {
  providers: Providers;
  inputs: Record<string, string>;
  environment?: Record<string, string>;
}

/** Runs a gate and returns every text that leaves it, by location. */
async function runCanaryGate(workspace: Workspace, canaries: Canaries, { providers, inputs, ...rest }: CanaryGate) {
  const { at, list } = canaries;
  const environment = {
    PATH: process.env['PATH'] ?? '',
    ANTHROPIC_API_KEY: at('key of anthropic'),
    ANTHROPIC_BASE_URL: providers.anthropic.baseUrl,
    OPENAI_BASE_URL: providers.openai.baseUrl,
    NIMBUS_BASE_URL: 'https://nimbus.test/v1',
    NIMBUS_API_KEY: at('key of another provider'),
    ...rest.environment,
  };
  const options = readGateInputs({
    evals: 'a.evals.yaml',
    'model-api-keys': `openai=${at('key of openai')}`,
    'report-dir': 'report',
    'report-formats': 'html, ctrf, badge, otlp, iterations, transcripts',
    ...inputs,
  });
  const redactor = createRedactor();
  const log: string[] = [];
  const keep = (line: string) => void log.push(redactor.redact(line));
  const group = (title: string, lines: readonly string[]) => [title, ...lines].forEach(keep);
  const logger: Logger = { debug: keep, info: keep, warning: keep, error: keep, group };
  const plan = await planGate(options, { cwd: workspace.path, environment });
  for (const [place, canary] of Object.entries(list())) if (!known.has(place)) redactor.add(new Secret(canary));
  const result = await gate(plan, { clock, logger, redactor, signal: new AbortController().signal, environment });
  const { report, evidence, recordings } = result;
  await publishFiles(report, plan, { logger, redactor, summaryPath: join(workspace.path, 'summary.md'), evidence });
  const isInPlace = inputs['recordings'] === 'record';
  await publishRecordings(recordings, plan, { isInPlace, logger, redactor });
  const texts: Record<string, string> = {
    log: log.join('\n'),
    comment: renderComment(report),
    summary: renderSummary(report),
    terminal: renderTerminal(report, { color: false }),
  };
  for (const entry of await readdir(workspace.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && entry.name !== 'a.evals.yaml') {
      texts[path.slice(workspace.path.length + 1)] = await readFile(path, 'utf8');
    }
  }
  return { report, texts };
}

/** Starts every source of secrets. */
async function openWorld(canaries: Canaries) {
  const answers = answerWithCanaries(canaries);
  const resources = new AsyncDisposableStack();
  const tools = createCanaryTools(canaries);
  const server = resources.use(await startFixtureMcpServer(tools, { name: canaries.at('name of the server') }));
  const providers = {
    anthropic: resources.use(await openScriptedProvider({ format: 'anthropic', answers })),
    openai: resources.use(await openScriptedProvider({ format: 'compatible', answers })),
  };
  return { server, tools, providers, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function omit({ list }: Canaries, places: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(list()).filter(([place]) => !places.has(place)));
}

describe('secrets of a gate with models', () => {
  it('are in no recording, report, log line or comment, wherever they came from', async () => {
    const canaries = drawCanaries(1);
    const { at, list } = canaries;
    await using workspace = await createWorkspace({ 'a.evals.yaml': writeCanaryEvals(canaries) });
    await using world = await openWorld(canaries);
    const { providers } = world;
    const server = { 'server-url': `${world.server.url}?apiKey=${at('key in the address of the server')}` };
    const recorded = await runCanaryGate(workspace, canaries, {
      providers,
      inputs: { ...server, recordings: 'record' },
    });
    expect(Object.keys(list()).length).toBeGreaterThanOrEqual(40);
    expect(findEncodedLeaks(list(), recorded.texts)).toEqual([]);
    expect(recorded.report.cases.find(({ id }) => id === 'whole')).toMatchObject({ passed: 1, failed: 0 });
    expect(recorded.texts['recordings/canaries/whole.anthropic-claude-test.jsonl']).toContain('***');

    // Each secret reached its target, and the keys only their headers.
    const requests = [...providers.anthropic.requests, ...providers.openai.requests];
    const sent = requests.map(({ body }) => JSON.stringify(body)).join();
    for (const { headers } of providers.anthropic.requests) expect(headers['x-api-key']).toBe(at('key of anthropic'));
    for (const { headers } of providers.openai.requests) {
      expect(headers.authorization).toBe(`Bearer ${at('key of openai')}`);
    }
    const missing = Object.entries(omit(canaries, unsent)).filter(([, canary]) => !sent.includes(canary));
    expect(missing.map(([place]) => place).toSorted()).toEqual([...known].slice(0, 4).toSorted());
    const topics = requests.map(({ userText }) => userText).join();
    expect(['refused:', 'broken:', 'page:', 'other:'].filter((topic) => !topics.includes(topic))).toEqual([]);
    const evals = await workspace.read('a.evals.yaml');
    expect(inEvals.filter((place) => !evals.includes(at(place)))).toEqual([]);

    // The reason quotes both the recorded text and the current one.
    await workspace.write('a.evals.yaml', writeCanaryEvals(canaries).replaceAll('You keep', 'You hold'));
    const stale = await runCanaryGate(workspace, canaries, { providers, inputs: { ...server, recordings: 'replay' } });
    expect(findEncodedLeaks(list(), stale.texts)).toEqual([]);
    expect(JSON.stringify(stale.report)).toMatch(/recorded \\"You keep \*\*\*\.\\", now \\"You hold \*\*\*\.\\"/);
  });

  it('that the server has in its environment are in no recording, although the model sees them', async () => {
    const canaries = drawCanaries(2);
    const secret = canaries.at('variable of the server');
    const evals =
      'suite: Server\nid: s\nmodel: anthropic/claude-test\ncases:\n  - { id: a, title: A, steps: [{ prompt: Look. }] }\n';
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using world = await openWorld(drawCanaries(3));
    await using anthropic = await openScriptedProvider({
      format: 'anthropic',
      answers: ({ turn, body }) =>
        turn === 1 ? { toolCalls: [{ name: 'environment', arguments: {} }] } : { text: JSON.stringify(body) },
    });
    const { report, texts } = await runCanaryGate(workspace, canaries, {
      providers: { ...world.providers, anthropic },
      inputs: {
        'server-command': plainServerCommand,
        'server-env': `NOTES_TOKEN=${secret}`,
        isolation: 'run',
        recordings: 'record',
      },
    });
    expect(report.verdict.outcome).toBe('passed');
    const sent = JSON.stringify(anthropic.requests[1]?.body);
    expect(sent).toContain(secret);
    expect(findEncodedLeaks(omit(canaries, new Set(['variable of the server'])), { sent })).toEqual([]);
    expect(texts['recordings/s/a.anthropic-claude-test.jsonl']).toContain('NOTES_TOKEN');
    expect(findEncodedLeaks(canaries.list(), texts)).toEqual([]);
  });

  it.each([
    ['live', /The base URL in MISTRAL_BASE_URL has a user, password, query or fragment\./],
    ['auto', /no recording/],
  ])('in a base URL are refused and never quoted, with recordings %s', async (recordings, reason) => {
    const canaries = drawCanaries(4);
    const [user, password] = [canaries.at('user of a base URL'), canaries.at('password of a base URL')];
    const evals = 'suite: URL\nmodel: mistral/small\ncases:\n  - { title: A, steps: [{ prompt: Hello. }] }\n';
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    await using world = await openWorld(drawCanaries(5));
    const texts = await runCanaryGate(workspace, canaries, {
      providers: world.providers,
      inputs: { 'server-url': world.server.url, recordings },
      environment: { MISTRAL_BASE_URL: `https://${user}:${password}@mistral.test/v1`, MISTRAL_API_KEY: 'sk-mistral-1' },
    }).then(
      (ran) => ({ ...ran.texts, reasons: JSON.stringify(ran.report) }),
      (error: unknown) => ({ error: inspect(error) }),
    );
    expect(JSON.stringify(texts)).toMatch(reason);
    expect(findEncodedLeaks(canaries.list(), texts)).toEqual([]);
  });
});
