import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { chooseSessions } from '../../src/explore/corpus.ts';
import type { ObservedStep } from '../../src/explore/exploration.ts';
import { pickFeatures, states } from '../../src/explore/features/feature.ts';
import type { Inventory } from '../../src/explore/inventory.ts';
import { listParameters } from '../../src/explore/schema/parameters.ts';
import { specialText } from '../../src/explore/vocabulary/typical-values.ts';

function createTool(name: string, properties: JsonObject, isReadOnly = true, required: string[] = []) {
  const inputSchema = { type: 'object', properties, required };
  const base = { description: '', inputSchema, outputSchema: null, hints: {}, isReadOnly, needsTask: false };
  return { ...base, name, parameters: listParameters(inputSchema) };
}

const text = { type: 'string' };
const inventory: Inventory = {
  tools: [
    createTool('read_files', { paths: { type: 'array', items: text } }),
    createTool('list_files', { sortBy: { enum: ['name', 'size'], default: 'name' }, limit: { type: 'integer' } }),
    createTool('read_file', { path: text }),
    createTool('move_file', { source: text, destination: text, dryRun: { type: 'boolean' } }, false),
    createTool('count_files', { deep: { type: 'boolean' } }),
  ],
  resources: [],
  templates: [],
  prompts: [],
  completes: false,
  runsTasks: false,
};

function call(tool: string, args: JsonObject, answer = 'Alpha'): ObservedStep {
  const result = { content: [{ type: 'text', text: answer }] };
  return {
    request: { kind: 'tool', tool, arguments: args },
    isValid: true,
    observation: {
      outcome: { kind: 'result', isError: false, result },
      files: { added: [], changed: [], removed: [] },
      noise: null,
    },
  };
}

const listFeatures = (steps: readonly ObservedStep[], of: Inventory) =>
  chooseSessions([{ phase: 'coverage', steps }], of).flatMap(({ adds }) => adds);

const choose = (sessions: readonly ObservedStep[][]) =>
  chooseSessions(
    sessions.map((steps) => ({ phase: 'coverage' as const, steps })),
    inventory,
  );

