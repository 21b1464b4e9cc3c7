import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { gate } from '../../src/gate/gate.ts';
import { parseGateOptions } from '../../src/gate/options.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { loadProviders } from '../../src/gate/run/open-models.ts';
import type { Report } from '../../src/model/report.ts';
import { borrowGlobals } from '../support/faults/borrowed-globals.ts';
import '../support/faults/preloaded.ts';
import { QuietClock } from '../support/faults/quiet-clock.ts';
import {
  openScriptedProvider,
  type ProviderFormat,
  type ProviderRequest,
  type ScriptedReply,
} from '../support/models/scripted-provider.ts';
import { text } from '../support/servers/fixture-mcp-server.ts';
import { startLightMcpServer } from '../support/servers/light-mcp-server.ts';

// The provider is a party of the gate like the service and the server: whatever it does, a case that it did not answer is neither
// failed nor green.

const providers = {
  anthropic: { name: 'anthropic', model: 'anthropic/claude-haiku-4-5', prefix: 'ANTHROPIC' },
  compatible: { name: 'openai', model: 'openai/gpt-5-mini', prefix: 'OPENAI' },
} as const satisfies Record<ProviderFormat, object>;

const key = 'sk-canary-provider-of-the-matrix';

interface ProviderFault {
  what: string;
  reply: ScriptedReply;
  /** What the reason of an iteration says in addition to the name of the provider. */
  says: RegExp;
  /** Where it only meets the provider once, or always: a call has no time to wait for an answer twice. */
  only?: 'shaken' | 'broken';
}

/** Faults that may be over at the next attempt. Those that slow down all calls of a key come last. */
const passing: readonly ProviderFault[] = [
  { what: 'status-500', reply: { status: 500 }, says: /is out of order \(500\)/ },
  { what: 'cut', reply: { fault: 'cut' }, says: /gave no answer\./ },
  { what: 'html', reply: { fault: 'html' }, says: /gave no answer\. .*not JSON \(text\/html\)/ },
  { what: 'other-json', reply: { fault: 'wrong-json' }, says: /gave an answer that its API does not describe/ },
  { what: 'drip', reply: { fault: 'drip' }, says: /No complete answer from .* within 45 s/, only: 'broken' },
  { what: 'hang', reply: { fault: 'hang' }, says: /No complete answer from .* within 45 s/, only: 'broken' },
  { what: 'seconds', reply: { status: 429, headers: { 'retry-after': '7' } }, says: /\(429\)/, only: 'shaken' },
  { what: 'status-429', reply: { status: 429 }, says: /limits the rate of the key in \w+_API_KEY \(429\)/ },
];

function writeTests(ids: readonly string[], model: string): string {
  const cases = ids.map((id) => ({
    id,
    title: `Is ${id}`,
    model,
    steps: [
      { prompt: `${id}: what now?` },
      { assert: { responseContains: `1 ${id}` } },
      // No call of a model: the thread that checks its arguments does not know this clock.
      { toolCall: 'say', arguments: { word: id } },
      { assert: { toolResultContains: `The tool says ${id}.` } },
      { prompt: `${id}: what then?` },
      { assert: { responseContains: `2 ${id}` } },
    ],
  }));
  return JSON.stringify(cases);
}

/** Counts its answers in the conversation. */
function answer({ turn, userText }: ProviderRequest): ScriptedReply {
  return { text: `Number ${turn} ${readId(userText)}` };
}

function readId(userText: string): string {
  return userText.replace(/:.*/, '');
}

interface Ended {
  report: Report;
  exitCode: number;
  said: string;
  requests: ProviderRequest[];
}

