import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { chooseChecks } from '../../src/explore/draft/checks.ts';
import { volatileMark } from '../../src/explore/stability/forms.ts';
import { draftEvals, renderDrafted } from '../../src/explore/draft/draft-evals.ts';
import type { Exploration, ExploredSession, ObservedStep } from '../../src/explore/exploration.ts';
import type { Feature } from '../../src/explore/features/feature.ts';
import type { ExploredRequest } from '../../src/model/explored-request.ts';
import { readSuite } from '../../src/suite/read.ts';

/** A call with the text of its answer. */
function call(tool: string, text: string, args: JsonObject = {}): ObservedStep {
  return {
    request: { kind: 'tool', tool, arguments: args },
    isValid: true,
    observation: {
      outcome: { kind: 'result', isError: false, result: { content: [{ type: 'text', text }] } },
      files: { added: [], changed: [], removed: [] },
      noise: null,
    },
  };
}

function session(steps: readonly ObservedStep[], adds: readonly Feature[]): ExploredSession {
  return { id: 1, phase: 'chains', steps, adds, volatile: [], needsFiles: false };
}

/** Sessions that call a tool with another size each. */
function callOften(tool: string, count: number): ExploredSession[] {
  return Array.from({ length: count }, (_, size) =>
    session([call(tool, `${tool} ${size}`, { size })], [{ kind: 'value', tool, name: 'size', value: size }]),
  );
}

/** A call that the server answers when the user has opened a URL. */
function callForUrl(tool: string): ObservedStep {
  const { observation, ...step } = call(tool, '', { id: 1 });
  const outcome = { kind: 'error', code: -32_042, message: 'Open the page of the account first' } as const;
  return { ...step, observation: { ...observation, outcome } };
}

/** Drafts the cases of a server with the tools of these sessions, and reads them as the gate does. */
function draft(
  sessions: readonly ExploredSession[],
  harmless: readonly string[] = [],
  more: Pick<Exploration, 'hidden'> = {},
) {
  const steps = sessions.flatMap((each) => each.steps);
  const tools = [...new Set(steps.flatMap(({ request }) => ('tool' in request ? [request.tool] : [])))];
  const counted = { reached: tools.length, of: tools.length };
  const exploration: Exploration = {
    version: 1,
    seed: 1,
    server: { name: 'drafted', version: '1', protocolVersion: '2025-11-25' },
    sandbox: 'confined',
    isCutByTime: false,
    ...more,
    requests: { sent: 1, budget: 400 },
    coverage: {
      tools: counted,
      parameters: counted,
      errorPaths: counted,
      byTool: tools.map((tool) => ({
        tool,
        isAnswered: true,
        parameters: { reached: [], missed: [], required: [] },
        errorPaths: { reached: [], missed: [] },
      })),
    },
    sessions,
    harmless,
    flaky: [],
    findings: [],
    unexplored: [],
  };
  const text = renderDrafted(exploration, { ...draftEvals(exploration, { hasWorlds: true }), workspace: 'empty' });
  const { suite, findings } = readSuite(text, { file: 'drafted' });
  expect(findings).toEqual([]);
  return (suite?.cases ?? []).map((drafted) => ({
    title: drafted.title,
    client: drafted.client,
    calls: drafted.steps.flatMap(({ step }) => (step.kind === 'toolCall' ? [step.toolName] : [])),
    checks: drafted.steps.flatMap(({ step }) => (step.kind === 'assert' ? [step.assertion] : [])),
  }));
}

/** A resource that is read. */
function read(uri: string, content: JsonObject): ExploredSession {
  const step = call('', '');
  const outcome = { kind: 'result' as const, isError: false, result: { contents: [{ uri, ...content }] } };
  const request = { kind: 'resource' as const, uri };
  return session(
    [{ ...step, request, observation: { ...step.observation, outcome } }],
    [{ kind: 'resource', subject: uri }],
  );
}

/** A call of which the server says that it refuses it. */
function refuseStep(tool: string, message: string, args: JsonObject = {}): ObservedStep {
  const { observation, ...step } = call(tool, '', args);
  const outcome = { kind: 'result', isError: true, result: { content: [{ type: 'text', text: message }] } } as const;
  return { ...step, observation: { ...observation, outcome } };
}

function refuse(tool: string, message: string): ExploredSession {
  return session([refuseStep(tool, message, { path: message })], [{ kind: 'refusal', subject: tool, words: message }]);
}

