import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, ModelError } from '../../../src/base/errors.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { writeRecording } from '../../../src/models/recordings/files.ts';
import { mergeRecording } from '../../../src/models/recordings/recorded-answer.ts';
import { createWorkspace } from '../../support/workspace.ts';
import {
  answerPurely,
  converse,
  createRequest,
  createScenario,
  createScriptedSource,
  createSource,
  providerPackage,
  record,
  type Scenario,
} from './conversation.ts';

const canaries = Array.from({ length: 40 }, (_, index) => `canary${index}-Zq8${index}vK3mW7xT1pR5${index}`);

/** A scenario with a secret of its own wherever a call or an answer has text. */
function hideCanaries(): { scenario: Scenario; answerWith: string[] } {
  const rest = [...canaries];
  const next = () => rest.pop() ?? '';
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const scenario = createScenario({
    system: `Key ${next()}, ${encode(next())}, ${JSON.stringify({ a: next() })}`,
    prompts: [`Use ${next()}`, `And https://user:${next()}@a.test/?q=${encodeURIComponent(next())}`],
    tools: [
      {
        type: 'function',
        name: `read_${next()}`,
        description: `Reads ${next()}, ${next()}`,
        inputSchema: {
          type: 'object',
          description: next(),
          properties: { [next()]: { type: 'string', enum: [next(), next()], default: next() } },
        },
        inputExamples: [{ input: { key: next() } }],
        providerOptions: { anthropic: { note: next() } },
      },
      { type: 'function', name: 'read_note', description: `${'Long. '.repeat(1000)}${next()}`, inputSchema: {} },
    ],
    parameters: { temperature: 0, toolChoice: { type: 'tool', toolName: next() } },
    script: [['read_note', 'list_notes', 'search', 'fail', 'deny']],
    outputs: {
      read_note: { type: 'text', value: `${next()} ${'x'.repeat(600)}${next()}${'y'.repeat(5000)}` },
      list_notes: {
        type: 'json',
        value: { content: [{ type: 'text', text: next() }], structuredContent: { [next()]: next(), list: [next()] } },
      },
      search: {
        type: 'content',
        value: [
          { type: 'text', text: JSON.stringify({ nested: JSON.stringify({ key: next() }) }) },
          {
            type: 'file',
            mediaType: 'image/png',
            data: { type: 'data', data: encode(`PNG 1 ${next()}`) },
            filename: next(),
          },
        ],
      },
      fail: { type: 'error-text', value: `Failed: ${next()}` },
      deny: { type: 'execution-denied', reason: next() },
    },
  });
  return { scenario, answerWith: rest };
}

/** A model that repeats what it saw, and says more secrets wherever an answer has text. */
function createTalkativeSource(scenario: Scenario, secrets: readonly string[]) {
  return createScriptedSource(scenario, (call) => {
    const answer = answerPurely(scenario, call);
    const [one = '', two = '', three = '', ...others] = secrets;
    return {
      ...answer,
      content: [
        { type: 'reasoning', text: `I saw ${one}`, providerMetadata: { anthropic: { [two]: three } } },
        { type: 'text', text: `${JSON.stringify(call)} ${others.join(' ')}` },
        ...answer.content.map((part) =>
          part.type === 'tool-call' ? { ...part, input: JSON.stringify({ key: one }) } : part,
        ),
      ],
      finishReason: { unified: answer.finishReason.unified, raw: two },
      usage: { ...answer.usage, raw: { id: three } },
    };
  });
}

/** Three bytes are four characters of base64, so it is only found where whole threes are before it. */
const listFound = (text: string) =>
  canaries.filter(
    (canary) => text.includes(canary) || text.includes(Buffer.from(canary).toString('base64').slice(4, -4)),
  );

