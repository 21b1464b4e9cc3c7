import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/base/errors.ts';
import type { ModelSource } from '../../../src/models/language-model.ts';
import { printRecording, type Recording } from '../../../src/models/recordings/format.ts';
import { mergeRecording } from '../../../src/models/recordings/recorded-answer.ts';
import type { RecordingsMode } from '../../../src/models/recordings/source.ts';
import {
  answerPurely,
  reread,
  converse,
  createRequest,
  createScenario,
  createScriptedSource,
  createSource,
  day,
  noKey,
  providerPackage,
  record,
  recordedOn,
  type Exchange,
  type Scenario,
} from './conversation.ts';

const scenario = createScenario();
const twoPrompts = createScenario({ prompts: ['What does note 7 say?', 'And in French?'] });
const otherResult = (base: Scenario): Scenario => ({
  ...base,
  outputs: { read_note: { type: 'text', value: 'Buy beer' } },
});

const states = {
  fresh: { recording: () => record(scenario), now: scenario },
  stale: { recording: () => record(scenario), now: otherResult(scenario) },
  'too old': { recording: () => record(scenario, { nowMs: recordedOn - 31 * day }), now: scenario },
  missing: { recording: async () => null, now: scenario },
} as const;

async function run(mode: RecordingsMode, state: keyof typeof states, hasKey: boolean): Promise<string> {
  const live = createScriptedSource(states[state].now);
  const { source } = createSource({ mode, recording: await states[state].recording(), live, hasKey });
  const session = await source.openSession(createRequest(scenario.model));
  const exchanges: Exchange[] = [];
  const error = await converse(session, states[state].now, exchanges).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const replayed = exchanges.filter(({ answer }) => answer.isReplayed).length;
  expect(exchanges).toHaveLength(replayed + live.calls);
  const failure = error instanceof ModelError ? `, ${error.kind}` : '';
  return `${replayed} replayed, ${live.calls} live${failure}`;
}