describe('draftEvals', () => {
  it('says that a list has one part that is missing, and that a call replaced what was read', () => {
    const mixed = call('read_files', 'Alpha', { paths: ['a.txt', 'no-such-file.txt'] });
    const [read, changed] = [
      call('read_file', 'Alpha', { path: 'a.txt' }),
      call('read_file', 'Beta', { path: 'a.txt' }),
    ];
    const replaced = [read, call('write_file', 'done', { path: 'a.txt', content: 'Beta' }), changed];
    const titles = draft(
      [
        session([mixed], [{ kind: 'trait', tool: 'read_files', name: 'paths', trait: 'partly missing' }]),
        session(replaced, [{ kind: 'replaced', reader: 'read_file', writer: 'write_file' }]),
      ],
      ['read_file', 'read_files'],
    ).map(({ title }) => title);
    expect(titles).toEqual([
      'read_files answers with paths of which one is missing',
      'read_file sees what write_file replaced',
    ]);
  });

  it('prefers what parameters change to further refusals of a tool', () => {
    const refusals = Array.from({ length: 45 }, (_, index) => refuse(`list_files${index % 9}`, `refusal ${index}`));
    const sorted = session(
      [call('list_files', 'b, a', { sortBy: 'size' })],
      [{ kind: 'value', tool: 'list_files', name: 'sortBy', value: 'size' }],
    );
    const titles = draft([...refusals, sorted]).map(({ title }) => title);
    expect(titles).toContain('list_files answers with sortBy "size"');
  });

  it('leaves out first a call that is answered as one before it', () => {
    const show = (size: number, answer: string, adds: Feature) => session([call('show', answer, { size })], [adds]);
    const listTitles = (answer: string) => {
      const value: Feature = { kind: 'value', tool: 'show', name: 'size', value: 1 };
      const shown = [show(0, 'a', { kind: 'tool', subject: 'show' }), show(1, answer, value)];
      return draft([...shown, ...callOften('sum', 39)]).map(({ title }) => title);
    };
    expect(listTitles('a')).toHaveLength(40);
    expect(listTitles('a')).not.toContain('show answers with size 1');
    expect(listTitles('b')).toContain('show answers with size 1');
  });

  it('lets further calls of a tool that changes nothing join its first case, where there are too many cases', () => {
    const few = draft([...callOften('show', 3), ...callOften('sum', 37)], ['show']);
    expect(few).toHaveLength(40);
    expect(few[0]?.title).toBe('show answers with size 0');
    const many = draft([...callOften('show', 3), ...callOften('list', 11), ...callOften('sum', 37)], ['show', 'list']);
    expect(many).toHaveLength(40);
    expect(many[0]).toMatchObject({
      title: 'show answers with size 0, with size 1 and with size 2',
      calls: ['show', 'show', 'show'],
    });
    // Each call has its checks, and a long case is followed by others.
    expect(many[0]?.checks).toHaveLength(3);
    expect(many.slice(1, 3).map(({ title, calls }) => [title, calls.length])).toEqual([
      ['list answers with size 0, with size 1, with size 2, with size 3, with size 4 and 3 more calls', 8],
      ['list answers with size 8, with size 9 and with size 10', 3],
    ]);
    expect(many.filter(({ calls }) => calls[0] === 'sum').every(({ calls }) => calls.length === 1)).toBe(true);
    // Where there would still be too many, a case is longer.
    const more = draft([...callOften('list', 11), ...callOften('sum', 39)], ['list']);
    expect(more).toHaveLength(40);
    expect(more[0]?.calls).toHaveLength(11);
  });

  it('sends a longer text than a person reads only where it shows a limit', () => {
    const limit: Feature = { kind: 'limit', tool: 'add', name: 'title', isUpper: true };
    const list = (length: number, adds: Feature) =>
      draft([...callOften('write', 1), session([call('add', 'x', { title: 'x'.repeat(length) })], [adds])]).slice(1);
    expect(list(1024, limit)).toHaveLength(1);
    expect(list(1024, { kind: 'tool', subject: 'add' })).toHaveLength(0);
    expect(list(2000, limit)).toHaveLength(0);
  });

  it('lets what is got of a prompt and completed for it join in a case, where there are too many cases', () => {
    const ask = (request: ExploredRequest, result: JsonObject): ExploredSession => {
      const outcome = { kind: 'result', isError: false, result } as const;
      const observation = { outcome, files: { added: [], changed: [], removed: [] }, noise: null };
      const adds: Feature = { kind: 'completion', subject: 'plan', argument: JSON.stringify(result), isStarted: false };
      return session([{ request, isValid: null, observation }], [adds]);
    };
    const get = (args: Record<string, string>) =>
      ask(
        { kind: 'prompt', prompt: 'plan', arguments: args },
        { messages: [{ content: { type: 'text', text: 'Plan' } }] },
      );
    const complete = ask(
      { kind: 'completion', of: 'prompt', name: 'plan', argument: 'city', value: '', arguments: {} },
      { completion: { values: ['Oslo'] } },
    );
    const requests = [get({ city: 'Oslo' }), complete, get({})];
    expect(draft([...requests, ...callOften('write', 37)])).toHaveLength(40);
    const [first] = draft([...requests, ...callOften('write', 38)]);
    expect(first).toMatchObject({ title: 'Gets the prompt plan with city and 2 more requests' });
    expect(first?.checks).toHaveLength(3);
  });

  it('lets the refusals of a tool that makes changes join in a case of their own, where there are too many cases', () => {
    const refusals = ['no space', 'no permission', 'no name'].map((message) => refuse('write', message));
    const few = draft([...refusals, ...callOften('write', 37)]);
    expect(few.map(({ calls }) => calls.length)).toEqual(Array.from({ length: 40 }, () => 1));
    const many = draft([...refusals, ...callOften('write', 39)]);
    expect(many).toHaveLength(40);
    expect(many[0]).toMatchObject({
      title: 'write refuses path "no space", path "no permission" and path "no name"',
      calls: ['write', 'write', 'write'],
    });
    expect(many[0]?.checks).toHaveLength(3);
  });

  it('lets sessions share the changes that they make, where there are too many cases', () => {
    const find = (reader: string, made: ExploredRequest | null = null) => {
      const own = call('create_note', 'the number is 12', { title: 'Alpha' });
      const steps = [
        call(reader, 'no notes'),
        { ...own, request: made ?? own.request },
        call(reader, `Alpha in ${reader}`),
      ];
      return session(steps, [{ kind: 'state', reader, writer: 'create_note' }]);
    };
    const readers = ['list_notes', 'count_notes'];
    const list = (count: number, ...sessions: ExploredSession[]) =>
      draft([...sessions, ...callOften('write', count)], readers).filter(({ calls }) => calls[0] !== 'write');
    expect(list(38, ...readers.map((reader) => find(reader)))).toHaveLength(2);
    const [shared, ...others] = list(39, ...readers.map((reader) => find(reader)));
    expect([shared?.title, others]).toEqual([
      'list_notes finds what create_note made and count_notes finds what create_note made',
      [],
    ]);
    expect(shared?.calls).toEqual(['count_notes', 'list_notes', 'create_note', 'count_notes', 'list_notes']);
    // The words of what was made are those of no check, as they were before.
    expect(shared?.checks).toHaveLength(4);
    const other = find('count_notes', { kind: 'tool', tool: 'create_note', arguments: { title: 'Beta' } });
    expect(list(39, find('list_notes'), other)).toHaveLength(2);
  });

  it('leaves out a call that another case makes first, and asserts its answer there, where there are too many cases', () => {
    const made = call('create_note', 'the number is 12', { title: 'Alpha' });
    const [before, after] = [call('list_notes', 'no notes'), call('list_notes', 'Alpha')];
    const alone = session([made], [{ kind: 'tool', subject: 'create_note' }]);
    const state: Feature = { kind: 'state', reader: 'list_notes', writer: 'create_note' };
    const list = (count: number, ...chain: ObservedStep[]) =>
      draft([alone, session(chain, [state]), ...callOften('write', count)], ['list_notes']).filter(
        ({ calls }) => calls[0] !== 'write',
      );
    const few = list(38, before, made, after);
    expect(few.map(({ title, checks }) => [title, checks.length])).toEqual([
      ['create_note answers with title "Alpha"', 1],
      ['list_notes finds what create_note made', 2],
    ]);
    const many = list(39, before, made, after);
    expect(many.map(({ title, checks }) => [title, checks.length])).toEqual([
      ['list_notes finds what create_note made', 3],
    ]);
    // After another change, the same call may have another answer.
    const later = list(39, before, call('clear_notes', 'cleared'), made, after);
    expect(later.map(({ title }) => title)).toContain('create_note answers with title "Alpha"');
  });

  it('prefers what a parameter changes to what another tool answers alike, and to more than there is', () => {
    const each = (tool: string, amount: number) =>
      session([call(tool, `${amount} lines`, { amount })], [{ kind: 'value', tool, name: 'amount', value: amount }]);
    const own = Array.from({ length: 39 }, (_, index) => each('read_text', index + 1));
    const more = session(
      [call('read_text', 'all lines', { amount: 1000 })],
      [{ kind: 'trait', tool: 'read_text', name: 'amount', trait: 'more than there is' }],
    );
    const titles = draft([more, ...own, each('read_file', 1), each('read_text', 40)]).map(({ title }) => title);
    expect(titles).toHaveLength(40);
    expect(titles).toContain('read_text answers with amount 40');
    expect(titles).not.toContain('read_file answers with amount 1');
  });

  it('says once that a text has several lines', () => {
    const adds: Feature = { kind: 'trait', tool: 'show', name: 'text', trait: 'several lines' };
    const titles = draft([session([call('show', 'Alpha', { text: 'a\nb' })], [adds])]).map(({ title }) => title);
    expect(titles).toEqual(['show answers with text of 2 lines']);
    const listed = draft([session([call('show', 'Alpha', { texts: ['a\nb'] })], [{ ...adds, name: 'texts' }])]);
    expect(listed.map(({ title }) => title)).toEqual(['show answers with texts of several lines']);
  });

  it('says that a list leaves a directory out, or has special characters', () => {
    const sessions = (['directory', 'special'] as const).map((trait) =>
      session(
        [call('search', 'Alpha', { exclude: [trait] })],
        [{ kind: 'trait', tool: 'search', name: 'exclude', trait }],
      ),
    );
    const titles = draft(sessions).map(({ title }) => title);
    expect(titles).toEqual([
      'search answers with exclude of a directory',
      'search answers with exclude with special characters',
    ]);
  });

  it('asserts what a call with several items answers, and what readers see after it and after a later one', () => {
    const add = call('add_notes', 'added 2', { notes: [{ title: 'Alpha' }, { title: 'Omega' }] });
    const steps = [
      add,
      call('list_notes', 'Alpha, Omega'),
      call('remove_notes', 'gone', { titles: ['Alpha'] }),
      call('list_notes', 'Omega'),
    ];
    const several: Feature = { kind: 'several', tool: 'add_notes', name: 'notes', count: 2, reader: 'list_notes' };
    const title = (...all: ObservedStep[]) => draft([session(all, [several])], ['list_notes'])[0];
    expect(title(...steps.slice(0, 2))?.title).toBe('list_notes sees several notes by add_notes');
    expect(title(...steps)).toMatchObject({
      title: 'list_notes sees several notes by add_notes after remove_notes',
      calls: ['add_notes', 'list_notes', 'remove_notes', 'list_notes'],
    });
    expect(title(...steps)?.checks).toMatchObject([
      { value: 'added 2' },
      { value: 'Alpha, Omega' },
      { value: 'Omega' },
    ]);
  });

  it('drops calls of harmless tools from a chain that is not about them', () => {
    const chain = [
      call('list_notes', 'no notes'),
      call('pick_number', '4'),
      call('create_note', 'created', { title: 'Alpha' }),
      call('list_notes', 'Alpha'),
    ];
    const explored = session(chain, [{ kind: 'state', reader: 'list_notes', writer: 'create_note' }]);
    expect(draft([explored], ['list_notes', 'pick_number'])).toMatchObject([
      { title: 'list_notes finds what create_note made', calls: ['list_notes', 'create_note', 'list_notes'] },
    ]);
    // Without proof that it changes nothing, the chain may need it.
    expect(draft([explored], ['list_notes']).map(({ calls }) => calls.length)).toEqual([4]);
  });

  it('takes what parameters change before what many tools refuse with the same words, and their own words first', () => {
    const tools = Array.from({ length: 14 }, (_, index) => `tool_${index}`);
    const refuse = (tool: string, message: string) => {
      const step = call(tool, '');
      const outcome = { kind: 'error', code: -32_000, message } as const;
      const observation = { ...step.observation, outcome };
      return session([{ ...step, observation }], [{ kind: 'refusal', subject: tool, words: message }]);
    };
    const list = (words: (tool: string) => string) =>
      draft([
        ...tools.map((tool) => refuse(tool, words(tool))),
        ...tools.flatMap((tool) =>
          ['first', 'second'].map((name) =>
            session([call(tool, name, { [name]: tool })], [{ kind: 'parameter', tool, name }]),
          ),
        ),
      ]).map(({ title }) => (title.includes('refuses') ? 'refusal' : 'parameter'));
    const count = (kinds: readonly string[]) => kinds.filter((kind) => kind === 'parameter').length;
    expect(count(list(() => 'No directory was set'))).toBe(28);
    expect(count(list((tool) => `The ${tool} is not ready`))).toBeLessThan(28);
  });

  it('says with which arguments a call came before a reader, where these are what is new', () => {
    const steps = [
      call('add_note', 'added', { title: 'Alpha' }),
      call('edit_note', 'edited', { title: 'Alpha', body: '' }),
      call('list_notes', 'Alpha'),
    ];
    const emptied = session(steps, [{ kind: 'trait', tool: 'edit_note', name: 'body', trait: 'empty' }]);
    const plain = session(steps, [{ kind: 'result', subject: 'list_notes', shape: 'text' }]);
    expect(draft([emptied, plain]).map(({ title }) => title)).toEqual([
      'list_notes answers after edit_note with body ""',
      'list_notes answers after add_note',
    ]);
  });

  it('says that the same call comes again', () => {
    const steps = [call('add_note', 'added', { title: 'a' }), call('add_note', 'is there', { title: 'a' })];
    expect(draft([session(steps, [{ kind: 'again', tool: 'add_note' }])])).toMatchObject([
      { title: 'add_note answers the same call again', checks: [{ value: 'added' }, { value: 'is there' }] },
    ]);
    const read = session([...steps, call('list_notes', 'a')], [{ kind: 'again', tool: 'add_note' }]);
    const namesake = session([...steps, call('list_notes', 'a')], [{ kind: 'namesake', tool: 'add_note' }]);
    expect(draft([read, namesake]).map(({ title }) => title)).toEqual([
      'list_notes answers after the same call of add_note twice',
      'list_notes answers after two calls of add_note with one name',
    ]);
  });

  it('checks each answer that selects some of what was made', () => {
    const made = ['a', 'b', 'c'].map((title) => call('add_note', 'added', { title }));
    const listed = [
      call('list_notes', 'a b c'),
      call('list_notes', 'a b', { limit: 2 }),
      call('list_notes', 'b', { search: 'b' }),
    ];
    const adds = ['limit', 'search'].map((name): Feature => ({
      kind: 'selected',
      tool: 'list_notes',
      name,
      maker: 'add_note',
    }));
    expect(draft([session([...made, ...listed], adds)])).toMatchObject([
      {
        title: 'list_notes selects by limit and search what add_note made',
        checks: [{ value: 'a b c' }, { value: 'a b' }, { value: 'b' }],
      },
    ]);
  });

  it('checks each answer of a search for what was made, and says which letters it has', () => {
    const search = (query: string, answer: string) => call('find_notes', answer, { query });
    const feature = (letters: 'same' | 'capital' | 'small'): Feature => ({
      kind: 'search',
      tool: 'find_notes',
      name: 'query',
      maker: 'add_note',
      path: 'title',
      letters,
    });
    const own = [call('add_note', 'added', { title: 'alpha' }), search('alpha', 'one'), search('ALPHA', 'none')];
    const capital = [call('add_note', 'added', { title: 'ALPHA' }), search('alpha', 'found')];
    expect(
      draft([session(own, [feature('same'), feature('capital')]), session(capital, [feature('small')])]),
    ).toMatchObject([
      { title: 'find_notes searches for the texts of add_note', checks: [{ value: 'one' }, { value: 'none' }] },
      { title: 'find_notes searches in small letters for the capitals of add_note', checks: [{ value: 'found' }] },
    ]);
  });

  it('asserts first what differs from the answer to the same request before', () => {
    const show = (body: string) =>
      JSON.stringify({ id: 1, title: 'A title of words', kind: 'A kind of words', more: 'Other words', body });
    const steps = [
      call('show_note', show('text')),
      call('update_note', 'updated', { body: '' }),
      call('show_note', show('')),
    ];
    const adds: Feature[] = [
      { kind: 'part', tool: 'update_note', name: 'title', reader: 'show_note', isEmptied: false },
      { kind: 'part', tool: 'update_note', name: 'body', reader: 'show_note', isEmptied: true },
    ];
    const long = steps.map((step) => ({ ...step, observation: { ...step.observation } }));
    const [drafted] = draft([session(long, adds)]);
    expect(drafted?.title).toBe('show_note sees each change by update_note: title and an empty body');
    expect(drafted?.checks.at(-1)).toMatchObject({ value: { body: '' } });
  });

  it('asserts of a confirmation what it repeats of the call, where a reader shows what the call did', () => {
    const add = (text: string, title = 'Delta epsilon') => call('add_note', text, { title, color: 'red' });
    const shown = session(
      [call('list_notes', 'none'), add('Added'), call('list_notes', 'Delta epsilon')],
      [{ kind: 'state', reader: 'list_notes', writer: 'add_note' }],
    );
    const alone = (text: string) => session([add(text)], [{ kind: 'tool', subject: 'add_note' }]);
    const listChecks = (...sessions: ExploredSession[]) => draft(sessions, ['list_notes']).at(-1)?.checks;
    expect(listChecks(shown, alone('Successfully added "Delta epsilon" to the notes'))).toMatchObject([
      { type: 'toolResultContains', needle: 'Delta epsilon' },
    ]);
    // A part of a word is no repeated value.
    expect(listChecks(shown, alone('Stored the note'))).toMatchObject([{ type: 'toolResultIsError', isError: false }]);
    // Without a reader, and as more than a line, the answer is what the call is known by.
    expect(listChecks(alone('Successfully added "Delta epsilon" to the notes'))).toMatchObject([
      { value: 'Successfully added "Delta epsilon" to the notes' },
    ]);
    expect(listChecks(shown, alone('{"title":"Delta epsilon","id":7}'))).toMatchObject([
      { value: { title: 'Delta epsilon', id: 7 } },
    ]);
    // A number that the call does not have, and what reads as data, say what it did.
    for (const text of ['Added 2 notes', "[{'notes': 'Delta epsilon'}]"]) {
      expect(listChecks(shown, alone(text))).toMatchObject([{ type: 'toolResultEquals', value: text }]);
    }
    const structured = add('Added the note');
    const { outcome } = structured.observation;
    const stored = { title: 'Delta epsilon', id: 7 };
    if (outcome.kind === 'result') Object.assign(outcome.result, { structuredContent: stored });
    expect(listChecks(shown, session([structured], [{ kind: 'tool', subject: 'add_note' }]))).toMatchObject([
      { type: 'toolResultEquals', value: stored },
      // Not each host shows structured content.
      { type: 'toolResultContent', block: { type: 'text' } },
    ]);
    const again = (text: string) => session([add('Added'), add(text)], [{ kind: 'again', tool: 'add_note' }]);
    expect(listChecks(shown, again('It is there'))).toMatchObject([{ isError: false }, { value: 'It is there' }]);
    expect(listChecks(shown, again('Added'))).toMatchObject([{ isError: false }, { isError: false }]);
  });

  it('asserts of a refusal that names no value the word for what its tool is about, and its words where it has none', () => {
    const refuse = (message: string) =>
      draft([
        session([refuseStep('review_drafts', message)], [{ kind: 'refusal', subject: 'review_drafts', words: '' }]),
      ])[0]?.checks;
    expect(
      ['No draft was chosen', 'Drafts are missing', 'Nothing was chosen', 'Choose one of 3 drafts'].map(refuse),
    ).toMatchObject([
      [{ error: { contains: 'draft' } }],
      [{ error: { contains: 'Drafts' } }],
      [{ error: { contains: 'Nothing was chosen' } }],
      // A number is a value.
      [{ error: { contains: 'Choose one of 3 drafts' } }],
    ]);
  });

  it('asserts of a refusal the value that it names, and its words where it names none', () => {
    const refuse = (message: string, adds: readonly Feature[] = [], name = 'no-such-note') => {
      const step = call('show_note', '', { name, color: 'red' });
      const outcome = { kind: 'error', code: -32_000, message } as const;
      const refused = { ...step, observation: { ...step.observation, outcome } };
      return draft([session([refused], adds)])[0]?.checks;
    };
    const refusal: Feature = { kind: 'refusal', subject: 'show_note', words: 'words' };
    const needles = [
      'There is no note "no-such-note"',
      'Nothing was opened before',
      "ENOENT: no such file, open 'no-such-note'",
    ].map((message) => refuse(message, [refusal]));
    expect(needles).toMatchObject([
      [{ error: { contains: 'no-such-note' } }],
      [{ error: { contains: 'Nothing was opened before' } }],
      [{ error: { contains: 'ENOENT' } }],
    ]);
    // A server writes a path from the root.
    const outside = call('show_note', '', { name: '../outside.txt' });
    const message = 'Not in the workspace: {{workspace}}/../outside.txt';
    const denied = {
      ...outside,
      observation: { ...outside.observation, outcome: { kind: 'error', code: -32_000, message } as const },
    };
    expect(draft([session([denied], [refusal])])[0]?.checks).toMatchObject([{ error: { contains: 'outside.txt' } }]);
    // What the guarded program would say names the value, too.
    const guard: Feature = { kind: 'guard', tool: 'show_note', name: 'name' };
    expect(refuse('The name --all is an option', [refusal, guard], '--all')).toMatchObject([
      { error: { contains: 'The name --all is an option' } },
    ]);
    expect(refuse('The name no-such-note is unknown', [refusal, guard])).toMatchObject([
      { error: { contains: 'no-such-note' } },
    ]);
  });

  it('takes a tool without a verb that changes nothing for a reader', () => {
    const steps = [call('note', 'none'), call('create_note', 'created'), call('note', 'Alpha')];
    const explored = session(steps, [{ kind: 'state', reader: 'note', writer: 'create_note' }]);
    expect(draft([explored], ['note'])).toMatchObject([{ title: 'note finds what create_note made' }]);
    expect(draft([explored])).toMatchObject([{ title: 'note answers after note' }]);
  });

  it('names all calls whose things refer to each other', () => {
    const chain = [
      call('create_note', 'created', { title: 'Alpha' }),
      call('list_notes', 'Alpha'),
      call('link_note', 'linked', { from: 'Alpha' }),
      call('delete_note', 'deleted', { title: 'Alpha' }),
      call('list_notes', 'none'),
    ];
    const explored = session(chain, [
      { kind: 'joined', reader: 'list_notes', writer: 'delete_note', other: 'link_note' },
    ]);
    expect(draft([explored]).map(({ title }) => title)).toEqual([
      'list_notes sees what create_note, link_note and delete_note left',
    ]);
  });

  it('says how many lines a long text has', () => {
    const explored = session(
      [call('echo', 'Delta\nEpsilon', { message: 'Delta\nEpsilon\n' })],
      [{ kind: 'tool', subject: 'echo' }],
    );
    expect(draft([explored]).map(({ title }) => title)).toEqual(['echo answers with message of 2 lines']);
  });

  it('asserts a short text as a whole, with the case of its letters, and a long one in parts', () => {
    const [short, long] = ['DELTA!', `Notes:\n${'- a note\n'.repeat(40)}`].map((text) =>
      draft([session([call('shout', text)], [{ kind: 'tool', subject: 'shout' }])]).flatMap(({ checks }) => checks),
    );
    expect(short).toMatchObject([{ type: 'toolResultEquals', value: 'DELTA!' }]);
    expect(long).toMatchObject([{ type: 'toolResultContains', needle: 'Notes:' }, { type: 'toolResultContains' }]);
  });

  it('asserts a text of several lines as a whole', () => {
    const tree = `root\n${Array.from({ length: 9 }, (_, index) => `  line ${index} of the directory`).join('\n')}\n`;
    const [drafted] = draft([session([call('tree', tree)], [{ kind: 'tool', subject: 'tree' }])]);
    expect(drafted?.checks).toMatchObject([{ type: 'toolResultEquals', value: tree }]);
  });

  it('asserts the lines that follow each other, and the names of others, where a part of a text varies', () => {
    const files = 'large.txt 2 KB\nmiddle.txt 1 KB\nsmall.txt 1 B';
    const listed = [`of today: ${volatileMark}\nempty ${volatileMark}\n${files}\n`, `empty ${volatileMark} notes`].map(
      (text) =>
        draft([session([call('list', text)], [{ kind: 'tool', subject: 'list' }])]).flatMap(({ checks }) => checks),
    );
    expect(listed).toMatchObject([
      [{ needle: 'of today:' }, { needle: 'empty' }, { needle: files }],
      [{ needle: 'empty' }, { needle: 'notes' }],
    ]);
  });

  it('asserts the names of eight varying lines of a short text, and of the first and the last of a long one', () => {
    const name = (index: number) => `${String.fromCodePoint(97 + index)}-part`;
    const [short, long] = [9, 25].map((count) => {
      const text = Array.from({ length: count }, (_, index) => `${name(index)}: ${volatileMark}`).join('\n');
      return draft([session([call('stat', text)], [{ kind: 'tool', subject: 'stat' }])]).flatMap(
        ({ checks }) => checks,
      );
    });
    // The last one is among them.
    expect(short).toMatchObject([0, 1, 2, 3, 4, 5, 6, 8].map((index) => ({ needle: `${name(index)}:` })));
    expect(long).toMatchObject([{ needle: 'a-part:' }, { needle: 'y-part:' }]);
  });

  it('asserts what comes in any order as a whole, as lines or as a list, in a document of others, too', () => {
    const choose = (text: string) =>
      draft([session([call('list', text)], [{ kind: 'tool', subject: 'list' }])]).flatMap(({ checks }) => checks);
    expect(choose('{{any order}}\nFiles:\na\nb')).toMatchObject([
      { type: 'toolResultEquals', value: 'Files:\na\nb', unordered: true },
    ]);
    const files = ['a', 'b'].map((name) => ({ name }));
    const list = ['{{any order}}', ...files];
    expect(choose(JSON.stringify(list))).toMatchObject([
      { type: 'toolResultEquals', value: files, unordered: true, partial: true },
    ]);
    const text = JSON.stringify({ note: 'x'.repeat(150), other: 'y'.repeat(150), started: volatileMark, list });
    expect(choose(text)).toContainEqual(
      expect.objectContaining({ type: 'toolResultEquals', value: files, path: '/list', unordered: true }),
    );
    // A list of which an item varies is not compared.
    expect(choose(JSON.stringify({ list: [...list, volatileMark], count: 3 }))).toMatchObject([
      { value: 3, path: '/count' },
    ]);
    const many = Array.from({ length: 60 }, (_, index) => `the line ${index}`);
    const parts = choose(['{{any order}}', ...many].join('\n'));
    expect(parts).toMatchObject(Array.from({ length: 3 }, () => ({ type: 'toolResultContains' })));
  });

  it('keeps a long text in a file, and finds it in the structured content that repeats it', () => {
    const text = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
    const plain = call('read_file', text);
    const outcome = { kind: 'result', isError: false, result: { content: [{ type: 'text', text }] } } as const;
    const copied = {
      ...plain,
      observation: {
        ...plain.observation,
        outcome: { ...outcome, result: { ...outcome.result, structuredContent: { content: text } } },
      },
    };
    const other = {
      ...plain,
      observation: {
        ...plain.observation,
        outcome: { ...outcome, result: { ...outcome.result, structuredContent: { lines: 40 } } },
      },
    };
    const choose = (step: ObservedStep) => {
      const files = new Map<string, string>();
      const keepFile = (extension: string, kept: string) => {
        files.set(`a.${extension}`, kept);
        return `a.${extension}`;
      };
      return { checks: chooseChecks(step, { required: new Map(), isLater: false, keepFile }), files: [...files] };
    };
    expect(choose(plain)).toEqual({ checks: [{ toMatchFile: 'a.txt' }], files: [['a.txt', `${text}\n`]] });
    expect(choose(copied).checks).toEqual([{ toMatchFile: 'a.txt', path: '/content' }]);
    expect(choose(other).checks).toEqual([{ toolResultEquals: { lines: 40 }, partial: true }]);
  });

  it('prefers a further resource to a call that a framework refuses, where there are too many cases', () => {
    const answers = Array.from({ length: 36 }, (_, index) =>
      session([call(`tool_${index}`, `answer ${index}`)], [{ kind: 'tool', subject: `tool_${index}` }]),
    );
    const resources = ['a', 'b', 'c', 'd'].map((name) => read(`notes://${name}`, { text: `Note ${name}` }));
    const plain = call('tool_1', '');
    const error = { kind: 'error', code: -32_602, message: 'Required: path' } as const;
    const refused = { ...plain, isValid: false, observation: { ...plain.observation, outcome: error } };
    const refusal = session([refused], [{ kind: 'refusal', subject: 'tool_1', words: 'Required: path' }]);
    const titles = draft([refusal, ...answers, ...resources]).map(({ title }) => title);
    expect(titles).toHaveLength(40);
    expect(titles).toContain('Reads notes://d');
    const fewer = draft([refusal, ...answers.slice(1), ...resources]).map(({ title }) => title);
    expect(fewer.filter((title) => title.startsWith('tool_1 '))).toHaveLength(2);
  });

  it('keeps two of the resources that differ in a number only', () => {
    const series = ['1', '2', '3', '10'].map((number) => read(`note://${number}`, { text: `Note ${number}` }));
    const other = read('help://all', { text: 'Help' });
    expect(draft([...series, other]).map(({ title }) => title)).toEqual([
      'Reads note://1',
      'Reads note://2',
      'Reads help://all',
    ]);
  });

  it('asserts the values of a resource that is JSON, and the words of one that is text', () => {
    const text = JSON.stringify({ name: 'Notes of a server', started: volatileMark, notes: 0 });
    expect(draft([read('info://server', { text })])[0]?.checks).toMatchObject([
      { type: 'resourceEquals', value: 'Notes of a server', path: '/name' },
      { type: 'resourceEquals', value: 0, path: '/notes' },
    ]);
    const [other] = draft([read('info://server', { text: `It started ${volatileMark}.` })]);
    expect(other?.checks).toMatchObject([{ type: 'resourceContains', needle: 'It started' }]);
  });

  it('asserts the type of a resource that has no text', () => {
    const image = read('image://logo', { blob: 'AAAA', mimeType: 'image/png' });
    expect(draft([image])[0]?.checks).toMatchObject([{ type: 'resourceMimeType', mimeType: 'image/png' }]);
  });

  it('declines the URL that a refused call wants opened, as the exploration did, if the client offers that', () => {
    const refused = session([callForUrl('sync')], [{ kind: 'refusal', subject: 'sync', words: 'Failed' }]);
    const [offering] = draft([refused], [], { hidden: { sync: ['elicitation'] } });
    expect(offering).toMatchObject({
      checks: [{ type: 'toolError', error: { code: -32_042 } }],
    });
    const [plain] = draft([refused]);
    expect(plain).toMatchObject({ checks: [{ type: 'toolError', error: { code: -32_042 } }] });
    expect([offering, plain].map((each) => JSON.stringify(each?.client).includes('decline'))).toEqual([true, false]);
  });

  it('quotes the words of a refusal, not the frame and the colours around them', () => {
    const frame = '\u001B[38;5;214m---------------------------\u001B[0m';
    const refused = call('commit', `${frame}\n\u001B[1mThe index is empty\u001B[0m\n${frame}`);
    const outcome = { ...refused.observation.outcome, isError: true };
    const step = { ...refused, observation: { ...refused.observation, outcome } as ObservedStep['observation'] };
    expect(
      draft([session([step], [{ kind: 'refusal', subject: 'commit', words: 'Failed' }])])[0]?.checks,
    ).toMatchObject([{ type: 'toolError', error: { contains: 'The index is empty' } }]);
  });

  it('names the argument whose value a refusal quotes, rather than one whose name is a word of it', () => {
    const answered = session(
      [call('convert', '4 h', { time: '12:30', zone: 'UTC' })],
      [{ kind: 'tool', subject: 'convert' }],
    );
    const refuse = (message: string) =>
      session(
        [call('convert', message, { time: '12:30', zone: 'Mars' })],
        [{ kind: 'refusal', subject: 'convert', words: message }],
      );
    const title = (message: string) => draft([answered, refuse(message)]).at(-1)?.title;
    expect(title('Error: no time zone found with the key Mars')).toBe('convert refuses zone "Mars"');
    expect(title('Error: the time must be HH:MM:SS')).toBe('convert refuses time "12:30"');
  });

  it('asserts a refusal without the flag of an error, where its tool answers other calls', () => {
    const [answered, refused] = [
      call('get', 'Buy milk', { id: 1 }),
      call('get', 'Error: there is no note 7', { id: 7 }),
    ];
    const own = session([answered], [{ kind: 'tool', subject: 'get' }]);
    const other = session([refused], [{ kind: 'refusal', subject: 'get', words: 'there is no note' }]);
    const drafted = draft([own, other]).at(-1);
    expect(drafted?.title).toBe('get refuses id 7');
    expect(drafted?.checks).toEqual([expect.objectContaining({ type: 'toolResultContains' })]);
    expect(JSON.stringify(drafted?.checks)).toContain('"there is no note 7"');
    const document = call('get', '{"error":"there is no note 7"}', { id: 7 });
    const [, documented] = draft([own, { ...other, steps: [document] }]);
    expect(documented?.checks).toMatchObject([{ type: 'toolResultContains', path: '/error', needle: '7' }]);
    const wordless = call('get', '{"error":"there is no note"}', { id: 7 });
    const [, worded] = draft([own, { ...other, steps: [wordless] }]);
    expect(worded?.checks).toMatchObject([{ type: 'toolResultEquals' }]);
    // A server that misses a key answers each call so, and so does one on the way to another call.
    const echo = session([call('echo', 'Hello')], [{ kind: 'tool', subject: 'echo' }]);
    for (const left of [other, { ...own, steps: [refused, answered] }]) {
      expect(draft([echo, left]).map(({ title }) => title)).toEqual(['echo answers']);
    }
  });

  it('prefers texts that say something to kinds, flags and zeros of a large document', () => {
    const document = { type: 'text', failed: 0, isDone: true, total: 3, path: 'docs/guide.md', body: 'two words' };
    const rows = Array.from({ length: 40 }, (_, index) => ({ index }));
    const [drafted] = draft([
      session([call('inspect', JSON.stringify({ ...document, rows }))], [{ kind: 'tool', subject: 'inspect' }]),
    ]);
    expect(drafted?.checks).toMatchObject([
      { value: 'text', path: '/type' },
      { value: 'docs/guide.md', path: '/path' },
      { value: 'two words', path: '/body' },
    ]);
  });

  it('asserts nothing about private names, which another version of a library may not have', () => {
    const check = (document: JsonObject) =>
      draft([session([call('inspect', JSON.stringify(document))], [{ kind: 'tool', subject: 'inspect' }])])[0]?.checks;
    expect(check({ name: 'two words', _handlers: { echo: 1 }, _id: 7 })).toMatchObject([
      { value: 'two words', path: '/name' },
      { value: 7, path: '/_id' },
    ]);
    expect(check({ members: ['_handlers', '_options'] })).toMatchObject([{ type: 'toolResultIsError' }]);
    expect(check({ members: ['handlers', 'a_b'] })).toMatchObject([{ value: { members: ['handlers', 'a_b'] } }]);
  });
});