describe('secrets', () => {
  it('are in no file and no message, wherever they are sent or answered', async () => {
    await using workspace = await createWorkspace();
    const redactor = createRedactor(canaries.map((canary) => new Secret(canary)));
    const { scenario, answerWith } = hideCanaries();
    expect(answerWith.length).toBeGreaterThan(3);
    const live = createTalkativeSource(scenario, answerWith);
    const recording = await record(scenario, { live, redactor });
    const path = join(workspace.path, 'a.jsonl');
    await writeRecording({ path: path, root: null }, recording, redactor);
    expect(listFound(await workspace.read('a.jsonl'))).toEqual([]);
    expect(await workspace.read('a.jsonl')).toContain('***');

    // The same without a redactor has them all, so the test can fail.
    const open = await record(scenario, { live });
    await writeRecording({ path: join(workspace.path, 'b.jsonl'), root: null }, open, createRedactor());
    expect(listFound(await workspace.read('b.jsonl'))).toEqual(canaries);

    const changed = { ...scenario, prompts: ['Other'], system: `Key ${canaries[0]}`, tools: [] };
    const { source } = createSource({ mode: 'replay', recording, redactor });
    const session = await source.openSession(createRequest(scenario.model));
    const error: unknown = await converse(session, changed).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(listFound(String(error))).toEqual([]);
    expect(String(error)).toContain('***');
  });

  it('may change without making a recording stale, as long as both are known', async () => {
    const [one = '', two = ''] = canaries;
    const redactor = createRedactor([new Secret(one), new Secret(two)]);
    const withKey = (key: string) => createScenario({ prompts: [`Use the key ${key}.`] });
    const recording = await record(withKey(one), { redactor });
    const { source } = createSource({ mode: 'replay', recording, redactor });
    const exchanges = await converse(await source.openSession(createRequest(recording.model)), withKey(two));
    expect(exchanges).toHaveLength(2);
  });

  it('that became known after the recording do not make it stale', async () => {
    const recording = await record(createScenario());
    const secrets = ['Buy milk', 'Reads a note', 'find their notes', 'What does note'].map((text) => new Secret(text));
    const { source } = createSource({ mode: 'replay', recording, redactor: createRedactor(secrets) });
    const session = await source.openSession(createRequest(recording.model));
    expect(await converse(session, createScenario())).toHaveLength(2);
  });

  it('that redaction makes equal stay two members of an object', async () => {
    const [one = '', two = ''] = canaries;
    const redactor = createRedactor([new Secret(one), new Secret(two)]);
    const withValues = (first: number, second: number) =>
      createScenario({ outputs: { read_note: { type: 'json', value: { [one]: first, [two]: second } } } });
    const recording = await record(withValues(1, 2), { redactor });
    const { source } = createSource({ mode: 'replay', recording, redactor });
    const session = await source.openSession(createRequest(recording.model));
    await expect(converse(session, withValues(3, 2))).rejects.toThrow('recorded 1, now 3');
  });

  it('that are numbers are replaced, and keep a file from being written where it needs the number', async () => {
    await using workspace = await createWorkspace();
    const path = join(workspace.path, 'a.jsonl');
    const pin = createRedactor([new Secret('48151623')]);
    const scenario = createScenario({ outputs: { read_note: { type: 'json', value: { pin: 48151623 } } } });
    await writeRecording({ path: path, root: null }, await record(scenario, { redactor: pin }), pin);
    expect(await workspace.read('a.jsonl')).toContain('{"pin":"***"}');

    const live = createScriptedSource(scenario, (call) => {
      const answer = answerPurely(scenario, call);
      return {
        ...answer,
        usage: { ...answer.usage, outputTokens: { total: 48151623, text: undefined, reasoning: undefined } },
      };
    });
    await expect(writeRecording({ path: path, root: null }, await record(scenario, { live }), pin)).rejects.toThrow(
      ConfigurationError,
    );
  });

  it('that became known after the recording are replaced before it is written', async () => {
    await using workspace = await createWorkspace();
    const redactor = createRedactor();
    const { source, recorder } = createSource({
      mode: 'record',
      live: createScriptedSource(createScenario()),
      redactor,
    });
    await converse(await source.openSession(createRequest(createScenario().model)), createScenario());
    const recording = mergeRecording(null, recorder.list()[0]!, providerPackage);
    redactor.add(new Secret('Buy milk'));
    await writeRecording({ path: join(workspace.path, 'a.jsonl'), root: null }, recording, redactor);
    expect(await workspace.read('a.jsonl')).not.toContain('Buy milk');
    expect(await workspace.read('a.jsonl')).toContain(String.raw`\"text\":\"***\"`);
  });

  it('stop the writing where they are part of the file itself, without a word of them', async () => {
    await using workspace = await createWorkspace();
    const redactor = createRedactor([new Secret('"role":"user"')]);
    const error: unknown = await writeRecording(
      { path: join(workspace.path, 'a.jsonl'), root: null },
      await record(createScenario()),
      redactor,
    ).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).not.toContain('role');
    await expect(workspace.read('a.jsonl')).rejects.toThrow('ENOENT');
  });
});