describe('where answers come from', () => {
  it('depends on the mode, the recording and the key', async () => {
    const table: Record<string, string> = {};
    for (const mode of ['auto', 'live', 'record', 'replay'] as const) {
      for (const state of ['fresh', 'stale', 'too old', 'missing'] as const) {
        for (const hasKey of [true, false]) {
          table[`${mode}, ${state}, ${hasKey ? 'key' : 'no key'}`] = await run(mode, state, hasKey);
        }
      }
    }
    expect(table).toMatchInlineSnapshot(`
      {
        "auto, fresh, key": "2 replayed, 0 live",
        "auto, fresh, no key": "2 replayed, 0 live",
        "auto, missing, key": "0 replayed, 2 live",
        "auto, missing, no key": "0 replayed, 0 live, missing",
        "auto, stale, key": "1 replayed, 1 live",
        "auto, stale, no key": "1 replayed, 0 live, stale",
        "auto, too old, key": "0 replayed, 2 live",
        "auto, too old, no key": "0 replayed, 0 live, stale",
        "live, fresh, key": "0 replayed, 2 live",
        "live, fresh, no key": "0 replayed, 2 live",
        "live, missing, key": "0 replayed, 2 live",
        "live, missing, no key": "0 replayed, 2 live",
        "live, stale, key": "0 replayed, 2 live",
        "live, stale, no key": "0 replayed, 2 live",
        "live, too old, key": "0 replayed, 2 live",
        "live, too old, no key": "0 replayed, 2 live",
        "record, fresh, key": "0 replayed, 2 live",
        "record, fresh, no key": "0 replayed, 2 live",
        "record, missing, key": "0 replayed, 2 live",
        "record, missing, no key": "0 replayed, 2 live",
        "record, stale, key": "0 replayed, 2 live",
        "record, stale, no key": "0 replayed, 2 live",
        "record, too old, key": "0 replayed, 2 live",
        "record, too old, no key": "0 replayed, 2 live",
        "replay, fresh, key": "2 replayed, 0 live",
        "replay, fresh, no key": "2 replayed, 0 live",
        "replay, missing, key": "0 replayed, 0 live, missing",
        "replay, missing, no key": "0 replayed, 0 live, missing",
        "replay, stale, key": "1 replayed, 0 live, stale",
        "replay, stale, no key": "1 replayed, 0 live, stale",
        "replay, too old, key": "0 replayed, 0 live, stale",
        "replay, too old, no key": "0 replayed, 0 live, stale",
      }
    `);
  });

  it('says what to do where a recording is missing or stale and there is no key', async () => {
    const live = createScriptedSource(scenario);
    const { source } = createSource({ mode: 'auto', live, hasKey: false });
    const session = await source.openSession(createRequest(scenario.model));
    await expect(converse(session, scenario)).rejects.toMatchObject({
      kind: 'missing',
      message: `There is no recording of this case with anthropic/claude-haiku-4.5. ${noKey}`,
      hint: 'Record it with `mcp-eval-ci record`.',
    });
    const old = createSource({ mode: 'auto', live, recording: await record(scenario), nowMs: recordedOn + 31 * day });
    const again = await old.source.openSession(createRequest(scenario.model));
    await expect(converse(again, scenario)).rejects.toMatchObject({
      kind: 'stale',
      message: expect.stringMatching(/^The recording of iteration 1 is stale\..* ANTHROPIC_API_KEY is not set\.$/),
      hint: 'Re-record with `mcp-eval-ci record`.',
    });
  });

  it('calls the model with a key that came with the run', async () => {
    const live = createScriptedSource(scenario);
    const { source } = createSource({ mode: 'auto', live, hasKey: false });
    const request = { ...createRequest(scenario.model), apiKeys: new Map([['anthropic', 'key']]) };
    await converse(await source.openSession(request), scenario);
    expect(live.calls).toBe(2);
  });

  it('goes on with the model in the same conversation, and records the iteration as a whole', async () => {
    const changed = createScenario({ prompts: ['What does note 7 say?', 'And in Dutch?'] });
    const recording = await record(twoPrompts, { iterations: 2 });
    const live = createScriptedSource(changed);
    const nowMs = recordedOn + 10 * day;
    const { source, recorder } = createSource({ mode: 'auto', recording, live, hasKey: true, nowMs });
    const session = await source.openSession(createRequest(scenario.model));
    const exchanges = await converse(session, changed);
    expect(exchanges.map(({ answer }) => answer.isReplayed)).toEqual([true, true, false, false]);
    for (const { call, answer } of exchanges) expect(answer.content).toEqual(answerPurely(changed, call).content);

    const [collected, ...others] = recorder.list();
    expect(others).toEqual([]);
    const merged = mergeRecording(recording, collected!, providerPackage);
    const read = reread(merged);
    // As old as the oldest answer in it.
    expect(read.iterations.get(1)?.recordedAt).toBe(new Date(recordedOn).toISOString());
    expect(read.iterations.get(2)).toEqual(recording.iterations.get(2));
    const again = createSource({ mode: 'replay', recording: read });
    expect(await converse(await again.source.openSession(createRequest(scenario.model)), changed)).toHaveLength(4);
  });

  it('keeps the date of each iteration where only some are recorded anew', async () => {
    const recording = await record(scenario, { iterations: 2 });
    const nowMs = recordedOn + 20 * day;
    const live = createScriptedSource(scenario);
    const { source, recorder } = createSource({ mode: 'record', recording, live, nowMs });
    await converse(await source.openSession(createRequest(scenario.model, 2)), scenario);
    const read = reread(mergeRecording(recording, recorder.list()[0]!, providerPackage));
    expect([...read.iterations].map(([number, { recordedAt }]) => [number, recordedAt])).toEqual([
      [1, '2026-03-01T10:00:00.000Z'],
      [2, '2026-03-21T10:00:00.000Z'],
    ]);
    expect(printRecording(reread(read))).toBe(printRecording(read));
  });
});

/** A model that gives up at one of its calls. */
function failAt(scripted: Scenario, failing: number, error: Error): ModelSource {
  let calls = 0;
  return createScriptedSource(scripted, (call) => {
    calls += 1;
    if (calls === failing) throw error;
    return answerPurely(scripted, call);
  });
}

