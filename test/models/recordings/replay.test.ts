import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/base/errors.ts';
import type { Recording } from '../../../src/models/recordings/format.ts';
import { mergeRecording } from '../../../src/models/recordings/recorded-answer.ts';
import {
  answerPurely,
  reread,
  createScriptedSource,
  providerPackage,
  converse,
  createRequest,
  createScenario,
  createSource,
  day,
  record,
  recordedOn,
  type Exchange,
  type Scenario,
  type SourceSetup,
} from './conversation.ts';

async function replay(recording: Recording | null, scenario: Scenario, setup: Partial<SourceSetup> = {}) {
  const { source } = createSource({ recording, ...setup, mode: 'replay' });
  const session = await source.openSession(createRequest(scenario.model));
  const exchanges: Exchange[] = [];
  const error = await converse(session, scenario, exchanges).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { session, exchanges, error: error instanceof ModelError ? error : null };
}

/** Replays a changed scenario on the recording of another, and returns why it is stale. */
async function explain(changes: Partial<Scenario>, recorded: Partial<Scenario> = {}): Promise<string | undefined> {
  const recording = await record(createScenario(recorded));
  const { error } = await replay(recording, createScenario({ ...recorded, ...changes }));
  expect(error?.kind).toBe('stale');
  return error?.message;
}

const [readNote, listNotes] = createScenario().tools;
const image = (data: string) => ({
  type: 'content' as const,
  value: [{ type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data } }],
});
const text = (value: string) => ({ type: 'text' as const, value });

