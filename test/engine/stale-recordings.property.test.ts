import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import { startConversation } from '../../src/models/conversation.ts';
import type { ModelCall, ModelSource } from '../../src/models/language-model.ts';
import type { Recording } from '../../src/models/recordings/format.ts';
import { mergeRecording } from '../../src/models/recordings/recorded-answer.ts';
import { createRequest, createSource, providerPackage, reread } from '../models/recordings/conversation.ts';
import { openEnd } from '../support/models/model-source.ts';
import { countDraws } from '../support/property-runs.ts';
import {
  answerWorld,
  createWorld,
  createWorldCase,
  judgeTruly,
  startWorldServer,
  type Turn,
  type World,
  type WorldServer,
} from './recorded-world.ts';

const model = { provider: 'anthropic', name: 'claude-haiku-4.5' };
const changes = countDraws(1000);

let server: WorldServer;

beforeAll(async () => {
  server = await startWorldServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** A model that answers when it is called, and counts its calls. */
function createLiveSource(): ModelSource {
  return {
    findProblem: () => null,
    openSession: async () => ({ model, answer: async (call) => answerWorld(call) }),
  };
}

async function runWorld(world: World, source: ModelSource): Promise<CaseOutcome> {
  server.setTools(world.tools);
  const target = { url: server.url, serverName: 'world', protocol: 'modern' as const };
  return await runCase(createWorldCase(world), target, {
    clock: systemClock,
    timeoutMs: 30_000,
    openModel: () => source.openSession(createRequest(model)),
  });
}

async function recordWorld(world: World): Promise<Recording> {
  const { source, recorder } = createSource({ mode: 'record', live: createLiveSource() });
  const outcome = await runWorld(world, source);
  expect(outcome).toMatchObject({ result: 'passed', usage: { modelCalls: 4, replayedCalls: 0 } });
  const [collected] = recorder.list();
  if (collected === undefined) throw new Error('Nothing was recorded.');
  return reread(mergeRecording(null, collected, providerPackage));
}

/** What the model is asked and answers without an engine, a server and a recording. */
async function converse({
  system,
  temperature,
  prompts,
  tools,
  decoys,
}: World): Promise<{ asked: string[]; turns: Turn[] }> {
  const asked: string[] = [];
  const turns: Turn[] = [];
  const calls: string[] = [];
  const session = {
    model,
    answer: async (call: ModelCall) => {
      asked.push(JSON.stringify(call));
      return answerWorld(call);
    },
  };
  const conversation = startConversation(session, { system, temperature, toolChoice: null, maxSteps: 10 });
  const offered = [
    ...tools.map(({ parameter, ...tool }) => ({ ...tool, properties: { [parameter]: { type: 'number' as const } } })),
    ...decoys.map((decoy) => ({ ...decoy, properties: {} })),
  ];
  for (const prompt of prompts) {
    let text = '';
    await conversation.ask(
      prompt,
      {
        tools: offered.map(({ name, description, properties }) => ({
          type: 'function',
          name,
          description,
          inputSchema: { type: 'object', properties },
        })),
        onAnswer: ({ content }) => {
          text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
        },
        callTool: async ({ toolName, input }) => {
          calls.push(`${toolName} ${input}`);
          const result = tools.find(({ name }) => name === toolName)?.result ?? 'The server has no such tool.';
          return { content: [{ type: 'text', text: result }], isError: false };
        },
      },
      openEnd,
    );
    turns.push({ calls: [...calls], text });
  }
  return { asked, turns };
}

type Change = (world: World, draw: { at: number; word: string }) => void;

function pick<T>(list: readonly T[], at: number): T {
  const item = list[at % list.length];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
}

/** Puts a word at the end of a text, or instead of one of its words. */
function edit(text: string, { at, word }: { at: number; word: string }): string {
  const words = text.split(' ');
  if (at % 5 === 0) return `${text} ${word}`;
  return words.with(-1 - (at % Math.min(words.length, 3)), word).join(' ');
}

const kinds: Readonly<Record<string, Change>> = {
  system: (world, draw) => void (world.system = edit(world.system, draw)),
  temperature: (world, { at }) => void (world.temperature = pick([0.1, 0.5, 1], at)),
  'first prompt': (world, draw) => void (world.prompts[0] = edit(world.prompts[0], draw)),
  'second prompt': (world, draw) => void (world.prompts[1] = edit(world.prompts[1], draw)),
  description: (world, draw) => {
    const tool = pick(world.tools, draw.at);
    tool.description = edit(tool.description, draw);
  },
  schema: (world, { at, word }) => void (pick(world.tools, at).parameter = `x${word}`),
  'added tool': (world, { at, word }) => {
    const verb = pick(['read', 'count', 'sing'], at);
    const tool = { name: `new_${at}`, description: `Can ${verb} a note, ${word}.`, parameter: 'id', result: word };
    world.tools.splice(at % 4, 0, tool);
  },
  'removed tool': (world, { at }) => void world.tools.splice(at % world.tools.length, 1),
  'order of tools': (world, { at }) => void world.tools.push(...world.tools.splice(at % 3, 1)),
  'first result': (world, draw) => {
    const tool = pick(world.tools, 1);
    tool.result = edit(tool.result, draw);
  },
  'second result': (world, draw) => {
    const tool = pick(world.tools, 2);
    tool.result = edit(tool.result, draw);
  },
  'unused result': (world, draw) => void (pick(world.tools, 0).result = draw.word),
  decoy: (world, draw) => {
    const decoy = pick(world.decoys, 0);
    decoy.description = edit(decoy.description, draw);
  },
  'added decoy': (world, { at, word }) => void world.decoys.push({ name: `decoy_${at}`, description: `Can ${word}.` }),
  'removed decoy': (world) => void world.decoys.pop(),
};

const change = fc.record({
  kind: fc.constantFrom(...Object.keys(kinds)),
  at: fc.nat(99),
  word: fc.oneof(fc.constantFrom('read', 'count', 'Ada', '7', '12', 'milk'), fc.stringMatching(/^\w{1,8}$/)),
});

describe('a recording of a case', () => {
  it('decides nothing that came after a change, and everything while nothing changes', async () => {
    const recording = await recordWorld(createWorld());
    const base = await converse(createWorld());
    expect(judgeTruly(base.turns)).not.toContain(false);
    const figures = { changes: 0, seen: 0, deciding: 0, stale: 0, red: 0, green: 0, controls: 0 };
    const property = fc.asyncProperty(change, async ({ kind, ...draw }) => {
      // One for all calls of a case, as in a gate.
      const { source } = createSource({ mode: 'replay', recording });
      const control = await runWorld(createWorld(), source);
      expect(control).toMatchObject({ result: 'passed', usage: { modelCalls: 0, replayedCalls: 4 } });
      figures.controls += 1;

      const world = createWorld();
      kinds[kind]?.(world, draw);
      const { asked, turns } = await converse(world);
      const truth = judgeTruly(turns);
      const isSeen = JSON.stringify(asked) !== JSON.stringify(base.asked);
      const { result, steps, error, usage } = await runWorld(world, source);
      figures.changes += 1;
      figures.seen += Number(isSeen);
      figures.deciding += Number(truth.includes(false));
      figures[result === null ? 'stale' : result === 'passed' ? 'green' : 'red'] += 1;
      // Green is what is true and was recorded as it is; red is what is true as well.
      expect(result === 'passed').toBe(!isSeen);
      if (result === 'passed') expect(truth).not.toContain(false);
      if (result === 'failed') expect(truth).toContain(false);
      if (result === null) expect(error).toMatch(/^The recording of call \d of iteration 1 is stale\. \w/);
      // No single assertion passes that would not, and none fails that would pass.
      for (const [index, { status }] of steps.entries()) {
        if (status !== 'skipped') expect([index, status]).toEqual([index, truth[index] === true ? 'ok' : 'fail']);
      }
      expect(usage?.modelCalls ?? 0).toBe(0);
    });
    await fc.assert(property, { numRuns: changes });
    console.log(JSON.stringify(figures));
    expect(figures).toMatchObject({ changes, controls: changes });
    expect(figures.deciding).toBeGreaterThanOrEqual(changes * 0.3);
    expect(figures.stale).toBeGreaterThan(0);
    // One session each, and one in which it was recorded.
    expect(server.sessions()).toBe(2 * changes + 1);
  });
});