describe('what is recorded', () => {
  it('leaves out an iteration without its end, and says why', async () => {
    const unavailable = new ModelError('The provider is down.', { kind: 'unavailable' });
    const { source, recorder } = createSource({ mode: 'record', live: failAt(scenario, 4, unavailable) });
    await converse(await source.openSession(createRequest(scenario.model, 1)), scenario);
    await expect(converse(await source.openSession(createRequest(scenario.model, 2)), scenario)).rejects.toBe(
      unavailable,
    );
    await converse(await source.openSession(createRequest(scenario.model, 3)), scenario);
    const [collected] = recorder.list();
    expect([...collected!.iterations.keys()]).toEqual([1, 3]);
    expect([...collected!.skipped]).toEqual([[2, 'The provider is down.']]);
  });

  it('is the last complete attempt of an iteration that runs again', async () => {
    const stopped = new Error('Stopped.');
    const { source, recorder } = createSource({ mode: 'record', live: failAt(scenario, 2, stopped) });
    await expect(converse(await source.openSession(createRequest(scenario.model)), scenario)).rejects.toBe(stopped);
    expect(recorder.list()).toMatchObject([{ iterations: new Map(), skipped: new Map([[1, 'Stopped.']]) }]);
    await converse(await source.openSession(createRequest(scenario.model)), scenario);
    const [collected] = recorder.list();
    expect(collected?.iterations.get(1)?.calls).toHaveLength(2);
    expect(collected?.skipped.size).toBe(0);
  });

  it('is nothing where every answer was replayed', async () => {
    const { source, recorder } = createSource({ mode: 'auto', recording: await record(scenario) });
    await converse(await source.openSession(createRequest(scenario.model)), scenario);
    expect(recorder.list()).toEqual([]);
  });

  it('skips an iteration with an answer that no recording can hold', async () => {
    const future = { type: 'text' as const, text: 'A', tone: 'warm' };
    const live = createScriptedSource(scenario, (call) => ({ ...answerPurely(scenario, call), content: [future] }));
    const { source, recorder } = createSource({ mode: 'record', live });
    await converse(await source.openSession(createRequest(scenario.model)), scenario);
    expect(recorder.list()).toMatchObject([
      { skipped: new Map([[1, 'An answer of the model has a part that recordings do not know.']]) },
    ]);
  });

  it('holds every part that an answer can have', async () => {
    const metadata = { anthropic: { signature: 'abc' } };
    const content = [
      { type: 'reasoning' as const, text: 'Hm.', providerMetadata: metadata },
      {
        type: 'file' as const,
        mediaType: 'image/png',
        data: { type: 'data' as const, data: new Uint8Array([1, 2, 3]) },
      },
      {
        type: 'file' as const,
        mediaType: 'image/png',
        data: { type: 'url' as const, url: new URL('https://a.test/x.png') },
      },
      { type: 'source' as const, sourceType: 'url' as const, id: '1', url: 'https://a.test/' },
      { type: 'custom' as const, kind: 'openai.compaction' as const, providerMetadata: metadata },
      { type: 'tool-result' as const, toolCallId: 'c', toolName: 'search', result: { hits: [1, null, 'a'] } },
      { type: 'text' as const, text: 'Done.', providerMetadata: metadata },
    ];
    const live = createScriptedSource(scenario, (call) => ({ ...answerPurely(scenario, call), content }));
    const recording = await record({ ...scenario, script: [] }, { live });
    const answer = recording.iterations.get(1)?.calls[0]?.answer;
    expect(answer?.content).toEqual([
      content[0],
      { ...content[1], data: { type: 'data', data: 'AQID' } },
      ...content.slice(2).map((part) => ('toolCallId' in part ? { ...part, toolCallId: 'call00001' } : part)),
    ]);
  });

  it('keeps iterations, cases and models apart that run at the same time', async () => {
    const live = createScriptedSource(twoPrompts);
    const { source, recorder } = createSource({ mode: 'record', live });
    const models = [scenario.model, { provider: 'openai', name: 'gpt-5' }];
    const requests = models.flatMap((model) =>
      ['a', 'b'].flatMap((caseId) => [3, 1, 2].map((number) => ({ ...createRequest(model, number), caseId }))),
    );
    await Promise.all(
      requests.map(async (request) => {
        const own = { ...twoPrompts, system: `${request.caseId} ${request.model.name} ${request.iterationNumber}` };
        await converse(await source.openSession(request), own);
      }),
    );
    const collected = recorder.list();
    expect(collected.map(({ caseId, model }) => `${caseId} ${model.name}`)).toEqual([
      'a claude-haiku-4.5',
      'b claude-haiku-4.5',
      'a gpt-5',
      'b gpt-5',
    ]);
    for (const { caseId, model, iterations } of collected) {
      for (const [number, { calls }] of iterations) {
        expect(calls).toHaveLength(4);
        for (const { sent } of calls) {
          expect(sent.messages[0]).toEqual({ role: 'system', value: { content: `${caseId} ${model.name} ${number}` } });
        }
      }
    }
    const text = printRecording(mergeRecording(null, collected[0]!, providerPackage));
    const order = [...text.matchAll(/"iteration":(\d),"turn":(\d)/g)].map(
      ([, iteration, turn]) => `${iteration}.${turn}`,
    );
    expect(order).toEqual(order.toSorted());
  });
});