async function runGate(
  format: ProviderFormat,
  { ids, answers }: { ids: readonly string[]; answers: (request: ProviderRequest) => ScriptedReply },
): Promise<Ended> {
  const { model, prefix } = providers[format];
  using clock = new QuietClock();
  using _globals = borrowGlobals(clock, 1);
  await using server = await startLightMcpServer({
    say: { call: ({ args }) => text(`The tool says ${String(args['word'])}.`) },
  });
  await using provider = await openScriptedProvider({ format, answers });
  const log: string[] = [];
  const redactor = createRedactor();
  const keep = (line: string) => void log.push(redactor.redact(line));
  const options = parseGateOptions({
    'server-url': server.url,
    tests: writeTests(ids, model),
    recordings: 'live',
    concurrency: '1',
  });
  const environment = { [`${prefix}_API_KEY`]: key, [`${prefix}_BASE_URL`]: provider.baseUrl };
  const plan = await clock.standStill(planGate(options, { cwd: process.cwd(), environment }));
  if (plan.models !== null) await clock.standStill(loadProviders(plan.models));
  const { report, exitCode } = await gate(plan, {
    clock,
    logger: { ...silentLogger, debug: keep, info: keep, warning: keep, error: keep, group: keep },
    redactor,
    signal: new AbortController().signal,
    environment: {},
  });
  const said = [...log, JSON.stringify(report)].join('\n');
  return { report, exitCode, said, requests: provider.requests };
}

/** What each case came to, and the reasons of those that did not pass. */
function readCases({ cases }: Report): Record<string, string> {
  return Object.fromEntries(
    cases.map(({ id, passed, failed, planned, failures }) => {
      const reasons = failures.flatMap((failure) => failure.reasons).join(' ');
      if (passed + failed < planned) return [id, `unscored: ${reasons}`];
      return [id, failed > 0 ? `failed: ${reasons}` : 'passed'];
    }),
  );
}

describe.each(['anthropic', 'compatible'] as const)('a provider in the %s format', (format) => {
  const { name } = providers[format];

  describe.each([
    ['at the first call', 1],
    ['in the middle of a conversation', 2],
  ])('%s', (_where, turn) => {
    it('has every fault that passes without a case that fails, or is green without its answer', async () => {
      const shaken = passing.filter(({ only = 'shaken' }) => only === 'shaken').map(({ what }) => `shaken-${what}`);
      const broken = passing.filter(({ only = 'broken' }) => only === 'broken').map(({ what }) => `broken-${what}`);
      const struck = new Set<string>();
      const { report, exitCode, said } = await runGate(format, {
        ids: ['steady', ...shaken, ...broken, 'late'],
        answers: (request) => {
          const id = readId(request.userText);
          const fault = passing.find(({ what }) => id.endsWith(`-${what}`));
          if (fault === undefined || request.turn !== turn) return answer(request);
          if (id.startsWith('shaken-') && struck.has(id)) return answer(request);
          struck.add(id);
          return fault.reply;
        },
      });
      const found = readCases(report);
      expect([...struck].toSorted()).toEqual([...shaken, ...broken].toSorted());
      expect(found).toMatchObject({ steady: 'passed', late: 'passed' });
      for (const { what, says, only } of passing) {
        if (only !== 'broken') expect(found[`shaken-${what}`]).toBe('passed');
        if (only === 'shaken') continue;
        expect(found[`broken-${what}`]).toMatch(new RegExp(`^unscored: ${name}\\b`));
        expect(found[`broken-${what}`]).toMatch(says);
      }
      expect(report.totals).toMatchObject({ passed: 2 + shaken.length, failed: 0 });
      expect(report.verdict.outcome).toBe('inconclusive');
      expect(exitCode).toBe(3);
      expect(said).not.toContain(key);
    });

    it('that refuses the key ends the run without a verdict', async () => {
      const { report, exitCode, said, requests } = await runGate(format, {
        ids: ['steady', 'late'],
        answers: (request) => (request.turn === turn ? { status: 401 } : answer(request)),
      });
      const { steady, late } = readCases(report);
      expect(steady).toMatch(new RegExp(`^unscored: ${name} refuses the key in \\w+_API_KEY \\(401\\)`));
      expect(late).toMatch(/^unscored: /);
      expect(report.verdict.outcome).toBe('inconclusive');
      expect(exitCode).toBe(3);
      expect(JSON.stringify(report.verdict.reasons)).toContain(`${name} refuses the key`);
      expect(requests).toHaveLength(turn);
      expect(said).not.toContain(key);
    });
  });
});