describe('chooseSessions', () => {
  it.each([
    [call('read_files', { paths: ['a.txt'] }), call('read_files', { paths: ['a.txt', 'no-such-file.txt'] })],
    [call('list_files', { limit: 2 }), call('list_files', { limit: 1000 })],
    [call('read_file', { path: 'a.txt' }), call('read_file', { path: '' })],
    [call('read_files', { paths: ['*.txt'] }), call('read_files', { paths: ['docs/**'] })],
    [call('read_files', { paths: ['*.txt'] }), call('read_files', { paths: [{ text: specialText }] })],
    [call('move_file', { destination: 'b.txt' }), call('move_file', { destination: 'no-such-directory/b.txt' })],
  ])('keeps a call with a value of another kind, once', (plain, special) => {
    expect(choose([[plain], [special], [special]]).map(({ run }) => run.steps)).toEqual([[plain], [special]]);
  });

  it('keeps a search for what a call was given, and no other reader that gets the same path', () => {
    const moved = call('move_file', { source: 'a.txt', destination: 'b.txt' });
    const read = call('read_file', { path: 'b.txt' });
    const search = call('list_files', { query: 'b.txt' });
    const adds = choose([[moved], [read], [search], [moved, read], [moved, search]]).map((kept) => kept.adds);
    expect(adds.slice(3)).toEqual([
      [
        {
          kind: 'search',
          tool: 'list_files',
          name: 'query',
          maker: 'move_file',
          path: 'destination',
          letters: 'same',
        },
      ],
    ]);
  });

  it('distinguishes a search in the letters of what was made from those in others', () => {
    const made = call('move_file', { source: 'a.txt', destination: 'Gamma' });
    const searches = ['Gamma', 'GAMMA', 'gamma', 'delta'].map((query) => call('list_files', { query }));
    const features = choose([[made, ...searches].flatMap((step) => step ?? [])]).flatMap(({ adds }) => adds);
    expect(pickFeatures(features, 'search').map(({ letters }) => letters)).toEqual(['same', 'capital', 'small']);
  });

  it('names the call that changed what a reader sees, not a reader between them', () => {
    const [before, after] = ['Alpha', 'Beta'].map((answer) => call('read_file', { path: 'a.txt' }, answer));
    const moved = call('move_file', { source: 'b.txt', destination: 'c.txt' });
    const listed = call('list_files', {});
    const steps = [listed, before, moved, listed, after].flatMap((step) => step ?? []);
    const features = choose([steps]).flatMap(({ adds }) => adds);
    expect(pickFeatures(features, ...states)).toEqual([{ kind: 'state', reader: 'read_file', writer: 'move_file' }]);
  });

  it('names the call whose thing another call names, too, and none that names other things', () => {
    const [none, one] = ['[]', '[1]'].map((answer) => call('list_files', {}, answer));
    const write = (path: string) => call('write_file', { path });
    const move = call('move_file', { source: 'a.txt', destination: 'b.txt' });
    const joined = (path: string) => {
      const steps = [write(path), none, move, one].flatMap((step) => step ?? []);
      return pickFeatures(
        choose([steps]).flatMap(({ adds }) => adds),
        ...states,
      );
    };
    expect(joined('a.txt')).toContainEqual({
      kind: 'joined',
      reader: 'list_files',
      writer: 'move_file',
      other: 'write_file',
    });
    expect(pickFeatures(joined('c.txt'), 'joined')).toEqual([]);
  });

  it('joins no calls by an argument that nearly all tools need, and counts no null', () => {
    const place = { repo: text };
    const places = {
      ...inventory,
      tools: ['list', 'add', 'tag', 'drop'].map((name) =>
        createTool(name, { ...place, by: text }, name === 'list', ['repo']),
      ),
    };
    const at = (tool: string, args: JsonObject, answer?: string) => call(tool, { repo: 'a', ...args }, answer);
    const list = (steps: readonly ObservedStep[]) => pickFeatures(listFeatures(steps, places), ...states);
    const session = (by: string) => [
      at('list', {}, '[]'),
      at('add', { by }),
      at('tag', { by: 'x' }),
      at('list', {}, '[1]'),
    ];
    expect(list(session('y'))).toEqual([{ kind: 'state', reader: 'list', writer: 'tag' }]);
    expect(list(session('x'))).toEqual([
      { kind: 'state', reader: 'list', writer: 'tag' },
      { kind: 'joined', reader: 'list', writer: 'tag', other: 'add' },
    ]);
    const values = listFeatures([at('list', { by: null })], places);
    expect(values).toContainEqual({ kind: 'parameter', tool: 'list', name: 'repo' });
    expect(values).not.toContainEqual({ kind: 'parameter', tool: 'list', name: 'by' });
  });

  it('keeps a call that is answered in another way when it comes again, and takes a reader by its name for no change', () => {
    const add = (answer: string) => call('add_note', { title: 'a' }, answer);
    expect(listFeatures([add('added'), add('is there')], inventory)).toContainEqual({
      kind: 'again',
      tool: 'add_note',
    });
    expect(pickFeatures(listFeatures([add('added'), add('added')], inventory), 'again')).toEqual([]);
    const list = (answer: string) => call('list_files', {}, answer);
    const [before, after] = [list('[]'), list('[1]')];
    const session = [before, add('added'), call('open_note', { title: 'a' }), after].flatMap((step) => step ?? []);
    expect(pickFeatures(listFeatures(session, inventory), ...states)).toEqual([
      { kind: 'state', reader: 'list_files', writer: 'add_note' },
    ]);
  });

  it('keeps a second call, and a second thing of one name, where a reader is asked afterwards', () => {
    const [add, other] = ['a', 'b'].map((body) => call('create_note', { title: 'x', body }, 'created'));
    const read = call('list_files', {}, '[1]');
    const list = (steps: ReadonlyArray<ObservedStep | undefined>) =>
      pickFeatures(
        listFeatures(
          steps.flatMap((step) => step ?? []),
          inventory,
        ),
        'again',
        'namesake',
      );
    expect(list([add, read, add, read])).toEqual([{ kind: 'again', tool: 'create_note' }]);
    expect(list([add, other, read])).toEqual([{ kind: 'namesake', tool: 'create_note' }]);
    expect(list([read, add, read, other])).toEqual([]);
    expect(list([add, call('create_note', { title: 'y', body: 'b' }, 'created'), read])).toEqual([]);
  });

  it('keeps an argument that selects some of three things, and none that selects from fewer', () => {
    const [first, second, third] = ['x', 'y', 'z'].map((title) => call('create_note', { title }, 'created'));
    const [all, some] = [{}, { limit: 2 }].map((args) => call('list_files', args, '[]'));
    const list = (...steps: Array<ObservedStep | undefined>) =>
      pickFeatures(
        listFeatures(
          steps.flatMap((step) => step ?? []),
          inventory,
        ),
        'selected',
      );
    const selected = { kind: 'selected', tool: 'list_files', name: 'limit', maker: 'create_note' };
    expect(list(first, second, third, all, some)).toEqual([selected]);
    expect(list(first, second, second, all, some)).toEqual([]);
    expect(list(first, second, third, some)).toEqual([]);
  });

  it('keeps a part that is changed alone, between the same requests of a reader', () => {
    const made = call('create_note', { title: 'x', body: 'b' }, 'created');
    const read = call('list_files', {}, 'x b');
    const list = (...steps: ObservedStep[]) => pickFeatures(listFeatures(steps, inventory), 'part');
    const change = (args: JsonObject) => call('update_note', { id: 1, ...args }, 'updated');
    const part = { kind: 'part', tool: 'update_note', name: 'body', reader: 'list_files', isEmptied: false };
    expect(list(made, read, change({ title: 'x', body: 'c' }), read)).toEqual([part]);
    expect(list(made, read, change({ body: '' }), read)).toEqual([{ ...part, isEmptied: true }]);
    expect(list(made, read, change({ title: 'y', body: 'c' }), read)).toEqual([]);
    expect(list(made, read, change({ body: 'b' }), read)).toEqual([]);
    expect(list(made, change({ body: 'c' }), read)).toEqual([]);
    // It was given in a list.
    const several = call('create_note', { notes: [{ title: 'x', body: 'b' }] }, 'created');
    expect(list(several, read, change({ body: 'c' }), read)).toEqual([part]);
  });

  it('keeps an option with which the same call is answered otherwise', () => {
    const list = (...answers: string[]) => {
      const steps = answers.map((answer, index) => call('count_files', index === 0 ? {} : { deep: true }, answer));
      return pickFeatures(listFeatures(steps, inventory), 'effect');
    };
    expect(list('a', 'a b')).toEqual([{ kind: 'effect', tool: 'count_files', name: 'deep', value: true }]);
    expect(list('a', 'a')).toEqual([]);
  });

  it('keeps what an option changes before the values of a list, where there are too many sessions', () => {
    const levels = Array.from({ length: 70 }, (_, index) => `level ${index}`);
    const many = { ...inventory, tools: [...inventory.tools, createTool('set_level', { level: { enum: levels } })] };
    const sessions = [
      ...levels.map((level) => [call('set_level', { level })]),
      [call('count_files', {}, 'a')],
      [call('count_files', { deep: true }, 'a')],
      [call('count_files', {}, 'a'), call('count_files', { deep: true }, 'a b')],
    ];
    const kept = chooseSessions(
      sessions.map((steps) => ({ phase: 'coverage' as const, steps })),
      many,
    );
    expect(kept).toHaveLength(60);
    expect(kept.flatMap(({ adds }) => pickFeatures(adds, 'effect'))).toHaveLength(1);
  });

  it('keeps the refusal of an option, and of the own machine, apart from that of any other text', () => {
    const refuse = (path: string | string[], message: string): ObservedStep => {
      const step = call('read_file', { path });
      return { ...step, observation: { ...step.observation, outcome: { kind: 'error', code: -32_602, message } } };
    };
    const guard = { kind: 'guard', tool: 'read_file', name: 'path' };
    const guarded = refuse('--all', "Invalid path: '--all' cannot start with '-'");
    const unknown = refuse('--all', "No such file: '--all'");
    const listed = refuse(['--all'], "git add -- --all: pathspec '--all' did not match any files");
    const own = [
      refuse('http://127.0.0.1/', 'The address is not public'),
      refuse('http://127.0.0.1/', 'Only https is allowed'),
    ];
    const features = [guarded, unknown, listed, ...own].map((step) =>
      pickFeatures(listFeatures([step], inventory), 'guard', 'value', 'trait'),
    );
    expect(features).toEqual([[guard], [], [guard], [guard], []]);
  });

  it('counts refusals that name other files of the workspace once', () => {
    const refuse = (path: string) => {
      const step = call('read_file', { path });
      const message = `Error executing tool read_file: {{workspace}}/${path}`;
      return [
        { ...step, observation: { ...step.observation, outcome: { kind: 'error', code: -1, message } as const } },
      ];
    };
    expect(choose([refuse('a'), refuse('b/c')])).toHaveLength(1);
  });

  it('keeps a value of a list that is not the default, which a call without it shows', () => {
    const [none, name, size] = [{}, { sortBy: 'name' }, { sortBy: 'size' }].map((args) => [call('list_files', args)]);
    const adds = choose([none ?? [], size ?? [], name ?? []]).map((kept) => kept.adds);
    expect(adds).toHaveLength(2);
    expect(adds[1]).toContainEqual({ kind: 'value', tool: 'list_files', name: 'sortBy', value: 'size' });
  });

  it('keeps an option with which a call leaves what a reader answers, and none that changes nothing else', () => {
    const read = call('read_file', { path: 'a.txt' });
    const wrap = (option: string) => [read, call('move_file', { source: 'a.txt', [option]: true }), read];
    const kept = choose([[read], wrap('dryRun'), wrap('source')]);
    expect(kept.map(({ adds }) => pickFeatures(adds, 'kept'))).toEqual([
      [],
      [{ kind: 'kept', reader: 'read_file', writer: 'move_file', option: 'dryRun' }],
      [],
    ]);
    expect(kept[1]?.run.steps).toHaveLength(3);
  });

  it('keeps a call that replaces what a reader read, with the reader before and after it', () => {
    const gone = call('read_file', { path: 'a.txt' });
    const outcome = { kind: 'error', code: -32_000, message: 'No such file' } as const;
    const refused = { ...gone, observation: { ...gone.observation, outcome } };
    const move = (destination: string) => call('move_file', { source: 'a.txt', destination });
    const [before, after] = [call('read_file', { path: 'b.txt' }, 'Beta'), call('read_file', { path: 'b.txt' })];
    const other = [call('read_file', { path: 'a.txt' }), move('c.txt'), refused];
    const kept = choose([other, [before, move('b.txt'), after]]);
    expect(kept.map(({ run }) => run.steps.length)).toEqual([3, 3]);
    expect(kept[1]?.adds).toContainEqual({ kind: 'replaced', reader: 'read_file', writer: 'move_file' });
    expect(pickFeatures(kept[0]?.adds ?? [], 'replaced')).toEqual([]);
  });
});
