import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedactor } from '../lib/base/redaction.js';
import type { ModelAnswer, ModelCall } from '../lib/models/language-model.js';
import { systemClock } from '../lib/base/time.js';
import { runCase } from '../lib/engine/run-case.js';
import { writeRecording } from '../lib/models/recordings/files.js';
import { createFingerprinter } from '../lib/models/recordings/fingerprint.js';
import { ignoreNothing } from '../lib/models/recordings/ignore.js';
import { createRecorder, mergeRecording } from '../lib/models/recordings/recorded-answer.js';
import { createRecordedSource } from '../lib/models/recordings/source.js';
import { findMedian, measureInChild } from './child.ts';
import { startEverything } from './everything-server.ts';

interface Cost {
  durationMs: number;
  cpuMs: number;
  passed: number;
  verdict: unknown;
}

const cases = 10;
const runs = 100;
const rounds = 3;

const model = { provider: 'anthropic', name: 'claude-bench' };

/** Measures 1,000 replayed iterations with a prompt against the same tool calls without a model. */
export async function measureReplay(): Promise<void> {
  console.log(`\nReplay: ${cases * runs} iterations on server-everything over HTTP, ${rounds} rounds, plan included`);
  const directory = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-bench-'));
  try {
    await writeFile(join(directory, 'pinned.evals.yaml'), writeEvals('pinned'));
    await writeFile(join(directory, 'replayed.evals.yaml'), writeEvals('replayed'));
    await recordCases(directory);
    const ratios: number[] = [];
    const cpuRatios: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const pinned = await measureOnce(directory, 'pinned.evals.yaml');
      const replayed = await measureOnce(directory, 'replayed.evals.yaml');
      ratios.push(replayed.durationMs / pinned.durationMs);
      cpuRatios.push(replayed.cpuMs / pinned.cpuMs);
      console.log(
        `  round ${round}: replayed ${format(replayed)}, pinned ${format(pinned)}, ratio ${ratios.at(-1)?.toFixed(2)}, of CPU ${cpuRatios.at(-1)?.toFixed(2)}`,
      );
    }
    console.log(
      `  median ratio ${findMedian(ratios).toFixed(2)}, of CPU ${findMedian(cpuRatios).toFixed(2)} (goal: at most 1.3)`,
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function writeEvals(kind: 'pinned' | 'replayed'): string {
  const list = Array.from({ length: cases }, (_, index) => {
    const call = { toolCall: 'echo', arguments: { message: `hello ${index}` } };
    const assertion = { assert: { toolResultContains: `Echo: hello ${index}` } };
    const answered = { assert: { responseContains: `Echo: hello ${index}` } };
    const steps = kind === 'pinned' ? [call, assertion] : [{ prompt: `Say hello ${index}` }, assertion, answered];
    return { id: `case-${index}`, title: `Case ${index}`, steps };
  });
  return JSON.stringify({ suite: kind, id: kind, runs, model: `${model.provider}/${model.name}`, cases: list });
}

/** Calls the tool, then repeats its result. */
function answer({ prompt }: ModelCall): ModelAnswer {
  const said = JSON.stringify(prompt);
  const message = /hello \d+/.exec(said)?.[0] ?? '';
  const isDone = said.includes(`Echo: ${message}`);
  return {
    content: isDone
      ? [{ type: 'text', text: `It says Echo: ${message}.` }]
      : [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'echo', input: JSON.stringify({ message }) }],
    finishReason: { unified: isDone ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
    isReplayed: false,
  };
}

/** Records each case once, because every other iteration has the same conversation. */
async function recordCases(directory: string): Promise<void> {
  await using server = await startEverything();
  const redactor = createRedactor();
  const fingerprinter = createFingerprinter({ redactor, ignore: ignoreNothing });
  for (let index = 0; index < cases; index += 1) {
    const recorder = createRecorder({ redactor });
    const source = createRecordedSource({
      mode: 'record',
      findCase: () => ({ recording: null, fingerprinter }),
      live: {
        findProblem: () => null,
        openSession: async () => ({ model, answer: async (call) => answer(call) }),
      },
      findProviderProblem: () => null,
      maximumAgeMs: () => Number.POSITIVE_INFINITY,
      now: () => Date.now(),
      recorder,
    });
    const caseId = `case-${index}`;
    await runCase(
      { title: caseId, runs: 1, steps: [{ id: 'say', kind: 'prompt', prompt: `Say hello ${index}` }] },
      { url: server.url, serverName: 'everything', protocol: 'legacy' },
      {
        clock: systemClock,
        timeoutMs: 60_000,
        openModel: () => source.openSession({ model, caseId, iterationNumber: 1, apiKeys: new Map() }),
      },
    );
    const [collected] = recorder.list();
    const first = collected?.iterations.get(1);
    if (collected === undefined || first === undefined) throw new Error('Nothing was recorded.');
    const iterations = new Map(Array.from({ length: runs }, (_, iteration) => [iteration + 1, first]));
    const recording = mergeRecording(null, { ...collected, iterations }, { name: 'bench', version: '1' });
    const path = join(directory, 'recordings', 'replayed', `${caseId}.anthropic-claude-bench.jsonl`);
    await writeRecording({ path, root: null }, recording, redactor);
  }
}

async function measureOnce(directory: string, evals: string): Promise<Cost> {
  // Each side gets a separate server, because this server slows down with every session that it has ever had.
  await using server = await startEverything();
  const cost = await measureInChild<Cost>('./replay-iterations.ts', [server.url, directory, evals]);
  if (cost.passed !== cases * runs) throw new Error(`${evals}: ${cost.passed} passed. ${JSON.stringify(cost.verdict)}`);
  return cost;
}

function format({ durationMs }: Cost): string {
  return `${(durationMs / 1000).toFixed(2)} s`;
}
