import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { systemClock } from '../../src/base/time.ts';
import { type Converted, convertSession, type ConvertOptions } from '../../src/capture/convert.ts';
import { type JournalEntry, type JournalHead, parseJournal, printEntry } from '../../src/capture/journal.ts';
import { readSession } from '../../src/capture/session.ts';
import { parseSplit } from '../../src/capture/split.ts';
import { readSuite } from '../../src/suite/read.ts';

const cwd = import.meta.dirname;

const ownHead: JournalHead = {
  journal: 'mcp-eval-ci capture',
  version: 1,
  command: ['node'],
  url: null,
  cwd,
  place: null,
};

/** A message of one side, a second after the one before it. */
function createConversation() {
  let timeMs = 1_700_000_000_000;
  let id = 0;
  const entries: JournalEntry[] = [];
  const say = (from: JournalEntry['from'], message: object) => {
    timeMs += 1000;
    entries.push({ timeMs, from, message: { jsonrpc: '2.0', ...message } });
  };
  return {
    entries,
    say,
    pause: (ms: number) => (timeMs += ms),
    /** A request of the client with the result, or the members of the answer. */
    ask: (method: string, params: object, answer: object) => {
      id += 1;
      say('client', { id, method, params });
      say('server', { id, ...('error' in answer ? answer : { result: answer }) });
    },
  };
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const data = (value: object) => ({ ...text(JSON.stringify(value)), structuredContent: value });

/** The tools of a server of notes, of which one changes something. */
function createNotes() {
  const conversation = createConversation();
  conversation.ask('initialize', { capabilities: { elicitation: {} } }, { serverInfo: { name: 'notes' } });
  const annotations = { readOnlyHint: true };
  const inputSchema = { type: 'object' };
  const names = ['find_notes', 'get_note', 'whoami'];
  const tools = names.map((name) => ({ name, annotations, inputSchema }));
  conversation.ask('tools/list', {}, { tools: [...tools, { name: 'send_note', inputSchema }] });
  return conversation;
}

/** Converts a session with a server at a URL, which is not replayed. */
async function convert(
  { entries }: { entries: readonly JournalEntry[] },
  options: Partial<ConvertOptions> = {},
): Promise<Converted> {
  const environment = { NOTES_TOKEN: 'hidden-value-of-notes' };
  const head: JournalHead = { ...ownHead, url: 'http://127.0.0.1:1/mcp' };
  const converted = await convertSession(
    { head, entries },
    {
      split: parseSplit('60s'),
      out: 'session.evals.yaml',
      existing: null,
      workspace: null,
      variables: {},
      machine: { user: 'mariette', host: 'desk-of-mariette' },
      redactor: createRedactor(),
      context: { clock: systemClock, logger: silentLogger, signal: new AbortController().signal, environment },
      ...options,
    },
  );
  if (converted.text !== null) expect(readSuite(converted.text, { file: 'captured' }).findings).toEqual([]);
  return converted;
}

describe('convertSession', () => {
  it('writes a case for each task: after a pause, and for each prompt', async () => {
    const notes = createNotes();
    notes.ask('tools/call', { name: 'find_notes', arguments: { query: 'tea' } }, text('two notes'));
    notes.ask('tools/call', { name: 'whoami', arguments: {} }, text('you'));
    notes.pause(60_000);
    notes.ask('tools/call', { name: 'find_notes', arguments: { query: 'milk' } }, text('no note'));
    notes.ask(
      'prompts/get',
      { name: 'summary' },
      { messages: [{ role: 'user', content: { type: 'text', text: 'Sum up' } }] },
    );
    const titles = async (split: string) => {
      const { text: written } = await convert(notes, { split: parseSplit(split) });
      return readSuite(written ?? '', { file: 'captured' }).suite?.cases.map(({ title }) => title);
    };
    expect(await titles('60s')).toEqual([
      'find_notes and whoami',
      'find_notes answers with query "milk"',
      'Gets the prompt summary',
    ]);
    expect(await titles('each')).toHaveLength(4);
    expect(await titles('never')).toEqual(['find_notes and whoami', 'Gets the prompt summary']);
  });

  it('captures values that a later request uses, and keeps those that the person knew', async () => {
    const notes = createNotes();
    notes.ask(
      'tools/call',
      { name: 'find_notes', arguments: { query: 'milk' } },
      data({ notes: [{ id: 'n-71', title: 'milk' }] }),
    );
    notes.ask('tools/call', { name: 'get_note', arguments: { noteId: 'n-71', title: 'milk' } }, text('Buy milk'));
    const { text: written } = await convert(notes);
    expect(written).toContain('        capture:\n          id1: /structuredContent/notes/0/id');
    expect(written).toContain('          noteId: "{{id1}}"\n          title: milk');
  });

  it('captures an id out of a sentence, and no other word of it', async () => {
    const notes = createNotes();
    const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
    notes.ask('tools/call', { name: 'find_notes', arguments: { query: 'tea' } }, text(`Found "milk" (id: ${id}).`));
    notes.ask('tools/call', { name: 'get_note', arguments: { noteId: id, title: 'milk' } }, text('Buy milk'));
    const { text: written } = await convert(notes);
    expect(written).toContain(
      '        capture:\n          id1:\n            path: /content/0/text\n            matches: "id: ([0-9a-fA-F-]{36})"',
    );
    expect(written).toContain('          noteId: "{{id1}}"\n          title: milk');
  });

  it('comments out what may change something, with the reason, and writes refusals as expected errors', async () => {
    const notes = createNotes();
    notes.ask('tools/call', { name: 'send_note', arguments: { to: 'ada' } }, text('sent'));
    notes.pause(60_000);
    notes.ask(
      'tools/call',
      { name: 'get_note', arguments: { noteId: 9 } },
      { error: { code: -32_602, message: 'Invalid params: noteId must be a string' } },
    );
    notes.pause(60_000);
    notes.ask(
      'tools/call',
      { name: 'get_note', arguments: { noteId: 'x' } },
      { ...text('No such note'), isError: true },
    );
    const { text: written, cases, commentedOut } = await convert(notes);
    expect({ cases, commentedOut }).toEqual({ cases: 2, commentedOut: 1 });
    expect(written).toContain(
      '  # Not run: send_note may change something, and was not replayed: the server is at a URL.\n  # - id: send-note',
    );
    expect(written).toContain('code: -32602\n            contains: "Invalid params: noteId must be a string"');
    expect(written).toContain('toolError:\n            contains: No such note');
  });

  it('keeps no secret, no path and no name of the machine', async () => {
    const notes = createNotes();
    const token = `ghp_${'a1B2c3D4'.repeat(4)}`;
    notes.ask(
      'tools/call',
      { name: 'whoami', arguments: { path: `${cwd}/a.txt` } },
      text(`mariette at desk-of-mariette, hidden-value-of-notes in ${cwd}/b.txt`),
    );
    notes.pause(60_000);
    notes.ask(
      'tools/call',
      { name: 'whoami', arguments: { password: 'correct horse', path: '/home/mariette/c.txt' } },
      text('you'),
    );
    notes.pause(60_000);
    notes.ask('tools/call', { name: 'find_notes', arguments: { query: token } }, text(`nothing for ${token}`));
    const { text: written } = await convert(notes);
    for (const hidden of ['mariette', 'hidden-value', 'correct horse', 'ghp_', cwd, '/home'])
      expect(written).not.toContain(hidden);
    expect(written).toContain('#         path: "{{workspace}}/a.txt"');
    expect(written).toContain('#         path: "{{workspace}}/../c.txt"');
    expect(written).toContain('Not run: it names a file of the machine, and the suite has no `workspace`.');
    expect(written?.match(/Not run: a value of its requests was a secret/g)).toHaveLength(2);
  });

  it('answers requests of the server as the client did', async () => {
    const notes = createNotes();
    notes.say('client', { id: 'call', method: 'tools/call', params: { name: 'get_note', arguments: {} } });
    notes.say('server', { id: 1, method: 'elicitation/create', params: { message: 'Which note?' } });
    notes.say('client', { id: 1, result: { action: 'accept', content: { note: 'n-71' } } });
    notes.say('server', { id: 'call', result: text('Buy milk') });
    const { text: written } = await convert(notes);
    expect(written).toContain('    client:\n      elicitation:\n        - accept:\n            note: n-71\n');
  });

  it('reads answers of 2026-07-28, which come with the repeated request', () => {
    const conversation = createConversation();
    const inputRequests = { which: { method: 'elicitation/create', params: { message: 'Which note?' } } };
    conversation.ask(
      'tools/call',
      { name: 'get_note', arguments: {} },
      { resultType: 'input_required', inputRequests },
    );
    const inputResponses = { which: { action: 'decline' } };
    conversation.ask('tools/call', { name: 'get_note', arguments: {}, inputResponses }, text('none'));
    const { steps } = readSession(conversation.entries);
    expect(steps).toMatchObject([
      { outcome: { kind: 'result' }, asked: [{ ability: 'elicitation', message: 'Which note?', answer: 'decline' }] },
    ]);
  });

  it('leaves out requests without an answer and those that were cancelled', () => {
    const conversation = createConversation();
    conversation.say('client', { id: 1, method: 'tools/call', params: { name: 'slow' } });
    conversation.say('client', { method: 'notifications/cancelled', params: { requestId: 1 } });
    conversation.say('client', { id: 2, method: 'tools/call', params: { name: 'lost' } });
    expect(readSession(conversation.entries)).toMatchObject({
      steps: [],
      left: [
        { subject: 'slow', reason: 'it was cancelled' },
        { subject: 'lost', reason: 'it was not answered' },
      ],
    });
  });

  it('says of an answer that was too long to keep that it may be', async () => {
    const notes = createNotes();
    notes.say('client', { id: 90, method: 'tools/call', params: { name: 'find_notes', arguments: {} } });
    notes.entries.push({ timeMs: 0, from: 'server', bytes: 5 * 1024 * 1024 });
    notes.entries.push({ timeMs: 0, from: 'client', bytes: 6 * 1024 * 1024 });
    expect((await convert(notes)).left).toEqual([
      { subject: 'a request', reason: 'it is above the limit of 4 MiB' },
      {
        subject: 'find_notes',
        reason: 'it was not answered, or its answer is above the limit of 4 MiB',
      },
    ]);
  });

  it('adds to a file without touching its text, and adds nothing that it has', async () => {
    const notes = createNotes();
    notes.ask('tools/call', { name: 'find_notes', arguments: { query: 'tea' } }, text('two notes'));
    notes.pause(60_000);
    notes.ask('tools/call', { name: 'send_note', arguments: { to: 'ada' } }, text('sent'));
    const before = '# Mine\nsuite:   Notes # keep\ncases:\n  - title: Own\n    steps: [{ toolCall: get_note }]\n';
    const { text: first } = await convert(notes, { existing: before });
    expect(first?.startsWith(before.trimEnd())).toBe(true);
    expect(first).toContain('# - id: send-note');
    expect(await convert(notes, { existing: first })).toMatchObject({ text: null, known: 2 });
    notes.pause(60_000);
    notes.ask('tools/call', { name: 'find_notes', arguments: { query: 'milk' } }, text('no note'));
    expect(await convert(notes, { existing: first })).toMatchObject({ cases: 1, commentedOut: 0, known: 2 });
    for (const other of ['suite: Notes\ncases: [{ title: Own, steps: [{ toolCall: get_note }] }]\n', 'cases: [\n']) {
      const { text: own, isApart } = await convert(notes, { existing: other });
      expect(isApart).toBe(true);
      expect(own).toMatch(/\nsuite: notes\ncases:\n {2}- id: find-notes/);
    }
  });
});

describe('a journal', () => {
  const head = ownHead;

  it('drops a last line that was being written, and names the line that is none', () => {
    const entry = { timeMs: 1, from: 'client', message: {} } as const;
    const whole = printEntry(head) + printEntry(entry);
    expect(parseJournal(`${whole}{"timeMs":2,"fr`)).toEqual({ head, entries: [entry] });
    expect(parseJournal(`${whole}{}\n`)).toEqual({
      line: 3,
      expected: 'an entry with `timeMs`, `from` and a `message`',
    });
    expect(parseJournal('suite: Notes\n')).toMatchObject({ line: 1 });
  });
});