describe('`ignore`', () => {
  const at = (readAt: string, id = 7): Scenario =>
    createScenario({ outputs: { read_note: { type: 'text', value: JSON.stringify({ id, readAt }) } } });
  const replay = async (recording: Recording, now: Scenario, ignore: string[]) => {
    const { source } = createSource({ mode: 'replay', recording, ignore });
    const session = await source.openSession(createRequest(now.model));
    const error: unknown = await converse(session, now).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error instanceof ModelError ? error.message : error;
  };

  it('keeps a recording fresh where only what is excluded differs', async () => {
    const recording = await record(at('12:00'), { ignore: ['/readAt'] });
    expect(printRecording(recording)).not.toContain('12:00');
    expect(await replay(recording, at('12:05'), ['/readAt'])).toBeNull();
    expect(await replay(recording, at('12:05', 8), ['/readAt'])).toContain('/id recorded 7, now 8');
  });

  it('applies to what was recorded before the pattern was added', async () => {
    const recording = await record(at('12:00'));
    expect(await replay(recording, at('12:05'), [])).toContain('/readAt recorded "12:00", now "12:05"');
    expect(await replay(recording, at('12:05'), ['/readAt'])).toBeNull();
    expect(await replay(recording, at('12:05'), [String.raw`\d\d:\d\d`])).toBeNull();
  });

  it('makes a recording stale once the pattern is removed', async () => {
    const recording = await record(at('12:00'), { ignore: ['/readAt'] });
    expect(await replay(recording, at('12:00'), [])).toContain('/readAt recorded "⟨ignored⟩", now "12:00"');
  });

  it('applies to long results, which are stored as their beginning', async () => {
    const long = (readAt: string, end = 'x') =>
      createScenario({
        outputs: { read_note: { type: 'text', value: JSON.stringify({ text: `${'y'.repeat(9000)}${end}`, readAt }) } },
      });
    const recording = await record(long('12:00'), { ignore: ['/readAt'] });
    expect(printRecording(recording).length).toBeLessThan(6000);
    expect(await replay(recording, long('12:05'), ['/readAt'])).toBeNull();
    expect(await replay(recording, long('12:05', 'z'), ['/readAt'])).toContain('The result of read_note differs');
  });

  it('does not apply to prompts and tools', async () => {
    const recording = await record(createScenario({ prompts: ['Read id-1'] }), { ignore: [String.raw`id-\d`] });
    const now = createScenario({ prompts: ['Read id-2'] });
    expect(await replay(recording, now, [String.raw`id-\d`])).toContain('The prompt changed');
  });
});
