import { mkdir, readdir, stat, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, describeError } from '../../../src/base/errors.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import {
  listTools,
  locateRecording,
  openRecordings,
  tidyTools,
  writeRecording,
} from '../../../src/models/recordings/files.ts';
import { compareBehaviour } from '../../../src/models/recordings/compare-behaviour.ts';
import { findUsable, printRecording } from '../../../src/models/recordings/format.ts';
import { printToolFile } from '../../../src/models/recordings/tool-file.ts';
import type { ModelAnswer, ModelCall } from '../../../src/models/language-model.ts';
import { createWorkspace } from '../../support/workspace.ts';
import {
  answerPurely,
  converse,
  createRequest,
  createScenario,
  createScriptedSource,
  createSource,
  record,
  type Scenario,
} from './conversation.ts';

const redactor = createRedactor();
const file = 'recordings/notes/reads-a-note.anthropic-claude-haiku-4.5.jsonl';

async function explainRead(cwd: string): Promise<string> {
  const error: unknown = await openRecordings(cwd)
    .read(file)
    .catch((thrown: unknown) => thrown);
  return error instanceof ConfigurationError ? `${error.message} | ${error.hint}` : describeError(error);
}

describe('the file of a recording', () => {
  it('is next to the evals file, by suite, case and model', () => {
    const locate = (name: string) =>
      locateRecording('evals/notes.evals.yaml', {
        suiteId: 'notes',
        caseId: 'reads-a-note',
        model: { provider: 'openrouter', name },
      });
    expect(locate('gpt-5.1')).toBe('evals/recordings/notes/reads-a-note.openrouter-gpt-5.1.jsonl');
    expect(locate('meta/llama:free')).toMatch(
      /^evals\/recordings\/notes\/reads-a-note\.openrouter-meta_llama_free-[\da-f]{8}\.jsonl$/,
    );
    expect(locate('meta/llama:free')).not.toBe(locate('meta:llama/free'));
    expect(locate('../../x')).toMatch(/^evals\/recordings\/notes\/[^/]+$/);
    expect(locate('x'.repeat(400)).length).toBeLessThan(200);
  });

  it('is read as it was written, byte by byte, and only its owner may read it', async () => {
    await using workspace = await createWorkspace();
    const recording = await record(createScenario({ script: [['read_note', 'list_notes']] }), { iterations: 3 });
    await writeRecording({ path: join(workspace.path, file), root: null }, recording, redactor);
    const read = await openRecordings(workspace.path).read(file);
    expect(read).toEqual(recording);
    expect(printRecording(findUsable(read)!)).toBe(await workspace.read(file));
    expect((await stat(join(workspace.path, file))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(workspace.path, 'recordings/notes'))).toHaveLength(2);
  });

  it('has a line for each call, and what changes with each recording in its last line', async () => {
    const recording = await record(createScenario(), { iterations: 2 });
    expect(printRecording(recording)).toMatchInlineSnapshot(`
      "{"format":3,"provider":"anthropic","model":"claude-haiku-4.5"}
      {"iteration":1,"turn":0,"sent":{"parameters":{"temperature":0},"messages":[{"role":"system","value":{"content":"You help people find their notes."}},{"role":"user","value":{"content":[{"text":"What does note 7 say?","type":"text"}]}}]},"answer":{"content":[{"text":"saw 476 2e8d15d86114d2c9","type":"text"},{"input":"{\\"id\\":7}","toolCallId":"call00001","toolName":"read_note","type":"tool-call"}],"finishReason":{"unified":"tool-calls"}}}
      {"iteration":1,"turn":1,"sent":{"messages":[{"role":"assistant"},{"parts":[{"toolCallId":"call00001","toolName":"read_note","type":"tool-result","value":{"output":{"type":"content","value":[{"text":"{\\"id\\":7,\\"text\\":\\"Buy milk\\",\\"readAt\\":\\"12:00\\"}","type":"text"}]}}}],"role":"tool"}]},"answer":{"content":[{"text":"saw 970 5e3abbf9758122d4","type":"text"}],"finishReason":{"unified":"stop"}}}
      {"iteration":2,"turn":0,"sent":{"parameters":{"temperature":0},"messages":[{"role":"system","value":{"content":"You help people find their notes."}},{"role":"user","value":{"content":[{"text":"What does note 7 say?","type":"text"}]}}]},"answer":{"content":[{"text":"saw 476 2e8d15d86114d2c9","type":"text"},{"input":"{\\"id\\":7}","toolCallId":"call00001","toolName":"read_note","type":"tool-call"}],"finishReason":{"unified":"tool-calls"}}}
      {"iteration":2,"turn":1,"sent":{"messages":[{"role":"assistant"},{"parts":[{"toolCallId":"call00001","toolName":"read_note","type":"tool-result","value":{"output":{"type":"content","value":[{"text":"{\\"id\\":7,\\"text\\":\\"Buy milk\\",\\"readAt\\":\\"12:00\\"}","type":"text"}]}}}],"role":"tool"}]},"answer":{"content":[{"text":"saw 970 5e3abbf9758122d4","type":"text"}],"finishReason":{"unified":"stop"}}}
      {"recordedAt":"2026-03-01T10:00:00.000Z","package":{"name":"@ai-sdk/anthropic","version":"4.0.105"},"tools":["4e8024bd54e473372085fc096027f2c8"],"iterations":[{"iteration":1,"calls":[{"usage":{"inputTokens":{"total":10,"noCache":10},"outputTokens":{"total":5,"text":5}}},{"usage":{"inputTokens":{"total":10,"noCache":10},"outputTokens":{"total":5,"text":5}}}]},{"iteration":2,"calls":[{"usage":{"inputTokens":{"total":10,"noCache":10},"outputTokens":{"total":5,"text":5}}},{"usage":{"inputTokens":{"total":10,"noCache":10},"outputTokens":{"total":5,"text":5}}}]}]}
      "
    `);
    expect(printToolFile(listTools(recording).values())).toMatchInlineSnapshot(`
      "{"tool":"46c303fb3bcd53337f35ba7a0268279b","definition":{"members":{"description":{"value":"Lists all notes."},"inputSchema":{"value":{"type":"object"}},"type":{"value":"function"}},"name":"list_notes"}}
      {"tool":"c5da9123ade70702af49e824619eb52d","definition":{"members":{"description":{"value":"Reads a note."},"inputSchema":{"value":{"properties":{"id":{"type":"integer"}},"required":["id"],"type":"object"}},"type":{"value":"function"}},"name":"read_note"}}
      {"list":"4e8024bd54e473372085fc096027f2c8","tools":["c5da9123ade70702af49e824619eb52d","46c303fb3bcd53337f35ba7a0268279b"]}
      "
    `);
  });

  it('is the same for calls whose ids differ, and another for calls that differ', async () => {
    const scenario = createScenario({ script: [['read_note', 'list_notes'], ['read_note']] });
    const make = async (id: (number: number) => string, input = '{"id":7}') => {
      let number = 0;
      const live = createScriptedSource(scenario, (call) => {
        const { content, ...rest } = answerPurely(scenario, { ...call, prompt: call.prompt.slice(0, 2) });
        const step = call.prompt.filter(({ role }) => role === 'assistant').length;
        const calls = (scenario.script[step] ?? []).map((toolName) => {
          number += 1;
          return { type: 'tool-call' as const, toolCallId: id(number), toolName, input };
        });
        return { ...rest, content: [...content.filter(({ type }) => type === 'text'), ...calls] };
      });
      return await record(scenario, { live });
    };
    const [one, other, different] = [
      await make((number) => `toolu_${number * 7}`),
      await make((number) => `chatcmpl-${number}`),
      await make((number) => `chatcmpl-${number}`, '{"id":8}'),
    ];
    expect(printRecording(other)).toBe(printRecording(one));
    expect(printRecording(one)).not.toMatch(/toolu|chatcmpl/);
    expect(compareBehaviour(one, other)).toEqual([]);
    const calls = (id: number) => [`read_note {"id":${id}}`, `list_notes {"id":${id}}`, `read_note {"id":${id}}`];
    expect(compareBehaviour(one, different)).toEqual([{ iteration: 1, before: calls(7), now: calls(8) }]);
  });

  it('changes in its last line alone where the model behaved as before', async () => {
    const [read, list] = createScenario().tools;
    const answer = (call: ModelCall): ModelAnswer => {
      const { content, ...rest } = answerPurely(createScenario(), call);
      const said = content.filter(({ type }) => type !== 'text');
      return { ...rest, content: said.length > 0 ? said : [{ type: 'text', text: 'Buy milk' }] };
    };
    const make = async (scenario: Scenario) =>
      await record(scenario, { iterations: 2, live: createScriptedSource(scenario, answer) });
    const recording = await make(createScenario());
    const changed = await make(createScenario({ tools: [read!, { ...list!, description: 'Lists every note.' }] }));
    const [before, after] = [recording, changed].map((each) => printRecording(each).trimEnd().split('\n'));
    expect(after?.filter((line) => !before?.includes(line))).toEqual(after?.slice(-1));
    const [tools, now] = [recording, changed].map((each) => printToolFile(listTools(each).values()).split('\n'));
    // The tool and the list.
    expect(now?.filter((line) => !tools?.includes(line))).toHaveLength(2);
    const other = await record(createScenario({ prompts: ['What does note 8 say?'] }), { iterations: 2 });
    expect(
      printRecording(other)
        .split('\n')
        .filter((line) => !before?.includes(line)).length,
    ).toBeGreaterThan(2);
  });

  it('shares the tools of its suite, and leaves those that no recording names', async () => {
    await using workspace = await createWorkspace();
    const directory = { path: join(workspace.path, 'recordings/notes'), root: null };
    const write = async (name: string, scenario: Scenario) =>
      await writeRecording({ path: join(directory.path, name), root: null }, await record(scenario), redactor);
    const [one] = createScenario().tools;
    await write('a.x.jsonl', createScenario());
    await write('b.x.jsonl', createScenario());
    const shared = await workspace.read('recordings/notes/tools.jsonl');
    expect(shared.match(/"tool":/g)).toHaveLength(2);
    await write('b.x.jsonl', createScenario({ tools: [{ ...one!, description: 'Shows a note.' }] }));
    await write('a.x.jsonl', createScenario({ tools: [{ ...one!, description: 'Shows one note.' }] }));
    expect((await workspace.read('recordings/notes/tools.jsonl')).match(/"tool":/g)).toHaveLength(4);
    await tidyTools(directory);
    expect((await workspace.read('recordings/notes/tools.jsonl')).match(/"tool":/g)).toHaveLength(2);
    const files = openRecordings(workspace.path);
    for (const name of ['a.x.jsonl', 'b.x.jsonl']) {
      expect(findUsable(await files.read(`recordings/notes/${name}`))).not.toBeNull();
    }
  });

  it('is stale, not damaged, after a merge conflict, with an older format and without its tools', async () => {
    const recording = await record(createScenario());
    const lines = printRecording(recording).split('\n');
    const conflict = [...lines.slice(0, -2), '<<<<<<< HEAD', lines.at(-2), '=======', '{}', '>>>>>>> main', ''];
    const tools = printToolFile(listTools(recording).values());
    const older =
      '{"format":2,"recordedAt":"2026-03-01T10:00:00.000Z","provider":"anthropic","model":"claude-haiku-4.5"}';
    const found: Array<string | null> = [];
    const texts: Array<[string, string]> = [
      [lines.join('\n'), tools],
      [lines.join('\n'), `<<<<<<< HEAD\n{"tool":"x"}\n=======\n${tools}>>>>>>> main\n`],
      [conflict.join('\n'), tools],
      [older, tools],
      [lines.join('\n'), ''],
      [lines.join('\n'), tools.replace('Reads a note.', 'Reads.')],
    ];
    for (const [text, definitions] of texts) {
      const name = 'recordings/notes/tools.jsonl';
      await using workspace = await createWorkspace({ [file]: text, [name]: definitions });
      const read = await openRecordings(workspace.path).read(file);
      const problem = read !== null && 'problem' in read ? read.problem : null;
      found.push(problem);
      const { source } = createSource({ recording: read, mode: 'replay' });
      const asked = converse(await source.openSession(createRequest(createScenario().model)), createScenario());
      const error: unknown = await asked.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(describeError(error)).toContain(problem ?? 'null');
    }
    const lost = '`tools.jsonl` in its directory lacks the tools that it names.';
    expect(found).toEqual([
      null,
      null,
      'It has the marks of a merge conflict.',
      'It has a format of an older version of mcp-eval-ci.',
      lost,
      lost,
    ]);
  });

  it('does not exist before it is written', async () => {
    await using workspace = await createWorkspace();
    expect(await openRecordings(workspace.path).read(file)).toBeNull();
  });

  it('is refused with file, line and remedy where it is damaged', async () => {
    const recording = await record(createScenario());
    const text = printRecording(recording);
    const lines = text.trimEnd().split('\n');
    const [tools, definitions] = ['recordings/notes/tools.jsonl', printToolFile(listTools(recording).values())];
    const reasons: Record<string, string> = {};
    const damages: Record<string, string[]> = {
      empty: [],
      'no JSON': [...lines.slice(0, 2), '<html>', ...lines.slice(2)],
      'cut short': [text.slice(0, -100)],
      'unknown format': [lines[0]!.replace('"format":3', '"format":4'), ...lines.slice(1)],
      'no header': lines.slice(1),
      'turn missing': lines.filter((line) => !line.includes('"turn":0')),
      'call twice': [...lines.slice(0, -1), ...lines.slice(-2)],
      'last line missing': lines.slice(0, -1),
      'a call that the last line lacks': [...lines.slice(0, -1), lines.at(-1)!.replace(/,\{"usage":.*/, ']}]}')],
      'answer without usage': [...lines.slice(0, -1), lines.at(-1)!.replace(/"usage":\{.*?\}\}/, '"usage":{}')],
      'unknown part': lines.map((line) => line.replaceAll(',"type":"text"', ',"type":"txt"')),
      'keeps too many': lines.map((line) => line.replace('"messages":', '"keeps":9,"messages":')),
      'blank line': [...lines.slice(0, 2), '', ...lines.slice(2)],
    };
    for (const [name, each] of Object.entries(damages)) {
      await using workspace = await createWorkspace({ [file]: `${each.join('\n')}\n`, [tools]: definitions });
      reasons[name] = await explainRead(workspace.path);
    }
    const hint = ' | Restore the file from git, or delete it and record it again with `mcp-eval-ci record`.';
    expect(Object.values(reasons).filter((reason) => !reason.endsWith(hint))).toEqual([]);
    expect(
      Object.entries(reasons).map(([name, reason]) => `${name}: ${reason.replace(hint, '').replace(file, 'FILE')}`),
    ).toMatchInlineSnapshot(`
      [
        "empty: FILE:1:1: The recording is damaged: this line is no JSON object (damaged-recording)",
        "no JSON: FILE:3:1: The recording is damaged: this line is no JSON object (damaged-recording)",
        "cut short: FILE:4:1: The recording is damaged: this line is no JSON object (damaged-recording)",
        "unknown format: FILE:1:1: The recording is damaged: \`format\`: This format of recordings is not known; use the version of mcp-eval-ci that wrote it (damaged-recording)",
        "no header: FILE:1:1: The recording is damaged: \`format\`: This format of recordings is not known; use the version of mcp-eval-ci that wrote it (damaged-recording)",
        "turn missing: FILE:2:1: The recording is damaged: this line must be turn 0 of iteration 1, not turn 1 (damaged-recording)",
        "call twice: FILE:4:1: The recording is damaged: this line must be turn 2 of iteration 1, not turn 1 (damaged-recording)",
        "last line missing: FILE:3:1: The recording is damaged: \`recordedAt\`: Invalid input: expected string, received undefined (damaged-recording)",
        "a call that the last line lacks: FILE:3:1: The recording is damaged: the last line has nothing about this call (damaged-recording)",
        "answer without usage: FILE:4:1: The recording is damaged: \`iterations.0.calls.0.usage.inputTokens\`: Invalid input: expected object, received undefined (damaged-recording)",
        "unknown part: FILE:2:1: The recording is damaged: \`answer.content.0.type\`: Invalid discriminator value. Expected 'text' | 'reasoning' | 'tool-call' | 'file' | 'reasoning-file' | 'custom' | 'tool-result' | 'tool-approval-request' | 'source' (damaged-recording)",
        "keeps too many: FILE:2:1: The recording is damaged: \`keeps\` is more than the call before it has messages (damaged-recording)",
        "blank line: FILE:3:1: The recording is damaged: this line is no JSON object (damaged-recording)",
      ]
    `);
  });

  it('is refused above 32 MiB, as a directory, and as a link out of the checkout', async () => {
    await using workspace = await createWorkspace({ [file]: '', '.git/HEAD': '' });
    await using elsewhere = await createWorkspace({ 'secret.jsonl': 'root:x' });
    await truncate(join(workspace.path, file), 32 * 1024 * 1024 + 1);
    expect(await explainRead(workspace.path)).toContain('The recording has 33 MiB, and the gate reads at most 32 MiB');
    await using linked = await createWorkspace({ '.git/HEAD': '', 'recordings/notes/a': '' });
    await symlink(join(elsewhere.path, 'secret.jsonl'), join(linked.path, file));
    expect(await explainRead(linked.path)).toContain('link that leads out of the checkout');
    expect(await explainRead(linked.path)).not.toContain('root');
    await using directory = await createWorkspace();
    await mkdir(join(directory.path, file), { recursive: true });
    expect(await explainRead(directory.path)).toContain('EISDIR');
  });

  it('stays as it was where the new one cannot be written', async () => {
    await using workspace = await createWorkspace({ [file]: 'old' });
    const recording = await record(createScenario());
    await mkdir(join(workspace.path, 'blocked.jsonl/x'), { recursive: true });
    await expect(
      writeRecording({ path: join(workspace.path, 'blocked.jsonl'), root: null }, recording, redactor),
    ).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(await readdir(workspace.path)).toEqual(['blocked.jsonl', 'recordings', 'tools.jsonl']);
    const structural = createRedactor([new Secret('"role":"user"')]);
    await expect(
      writeRecording({ path: join(workspace.path, file), root: null }, recording, structural),
    ).rejects.toThrow('is a known secret');
    expect(await workspace.read(file)).toBe('old');
  });
});