describe('a replay', () => {
  it('returns the recorded answers, marked, for the calls that were recorded', async () => {
    const scenario = createScenario({ prompts: ['What does note 7 say?', 'And who wrote it?'] });
    const recording = await record(scenario);
    const { exchanges, error } = await replay(recording, scenario);
    expect(error).toBeNull();
    expect(exchanges).toHaveLength(4);
    const live = [...recording.iterations.values()].flatMap(({ calls }) => calls.map(({ answer }) => answer));
    expect(exchanges.map(({ answer }) => answer)).toEqual(live.map((answer) => ({ ...answer, isReplayed: true })));
  });

  it('is used with `reuse: uncalled` where only tools differ that it never calls, and names those', async () => {
    const recording = await record(createScenario());
    const changedList = { ...listNotes!, description: 'Lists every note.' };
    const added = { ...listNotes!, name: 'delete_note' };
    const tools = {
      uncalled: [readNote!, changedList],
      removed: [readNote!],
      added: [readNote!, listNotes!, added],
      called: [{ ...readNote!, description: 'Shows a note.' }, listNotes!],
      order: [listNotes!, readNote!],
    };
    const found: Record<string, unknown> = {};
    for (const [name, list] of Object.entries(tools)) {
      const scenario = createScenario({ tools: list });
      const outcomes: unknown[] = [];
      for (const reuse of ['uncalled', null] as const) {
        const reused: string[] = [];
        const { source } = createSource({
          recording,
          mode: 'replay',
          reuse,
          onReuse: (_, names) => reused.push(...names),
        });
        const session = await source.openSession(createRequest(scenario.model));
        const asked = converse(session, scenario);
        outcomes.push(
          await asked.then(
            () => [...new Set(reused)],
            ({ kind }: ModelError) => kind,
          ),
        );
      }
      found[name] = outcomes;
    }
    expect(found).toEqual({
      uncalled: [['list_notes'], 'stale'],
      removed: [['list_notes'], 'stale'],
      added: [['delete_note'], 'stale'],
      called: ['stale', 'stale'],
      order: ['stale', 'stale'],
    });
  });

  it('says that the system prompt changed', async () => {
    expect(await explain({ system: 'You help people lose their notes.' })).toMatchInlineSnapshot(
      `"The recording of call 1 of iteration 1 is stale. The system prompt changed: recorded "You help people find their notes.", now "You help people lose their notes.""`,
    );
  });

  it('shows two long prompts from where they differ', async () => {
    const start =
      'Please read every note that I have ever written about milk, cheese and butter, and say how many there are';
    expect(await explain({ prompts: [`${start} in June.`] }, { prompts: [`${start} in May.`] })).toMatchInlineSnapshot(
      `"The recording of call 1 of iteration 1 is stale. The prompt changed: recorded "…w many there are in May.", now "…w many there are in June.""`,
    );
  });

  it('says that a later prompt changed, after it has replayed the turns before', async () => {
    const recording = await record(createScenario({ prompts: ['What does note 7 say?', 'Shorter?'] }));
    const { exchanges, error } = await replay(
      recording,
      createScenario({ prompts: ['What does note 7 say?', 'Longer?'] }),
    );
    expect(exchanges).toHaveLength(2);
    expect(error?.message).toMatchInlineSnapshot(
      `"The recording of call 3 of iteration 1 is stale. The prompt changed: recorded "Shorter?", now "Longer?""`,
    );
  });

  it('names every parameter that changed', async () => {
    expect(
      await explain({ parameters: { temperature: 0.5, maxOutputTokens: 100, toolChoice: { type: 'required' } } }),
    ).toMatchInlineSnapshot(
      `
      "The recording of call 1 of iteration 1 is stale. 3 parts of the call differ.
      The output limit changed: recorded nothing, now 100.
      The temperature changed: recorded 0, now 0.5.
      The choice of tools changed: recorded nothing, now {"type":"required"}."
    `,
    );
  });

  it('says that the description and the schema of a tool changed', async () => {
    const changed = {
      ...readNote!,
      description: 'Reads one note.',
      inputSchema: { ...readNote!.inputSchema, properties: { id: { type: 'string' as const } } },
    };
    expect(await explain({ tools: [changed, listNotes!] })).toMatchInlineSnapshot(
      `
      "The recording of call 1 of iteration 1 is stale. 2 parts of the call differ.
      The description of tool read_note changed: recorded "Reads a note.", now "Reads one note."
      The schema of tool read_note changed: /properties/id/type recorded "integer", now "string"."
    `,
    );
  });

  it('says that a long description changed behind the part that is stored', async () => {
    const tool = (end: string) => ({ ...readNote!, description: 'Reads a note. '.repeat(400) + end });
    expect(await explain({ tools: [tool('Fast.')] }, { tools: [tool('Slow.')] })).toMatchInlineSnapshot(
      `"The recording of call 1 of iteration 1 is stale. The description of tool read_note changed: recorded 5607 characters of JSON, now 5607, which differ after the first 999."`,
    );
  });

  it('says that a tool is gone, and another is new', async () => {
    expect(await explain({ tools: [{ ...readNote!, name: 'delete_note' }, listNotes!] })).toMatchInlineSnapshot(
      `
      "The recording of call 1 of iteration 1 is stale. 2 parts of the call differ.
      The tool read_note is no longer offered.
      The tool delete_note is new."
    `,
    );
  });

  it('says that the tools are in another order', async () => {
    expect(await explain({ tools: [listNotes!, readNote!] })).toMatchInlineSnapshot(
      `"The recording of call 1 of iteration 1 is stale. The same tools are offered in another order."`,
    );
  });

  it('names the values of a result that differ, with their JSON Pointers', async () => {
    expect(
      await explain({
        outputs: { read_note: { type: 'content', value: [{ type: 'text', text: '{"id":8,"text":"Buy beer"}' }] } },
      }),
    ).toMatchInlineSnapshot(
      `"The recording of call 2 of iteration 1 is stale. The result of read_note differs: /id recorded 7, now 8; /text recorded "Buy milk", now "Buy beer"; /readAt recorded "12:00", now nothing."`,
    );
  });

  it('masks the values of members with telling names', async () => {
    const output = (token: string) => ({
      read_note: { type: 'json' as const, value: { structuredContent: { token } } },
    });
    expect(await explain({ outputs: output('mellon') }, { outputs: output('sesame') })).toMatchInlineSnapshot(
      `"The recording of call 2 of iteration 1 is stale. The result of read_note differs: /structuredContent/token changed (its value is masked)."`,
    );
  });

  it('says that a result became an error', async () => {
    const outputs = { read_note: { type: 'error-text' as const, value: 'Buy milk' } };
    expect(await explain({ outputs }, { outputs: { read_note: text('Buy milk') } })).toMatchInlineSnapshot(
      `"The recording of call 2 of iteration 1 is stale. The result of read_note differs: /type recorded "text", now "error-text"."`,
    );
  });

  it('says that an image changed', async () => {
    const changed = { outputs: { read_note: image('AAAB') } };
    expect(await explain(changed, { outputs: { read_note: image('AAAA') } })).toMatchInlineSnapshot(
      `"The recording of call 2 of iteration 1 is stale. The result of read_note differs: /data/data recorded "AAAA", now "AAAB"."`,
    );
  });

  it('says that a long image changed behind the part that is stored', async () => {
    const changed = { outputs: { read_note: image(`${'A'.repeat(50_000)}B`) } };
    const recorded = { outputs: { read_note: image(`${'A'.repeat(50_000)}A`) } };
    expect(await explain(changed, recorded)).toMatchInlineSnapshot(
      `"The recording of call 2 of iteration 1 is stale. The result of read_note differs: recorded 50113 characters of JSON, now 50113, which differ after the first 999."`,
    );
  });

  it('lists each part that changed, the one that decides the others first', async () => {
    expect(
      await explain({ system: 'Be brief.', prompts: ['Read note 8.'], tools: [listNotes!], parameters: {} }),
    ).toMatchInlineSnapshot(
      `
      "The recording of call 1 of iteration 1 is stale. 4 parts of the call differ.
      The system prompt changed: recorded "You help people find their notes.", now "Be brief."
      The temperature changed: recorded 0, now nothing.
      The tool read_note is no longer offered.
      The prompt changed: recorded "What does note 7 say?", now "Read note 8.""
    `,
    );
  });

  it('notices results in another order, an earlier answer that is not the recorded one, and a message too many', async () => {
    const scenario = createScenario({ script: [['read_note', 'list_notes']] });
    const recording = await record(scenario);
    const { exchanges } = await replay(recording, scenario);
    const [first, second] = exchanges.map(({ call }) => call);
    const [system, user, assistant, results] = second!.prompt;
    const answers = results?.role === 'tool' ? results.content : [];
    const variants = {
      order: [system!, user!, assistant!, { role: 'tool' as const, content: answers.toReversed() }],
      fewer: [system!, user!, assistant!, { role: 'tool' as const, content: answers.slice(1) }],
      answer: [system!, user!, { role: 'assistant' as const, content: [] }, results!],
      extra: [...second!.prompt, user!],
      options: [system!, user!, assistant!, { ...results!, providerOptions: { anthropic: { cacheControl: true } } }],
      systemLater: [user!, system!, assistant!, results!],
    };
    const { signal } = new AbortController();
    const reasons: Record<string, string> = {};
    for (const [name, prompt] of Object.entries(variants)) {
      const session = await createSource({ recording, mode: 'replay' }).source.openSession(
        createRequest(scenario.model),
      );
      await session.answer(first!, { signal });
      const error: unknown = await session
        .answer({ ...second!, prompt }, { signal })
        .catch((thrown: unknown) => thrown);
      reasons[name] = error instanceof ModelError ? error.message : String(error);
    }
    expect(reasons).toMatchInlineSnapshot(`
      {
        "answer": "The recording of call 2 of iteration 1 is stale. An earlier answer of the model is not the one recorded.",
        "extra": "The recording of call 2 of iteration 1 is stale. Message 4 of the conversation differs: recorded none, now one of the role user.",
        "fewer": "The recording of call 2 of iteration 1 is stale. The number of results after an answer differs: recorded 2, now 1.",
        "options": "The recording of call 2 of iteration 1 is stale. The providerOptions of the results changed: recorded nothing, now {"anthropic":{"cacheControl":true}}.",
        "order": "The recording of call 2 of iteration 1 is stale. 2 parts of the call differ.
      Result 1 after an answer differs: recorded tool-result of read_note (call00001), now tool-result of list_notes (call00002).
      Result 2 after an answer differs: recorded tool-result of list_notes (call00002), now tool-result of read_note (call00001).",
        "systemLater": "The recording of call 2 of iteration 1 is stale. The messages are in another order.",
      }
    `);
  });

  it('fits a conversation that is shortened between two calls', async () => {
    const scenario = createScenario();
    const { signal } = new AbortController();
    const say = (...texts: string[]) => ({
      prompt: texts.map((text) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })),
      tools: [],
    });
    const calls = [say('a', 'b'), say('a', 'c', 'd'), say('a', 'c'), say()];
    const live = createScriptedSource(scenario);
    const { source, recorder } = createSource({ mode: 'record', live });
    const session = await source.openSession(createRequest(scenario.model));
    for (const call of calls) await session.answer(call, { signal });
    const recording = reread(mergeRecording(null, recorder.list()[0]!, providerPackage));
    const replayed = await createSource({ mode: 'replay', recording }).source.openSession(
      createRequest(scenario.model),
    );
    for (const call of calls) {
      expect((await replayed.answer(call, { signal })).content).toEqual(answerPurely(scenario, call).content);
    }
  });

  it('accepts keys in another order, and nothing else that is rearranged', async () => {
    const scenario = createScenario();
    const sorted = {
      ...readNote!,
      inputSchema: { required: ['id'], properties: { id: { type: 'integer' as const } }, type: 'object' as const },
    };
    const { error } = await replay(await record(scenario), createScenario({ tools: [sorted, listNotes!] }));
    expect(error).toBeNull();
  });

  it('notices what a caller changed in an object that it hands over again', async () => {
    const scenario = createScenario();
    const recording = await record(scenario);
    const tools = structuredClone(scenario.tools);
    const { source } = createSource({ recording, mode: 'replay' });
    const session = await source.openSession(createRequest(scenario.model));
    const { signal } = new AbortController();
    const exchanges = await converse(session, { ...scenario, tools });
    tools[0]!.description = 'Reads every note.';
    const again = await source.openSession(createRequest(scenario.model));
    await expect(again.answer(exchanges[0]!.call, { signal })).rejects.toThrow('description of tool read_note');
  });

  it('has no answer for calls and iterations that were not recorded', async () => {
    const scenario = createScenario();
    const recording = await record(scenario);
    const none = await replay(null, scenario);
    expect(none.error).toMatchObject({
      kind: 'missing',
      message: 'There is no recording of this case with anthropic/claude-haiku-4.5.',
      hint: 'Record it with `mcp-eval-ci record`.',
    });
    const { source } = createSource({ recording, mode: 'replay' });
    const second = await source.openSession(createRequest(scenario.model, 2));
    await expect(converse(second, scenario)).rejects.toThrow('There is no recording of call 1 of iteration 2.');
    const longer = await replay(recording, createScenario({ prompts: ['What does note 7 say?', 'And note 8?'] }));
    expect(longer.error?.message).toBe('There is no recording of call 3 of iteration 1.');
  });

  it('does not use the recording of another model', async () => {
    const recording = await record(createScenario());
    const other = createScenario({ model: { provider: 'openai', name: 'gpt-5' } });
    expect((await replay(recording, other)).error?.message).toMatchInlineSnapshot(
      `"The recording is stale. It was made with anthropic/claude-haiku-4.5, and the case asks for openai/gpt-5."`,
    );
  });

  it('uses a recording up to its maximum age, and not longer', async () => {
    const scenario = createScenario();
    const recording = await record(scenario);
    const limits = { maximumAgeMs: 30 * day };
    expect((await replay(recording, scenario, { ...limits, nowMs: recordedOn + 30 * day })).error).toBeNull();
    const { error } = await replay(recording, scenario, { ...limits, nowMs: recordedOn + 30.5 * day });
    expect(error?.message).toMatchInlineSnapshot(
      `"The recording of iteration 1 is stale. It was made on 2026-03-01, 30.5 days ago; recordings are used for 30 days."`,
    );
    const early = await replay(recording, scenario, { ...limits, nowMs: recordedOn - 2 * day });
    expect(early.error?.message).toMatchInlineSnapshot(
      `"The recording of iteration 1 is stale. Its date, 2026-03-01, is in the future."`,
    );
  });

  it('fails every later call of an iteration alike, even one that was recorded', async () => {
    const scenario = createScenario();
    const { session, error } = await replay(await record(scenario), createScenario({ system: 'Be brief.' }));
    await expect(converse(session, scenario)).rejects.toThrow(error?.message);
  });

  it('stops once the signal aborts', async () => {
    const scenario = createScenario();
    const { source } = createSource({ recording: await record(scenario), mode: 'replay' });
    const session = await source.openSession(createRequest(scenario.model));
    const call = { prompt: [], tools: [] };
    await expect(session.answer(call, { signal: AbortSignal.abort(new Error('Stopped.')) })).rejects.toThrow(
      'Stopped.',
    );
  });
});
