import { mkdir, readdir, stat, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, describeError } from '../../../src/base/errors.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { locateRecording, readRecording, writeRecording } from '../../../src/models/recordings/files.ts';
import { printRecording } from '../../../src/models/recordings/format.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { createScenario, record } from './conversation.ts';

const redactor = createRedactor();
const file = 'recordings/notes/reads-a-note.anthropic-claude-haiku-4.5.jsonl';

async function explainRead(cwd: string): Promise<string> {
  const error: unknown = await readRecording(file, cwd).catch((thrown: unknown) => thrown);
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
    const read = await readRecording(file, workspace.path);
    expect(read).toEqual(recording);
    expect(printRecording(read!)).toBe(await workspace.read(file));
    expect((await stat(join(workspace.path, file))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(workspace.path, 'recordings/notes'))).toHaveLength(1);
  });

  it('has a line for each call, and one for each tool however many calls offer it', async () => {
    const recording = await record(createScenario(), { iterations: 2 });
    expect(printRecording(recording)).toMatchInlineSnapshot(`
      "{"format":2,"recordedAt":"2026-03-01T10:00:00.000Z","provider":"anthropic","model":"claude-haiku-4.5","package":{"name":"@ai-sdk/anthropic","version":"4.0.105"},"surface":"4e8024bd54e473372085fc096027f2c8"}
      {"tool":"c5da9123ade70702af49e824619eb52d","definition":{"members":{"description":{"value":"Reads a note."},"inputSchema":{"value":{"properties":{"id":{"type":"integer"}},"required":["id"],"type":"object"}},"type":{"value":"function"}},"name":"read_note"}}
      {"tool":"46c303fb3bcd53337f35ba7a0268279b","definition":{"members":{"description":{"value":"Lists all notes."},"inputSchema":{"value":{"type":"object"}},"type":{"value":"function"}},"name":"list_notes"}}
      {"tools":"4e8024bd54e473372085fc096027f2c8","list":["c5da9123ade70702af49e824619eb52d","46c303fb3bcd53337f35ba7a0268279b"]}
      {"iteration":1,"turn":0,"sent":{"tools":"4e8024bd54e473372085fc096027f2c8","parameters":{"temperature":0},"messages":[{"role":"system","value":{"content":"You help people find their notes."}},{"role":"user","value":{"content":[{"text":"What does note 7 say?","type":"text"}]}}]},"answer":{"content":[{"text":"saw 476 2e8d15d86114d2c9","type":"text"},{"input":"{\\"id\\":7}","toolCallId":"call_2_0","toolName":"read_note","type":"tool-call"}],"finishReason":{"unified":"tool-calls"},"usage":{"inputTokens":{"noCache":10,"total":10},"outputTokens":{"text":5,"total":5}}}}
      {"iteration":1,"turn":1,"sent":{"tools":"4e8024bd54e473372085fc096027f2c8","parameters":{"temperature":0},"messages":[{"fingerprint":"1117d4ce8dad6d92b6fe4acf2a143b20","role":"assistant"},{"parts":[{"toolCallId":"call_2_0","toolName":"read_note","type":"tool-result","value":{"output":{"type":"content","value":[{"text":"{\\"id\\":7,\\"text\\":\\"Buy milk\\",\\"readAt\\":\\"12:00\\"}","type":"text"}]}}}],"role":"tool"}]},"answer":{"content":[{"text":"saw 968 c682eef15cab0500","type":"text"}],"finishReason":{"unified":"stop"},"usage":{"inputTokens":{"noCache":10,"total":10},"outputTokens":{"text":5,"total":5}}}}
      {"iteration":2,"turn":0,"sent":{"tools":"4e8024bd54e473372085fc096027f2c8","parameters":{"temperature":0},"messages":[{"role":"system","value":{"content":"You help people find their notes."}},{"role":"user","value":{"content":[{"text":"What does note 7 say?","type":"text"}]}}]},"answer":{"content":[{"text":"saw 476 2e8d15d86114d2c9","type":"text"},{"input":"{\\"id\\":7}","toolCallId":"call_2_0","toolName":"read_note","type":"tool-call"}],"finishReason":{"unified":"tool-calls"},"usage":{"inputTokens":{"noCache":10,"total":10},"outputTokens":{"text":5,"total":5}}}}
      {"iteration":2,"turn":1,"sent":{"tools":"4e8024bd54e473372085fc096027f2c8","parameters":{"temperature":0},"messages":[{"fingerprint":"1117d4ce8dad6d92b6fe4acf2a143b20","role":"assistant"},{"parts":[{"toolCallId":"call_2_0","toolName":"read_note","type":"tool-result","value":{"output":{"type":"content","value":[{"text":"{\\"id\\":7,\\"text\\":\\"Buy milk\\",\\"readAt\\":\\"12:00\\"}","type":"text"}]}}}],"role":"tool"}]},"answer":{"content":[{"text":"saw 968 c682eef15cab0500","type":"text"}],"finishReason":{"unified":"stop"},"usage":{"inputTokens":{"noCache":10,"total":10},"outputTokens":{"text":5,"total":5}}}}
      "
    `);
  });

  it('changes in few lines where little changed', async () => {
    const [read, list] = createScenario().tools;
    const before = printRecording(await record(createScenario(), { iterations: 2 })).split('\n');
    const changed = createScenario({ tools: [read!, { ...list!, description: 'Lists every note.' }] });
    const after = printRecording(await record(changed, { iterations: 2 })).split('\n');
    expect(after).toHaveLength(before.length);
    // Header, tool, list of tools, and the calls, whose answers and lists changed.
    expect(after.filter((line) => !before.includes(line))).toHaveLength(3 + 4);
  });

  it('does not exist before it is written', async () => {
    await using workspace = await createWorkspace();
    expect(await readRecording(file, workspace.path)).toBeNull();
  });

  it('is refused with file, line and remedy where it is damaged', async () => {
    const text = printRecording(await record(createScenario()));
    const lines = text.trimEnd().split('\n');
    const reasons: Record<string, string> = {};
    const damages: Record<string, string[]> = {
      empty: [],
      'no JSON': [...lines.slice(0, 3), '<<<<<<< HEAD', ...lines.slice(3)],
      'cut short': [text.slice(0, -100)],
      'unknown format': [lines[0]!.replace('"format":2', '"format":3'), ...lines.slice(1)],
      'no header': lines.slice(1),
      'turn missing': lines.filter((line) => !line.includes('"turn":0')),
      'call twice': [...lines, lines.at(-1)!],
      'tool missing': lines.filter((line) => !line.startsWith('{"tool":')),
      'answer without usage': [...lines.slice(0, -1), lines.at(-1)!.replace(/"usage":.*/, '"usage":{}}}')],
      'unknown part': lines.map((line) => line.replaceAll(',"type":"text"', ',"type":"txt"')),
      'keeps too many': lines.map((line) => line.replace('"messages":', '"keeps":9,"messages":')),
      'blank line': [...lines.slice(0, 2), '', ...lines.slice(2)],
    };
    for (const [name, each] of Object.entries(damages)) {
      await using workspace = await createWorkspace({ [file]: `${each.join('\n')}\n` });
      reasons[name] = await explainRead(workspace.path);
    }
    const hint = ' | Restore the file from git, or delete it and record it again with `mcp-eval-ci record`.';
    expect(Object.values(reasons).filter((reason) => !reason.endsWith(hint))).toEqual([]);
    expect(
      Object.entries(reasons).map(([name, reason]) => `${name}: ${reason.replace(hint, '').replace(file, 'FILE')}`),
    ).toMatchInlineSnapshot(`
      [
        "empty: FILE:1:1: The recording is damaged: this line is no JSON object (damaged-recording)",
        "no JSON: FILE:4:1: The recording is damaged: this line is no JSON object (damaged-recording)",
        "cut short: FILE:6:1: The recording is damaged: this line is no JSON object (damaged-recording)",
        "unknown format: FILE:1:1: The recording is damaged: \`format\`: This format of recordings is not known; use the version of mcp-eval-ci that wrote it (damaged-recording)",
        "no header: FILE:1:1: The recording is damaged: \`format\`: This format of recordings is not known; use the version of mcp-eval-ci that wrote it (damaged-recording)",
        "turn missing: FILE:5:1: The recording is damaged: this line must be turn 0 of iteration 1, not turn 1 (damaged-recording)",
        "call twice: FILE:7:1: The recording is damaged: this line must be turn 2 of iteration 1, not turn 1 (damaged-recording)",
        "tool missing: FILE:2:1: The recording is damaged: no line before this one defines c5da9123ade70702af49e824619eb52d (damaged-recording)",
        "answer without usage: FILE:6:1: The recording is damaged: \`answer.usage.inputTokens\`: Invalid input: expected object, received undefined (damaged-recording)",
        "unknown part: FILE:5:1: The recording is damaged: \`answer.content.0.type\`: Invalid discriminator value. Expected 'text' | 'reasoning' | 'tool-call' | 'file' | 'reasoning-file' | 'custom' | 'tool-result' | 'tool-approval-request' | 'source' (damaged-recording)",
        "keeps too many: FILE:5:1: The recording is damaged: \`keeps\` is more than the call before it has messages (damaged-recording)",
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
    expect(await readdir(workspace.path)).toEqual(['blocked.jsonl', 'recordings']);
    const structural = createRedactor([new Secret('"role":"user"')]);
    await expect(
      writeRecording({ path: join(workspace.path, file), root: null }, recording, structural),
    ).rejects.toThrow('is a known secret');
    expect(await workspace.read(file)).toBe('old');
  });
});
