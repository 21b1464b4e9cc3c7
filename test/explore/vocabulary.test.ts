import { describe, expect, it } from 'vitest';
import { findCaptured } from '../../src/checks/captures.ts';
import { findDescribedDocuments, findDescribedValues } from '../../src/explore/vocabulary/described-values.ts';
import { findAskedForms, proposeChanges, takeForm } from '../../src/explore/vocabulary/feedback.ts';
import { readFileTexts } from '../../src/explore/vocabulary/file-texts.ts';
import { placeBound } from '../../src/explore/vocabulary/statements.ts';
import { findIdentifiers } from '../../src/explore/vocabulary/identifiers.ts';
import { findLearned, learnFromResult } from '../../src/explore/vocabulary/learned-values.ts';
import { readThing, readVerb, splitName } from '../../src/explore/vocabulary/names.ts';
import { listValues, type Vocabulary } from '../../src/explore/vocabulary/vocabulary.ts';
import { readRefusal } from '../../src/explore/stability/texts.ts';
import { readWorkspace } from '../../src/workspace/workspace.ts';
import { createWorkspace } from '../support/workspace.ts';

const nothing: Vocabulary = { workspace: { files: [], directories: [] }, resources: [], learned: [], ofSession: [] };
const slot = (name: string, description = '', tool = 'get_thing') => ({
  name,
  description,
  tool: { name: tool, description: '', inputSchema: {} },
  depth: 0,
});

describe('findDescribedValues', () => {
  it.each([
    ["IANA name (e.g. 'Europe/London')", ['Europe/London']],
    ['One of celsius, fahrenheit or kelvin.', ['celsius', 'fahrenheit', 'kelvin']],
    ['The unit, such as km or mi', ['km', 'mi']],
    ['Nothing to see', []],
  ])('reads %s', (description, values) => {
    expect(findDescribedValues(description)).toEqual(values);
  });
});

describe('findDescribedDocuments', () => {
  it.each([
    ['as JSON', 'Rows. Example: [{"name": "a", "tags": ["b"]}, {"name": "c"}].'],
    ['as an object literal', "Rows，例：[{name: 'a', tags: ['b']}, {name: 'c'}]"],
  ])('reads an example %s, its first and flat part first', (_, description) => {
    expect(findDescribedDocuments(description)).toEqual([
      [{ name: 'a' }],
      [{ name: 'a' }, { name: 'c' }],
      [{ name: 'a', tags: ['b'] }, { name: 'c' }],
    ]);
  });

  it.each(['A list [optional]', 'Use {name} in it', 'Not closed: [{name: 1', '[{: }]', ''])(
    'finds none in %j',
    (text) => {
      expect(findDescribedDocuments(text)).toEqual([]);
    },
  );
});

describe('listValues', () => {
  it('makes new things of new words, and refers to things that are there', () => {
    const string = { type: 'string' };
    const learned = [
      { words: ['entity', 'name'], value: 'Ada' },
      { words: ['relation', 'from'], value: 'Ada' },
      { words: ['relation', 'relation', 'type'], value: 'knows' },
    ];
    const list = (name: string, tool: string) => listValues(string, slot(name, '', tool), { ...nothing, learned });
    expect(list('entities name', 'create_entities')[0]).not.toBe('Ada');
    expect(list('entities name', 'create_entities')).toContain('Ada');
    expect(list('observations entityName', 'add_observations')[0]).toBe('Ada');
    expect(list('relations from', 'create_relations')[0]).toBe('Ada');
    expect(list('relations relationType', 'create_relations')[0]).not.toBe('knows');
    expect(list('entityNames', 'delete_entities')[0]).toBe('Ada');
  });

  it('gives the members of an object different texts where there are some', () => {
    const string = { type: 'string' };
    const link = { type: 'object', properties: { from: string, to: string, kind: { const: 'alpha' } } };
    const [, all] = listValues({ ...link, required: ['from', 'to'] }, slot('relation'), nothing);
    expect(all).toEqual({ from: 'alpha', to: 'beta', kind: 'alpha' });
  });

  it('takes const, enum, examples and default before other values', () => {
    expect(listValues({ const: 3 }, slot('x'), nothing)).toEqual([3]);
    expect(listValues({ enum: [null, 'a'] }, slot('x'), nothing)).toEqual(['a', null]);
    expect(listValues({ type: 'string', examples: ['one'], default: 'two' }, slot('x'), nothing).slice(0, 2)).toEqual([
      'one',
      'two',
    ]);
  });

  it('keeps within the limits of the schema', () => {
    expect(listValues({ type: 'integer', minimum: 7, maximum: 9 }, slot('count'), nothing)).toEqual([7, 9]);
    expect(listValues({ type: 'string', minLength: 8, maxLength: 9 }, slot('word'), nothing)).toEqual(['alphaalp']);
    expect(listValues({ type: 'string', pattern: '^[0-9]+$' }, slot('code'), nothing)).toEqual(['1']);
  });

  it('writes an example of a document into texts, open objects and lists of anything', () => {
    const described = slot('rows', 'Example: [{"id": 7}]');
    expect(listValues({ type: 'string' }, described, nothing)[0]).toBe('[{"id":7}]');
    expect(listValues({ type: 'array' }, described, nothing)[0]).toEqual([{ id: 7 }]);
    expect(listValues({ type: 'array', items: { type: 'string' }, maxItems: 3 }, slot('rows'), nothing)[0]).toEqual([
      'alpha',
    ]);
    const open = { type: 'object', additionalProperties: true };
    expect(listValues(open, slot('filter', 'such as {status: "done"}'), nothing)[0]).toEqual({ status: 'done' });
  });

  it('takes any typical value that a pattern allows before it gives a parameter up', () => {
    const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$';
    expect(listValues({ type: 'string', pattern: uuid }, slot('taskId'), nothing)).toEqual([
      '00000000-0000-4000-8000-000000000000',
    ]);
    expect(listValues({ type: 'string', pattern: '^nothing has this$' }, slot('taskId'), nothing)).toEqual([]);
  });

  it('knows names, formats and files of the workspace', () => {
    expect(listValues({ type: 'string' }, slot('source_timezone'), nothing)[0]).toBe('Europe/London');
    expect(listValues({ type: 'string', format: 'email' }, slot('to'), nothing)[0]).toBe('user@example.com');
    const vocabulary = { ...nothing, workspace: { files: ['docs/a.md', 'b.txt'], directories: ['docs'] } };
    expect(listValues({ type: 'string' }, slot('path', '', 'read_file'), vocabulary).slice(0, 3)).toEqual([
      'b.txt',
      'docs/a.md',
      '{{workspace}}/b.txt',
    ]);
    expect(listValues({ type: 'string' }, slot('path', '', 'write_file'), vocabulary)[0]).toBe('explored.txt');
  });

  it('takes a file that exists for a tool that adds to one, and the name under which a call before it made it', () => {
    const workspace = { files: ['a.txt', 'pixel.png'], directories: [] };
    const list = (name: string, tool: string, made: string[] = []) =>
      listValues({ type: 'string' }, slot(name, '', tool), { ...nothing, workspace, made })[0];
    expect(list('filename', 'add_paragraph')).toBe('a.txt');
    expect(list('filename', 'add_paragraph', ['b.txt.docx'])).toBe('b.txt.docx');
    expect(list('image_path', 'add_picture', ['b.txt.docx'])).toBe('pixel.png');
    // What it adds is a file.
    expect(list('filename', 'add_file', ['b.txt.docx'])).toBe('explored.txt');
    expect(listValues({ type: 'integer' }, slot('table_index'), nothing)[0]).toBe(0);
  });

  it('names a file of the last commit where a tool shows commits, and none without a repository', () => {
    const list = (tool: string, checkouts: string[]) =>
      listValues({ type: 'string' }, slot('revision', '', tool), {
        ...nothing,
        workspace: { files: ['plain.txt', 'repo/a.md'], directories: ['repo'], checkouts },
      }).slice(0, 2);
    expect(list('git_show', ['repo'])).toEqual(['HEAD', 'HEAD:a.md']);
    expect(list('git_show', ['.'])).toEqual(['HEAD', 'HEAD:plain.txt']);
    expect(list('git_show', [])).toEqual(['HEAD', 'main']);
    expect(list('git_checkout', ['repo'])).toEqual(['HEAD', 'main']);
  });

  it('takes a file with content first, since an empty one shows little', async () => {
    await using directory = await createWorkspace({
      'blank.txt': '',
      'below/words.txt': 'alpha\n',
      'data.txt': 'beta\n',
    });
    const vocabulary = { ...nothing, workspace: await readWorkspace('.', directory.path) };
    const values = listValues({ type: 'string' }, slot('path', '', 'read_file'), vocabulary);
    expect(values.filter((value) => /^\w.*txt$/.test(String(value)))).toEqual([
      'data.txt',
      'below/words.txt',
      'blank.txt',
      'explored.txt',
    ]);
  });

  it('searches below a directory first, whatever the search finds', () => {
    const vocabulary = { ...nothing, workspace: { files: ['b.txt'], directories: ['docs'] } };
    expect(listValues({ type: 'string' }, slot('path', '', 'search_files'), vocabulary).slice(0, 2)).toEqual([
      '.',
      'docs',
    ]);
    expect(listValues({ type: 'string' }, slot('file_path', '', 'find_in_file'), vocabulary)[0]).toBe('b.txt');
  });

  it('takes a file with several lines before others, since an end or a beginning of one line is all of it', async () => {
    await using directory = await createWorkspace({ 'a.txt': 'one line\n', 'below/z.txt': 'one\ntwo\nthree\nfour\n' });
    const workspace = await readWorkspace('.', directory.path);
    const vocabulary = { ...nothing, workspace: { ...workspace, texts: await readFileTexts(workspace) } };
    expect(listValues({ type: 'string' }, slot('path', '', 'read_file'), vocabulary).slice(0, 2)).toEqual([
      'below/z.txt',
      'a.txt',
    ]);
    expect(listValues({ type: 'number' }, slot('tail', '', 'read_file'), vocabulary)[0]).toBe(2);
  });

  it('searches for names and words that files have, where the example of a description finds nothing', () => {
    const texts = new Map([['long.txt', '12 of Gamma\n']]);
    const workspace = { files: ['data.json', 'long.txt', 'notes/greek.txt'], directories: ['notes'], texts };
    const first = (name: string, description: string) => {
      const inputSchema = { type: 'object', properties: { path: { type: 'string' }, [name]: { type: 'string' } } };
      const tool = { name: 'search_files', description: '', inputSchema };
      return listValues({ type: 'string' }, { name, description, tool, depth: 0 }, { ...nothing, workspace })[0];
    };
    expect(first('pattern', 'A glob such as *.rs')).toBe('*.txt');
    expect(first('pattern', 'A glob such as *.json')).toBe('*.json');
    expect(first('excludePatterns', 'Globs such as *')).toBe('notes');
    expect(first('query', "Text, e.g. 'TODO'")).toBe('Gamma');
    expect(first('pattern', 'A regular expression')).toBe('Gamma');
    // It may be a query about something else.
    expect(first('query', "A SQL query, e.g. 'SELECT 1'")).toBe('SELECT 1');
    expect(listValues({ type: 'string' }, slot('query', '', 'search_nodes'), { ...nothing, workspace })[0]).toBe(
      'alpha',
    );
  });

  it('replaces a line that a file has', () => {
    const learned = learnFromResult(
      { structuredContent: { content: 'Alpha\nBeta\n' } },
      { tool: 'read_file', args: {}, step: 0 },
    );
    const edit = { type: 'object', properties: { oldText: { type: 'string' } }, required: ['oldText'] };
    const values = listValues({ type: 'array', items: edit }, slot('edits', '', 'edit_file'), { ...nothing, learned });
    expect(values[0]).toEqual([{ oldText: 'Alpha' }]);
    const { tool } = slot('path', '', 'edit_file');
    const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
    const workspace = { files: ['b.txt'], directories: [], texts: new Map([['b.txt', 'Gamma\r\nDelta\r\n']]) };
    const own = { name: 'edits', description: '', tool: { ...tool, inputSchema }, depth: 0 };
    expect(listValues({ type: 'array', items: edit }, own, { ...nothing, workspace, learned })[0]).toEqual([
      { oldText: 'Gamma' },
    ]);
    expect(listValues({ type: 'string' }, slot('newText', '', 'edit_file'), { ...nothing, learned })[0]).toBe(
      'beta $& $1',
    );
  });

  it('takes the ends of a move for paths where the tool is about paths, also in a list of moves', () => {
    const vocabulary = { ...nothing, workspace: { files: ['b.txt'], directories: [], blank: [] } };
    const end = { type: 'string' };
    const items = {
      type: 'object',
      properties: { source: end, destination: end },
      required: ['source', 'destination'],
    };
    const [moves] = listValues({ type: 'array', items }, slot('items', '', 'path-copy'), vocabulary);
    expect(moves).toEqual([{ source: 'b.txt', destination: 'explored.txt' }]);
  });

  it('writes SQL where a description says so, whatever the parameter is called', () => {
    const first = (...named: Parameters<typeof slot>) => listValues({ type: 'string' }, slot(...named), nothing)[0];
    expect(first('query', 'The SQL query to run')).toBe('SELECT 1 AS one');
    expect(first('script', '要执行的SQL脚本', 'execute')).toBe('SELECT 1 AS one');
    expect(first('query', 'What to look for')).toBe('alpha');
  });

  it('writes an expression for a pattern where the tool or its description says so', () => {
    const first = (...named: Parameters<typeof slot>) => listValues({ type: 'string' }, slot(...named), nothing)[0];
    expect(first('pattern', '', 'regex_match')).toBe('[a-z]+');
    expect(first('pattern', 'A regular expression')).toBe('[a-z]+');
    expect(first('pattern', 'Names of files')).toBe('*');
  });

  it('gives both ends of a conversion units of one kind', () => {
    const unit = { type: 'string' };
    const ends = { type: 'object', properties: { from_unit: unit, to_unit: unit }, required: ['from_unit', 'to_unit'] };
    expect(listValues(ends, slot('conversion'), nothing)[0]).toEqual({ from_unit: 'km', to_unit: 'cm' });
  });

  it('gives an object whose members are open the column of a record', () => {
    const open = { type: 'object', additionalProperties: {} };
    expect(listValues(open, slot('data', '', 'update_records'), nothing)[0]).toEqual({ name: 'beta' });
    expect(listValues(open, slot('conditions', '', 'update_records'), nothing)[0]).toEqual({ name: 'alpha' });
    expect(listValues(open, slot('env', '', 'run'), nothing)[0]).toEqual({ alpha: 'beta' });
  });

  it('builds lists and objects from the values of their parts', () => {
    const entity = {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer' } },
      required: ['name'],
    };
    const [first, second] = listValues({ type: 'array', items: entity, minItems: 1 }, slot('entities'), nothing);
    expect([first, second]).toEqual([[{ name: 'alpha' }], [{ name: 'alpha' }, { name: 'alpha', size: 2 }]]);
  });
});

describe('learned values', () => {
  it('finds an id of a result for a parameter that names what it is of, as a reference if it differs each time', () => {
    const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
    const learned = learnFromResult(
      { content: [], structuredContent: { id, title: 'Milk' } },
      { tool: 'create_note', args: {}, step: 2 },
    );
    expect(findLearned(learned, 'noteId', 'get_note')).toEqual(['{{result.2/structuredContent/id}}']);
    expect(findLearned(learned, 'title', 'find_note')).toEqual(['Milk']);
    expect(findLearned(learned, 'colour', 'paint')).toEqual([]);
    // A framework may repeat in `result` a text that is a document.
    const text = '{"title": "Bread"}';
    const repeated = { content: [{ type: 'text', text }], structuredContent: { result: text } };
    expect(
      findLearned(learnFromResult(repeated, { tool: 'find_note', args: {}, step: 0 }), 'title', 'add_note'),
    ).toEqual(['Bread']);
    // A thing is asked for by what names it, and by the value of its own name first.
    const databases = learnFromResult(
      { structuredContent: { databases: [{ name: 'memory', type: 'duckdb' }] } },
      { tool: 'list_databases', args: {}, step: 0 },
    );
    expect(findLearned(databases, 'database', 'list_tables')).toEqual(['memory']);
    const named = [...databases, { words: ['database'], value: 'own' }];
    expect(findLearned(named, 'database', 'list_tables')).toEqual(['own', 'memory']);
    expect(findLearned(databases, 'type', 'list_tables')).toEqual(['duckdb']);
  });

  it('finds an id in a sentence, and none that the call was given', () => {
    const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
    const learn = (args: Record<string, unknown>) =>
      learnFromResult(
        { content: [{ type: 'text', text: `Note 12 was created with ID: \`${id}\`.` }] },
        { tool: 'create_note', args, step: 0 },
      );
    expect(findLearned(learn({}), 'noteId', 'get_note')).toEqual([
      '{{result.0/content/0/text~ ID: `([0-9a-fA-F-]{36})}}',
    ]);
    expect(learn({ parent: id })).toEqual([]);
  });
});

describe('placeBound', () => {
  it('gives a statement that reads a placeholder for the one value of its list', () => {
    const args = { sql: 'SELECT 1 AS one' };
    expect(placeBound(args, 'params', ['alpha'])).toEqual({ sql: 'SELECT ? AS one' });
    expect(placeBound(args, 'params', ['alpha', 'beta'])).toEqual({});
    expect(placeBound(args, 'columns', ['alpha'])).toEqual({});
    expect(placeBound({ sql: 'CREATE TABLE items (id INTEGER)' }, 'params', ['alpha'])).toEqual({});
    expect(placeBound({ text: 'alpha' }, 'params', ['alpha'])).toEqual({});
  });
});

describe('findIdentifiers', () => {
  const uuid = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
  const other = '9b2d7c10-1111-4222-8333-444455556666';

  it.each([
    [`Task ID: ${uuid}`, [{ value: uuid, words: ['task', 'id'], pattern: 'ID: ([0-9a-fA-F-]{36})' }]],
    [`**ID:** \`${uuid}\``, [{ value: uuid, words: ['id'], pattern: 'ID:\\*\\* `([0-9a-fA-F-]{36})' }]],
    [`任务ID为 ${uuid}`, [{ value: uuid, words: ['id'], pattern: '任务ID为 ([0-9a-fA-F-]{36})' }]],
    ['Created note (id: n-7).', [{ value: 'n-7', words: ['id'], pattern: String.raw`id: ([\w-]+)` }]],
    ['Stored with id 42.', [{ value: 42, words: ['id'], pattern: String.raw`id ([\w-]+)` }]],
    ['commit 0a1b2c3d4e5f', [{ value: '0a1b2c3d4e5f', words: ['id'], pattern: 'commit ([0-9a-f]+)' }]],
    // The words before them tell two ids of one text apart.
    [
      `old id ${uuid}, new id ${other}`,
      [
        { value: uuid, words: ['old', 'id'], pattern: 'id ([0-9a-fA-F-]{36})' },
        { value: other, words: ['id'], pattern: 'new id ([0-9a-fA-F-]{36})' },
      ],
    ],
    [
      'Document doc-1 - Alpha in UTF-8',
      [{ value: 'doc-1', words: ['id'], pattern: String.raw`Document ([A-Za-z]+-\d+)` }],
    ],
    ['The id is missing; see user guide 7.', []],
  ])('reads %s', (text, found) => {
    expect(findIdentifiers(text)).toEqual(found);
    // The gate's engine of expressions finds the same.
    for (const { value, pattern } of findIdentifiers(text)) {
      expect(findCaptured({ text }, { path: '/text', matches: pattern })).toEqual({ value: String(value) });
    }
  });
});

describe('proposeChanges', () => {
  const parameters = [
    { name: 'path', isRequired: true, schema: { type: 'string' }, description: '' },
    { name: 'unit', isRequired: false, schema: { type: 'string' }, description: '' },
    { name: 'force', isRequired: false, schema: { type: 'boolean' }, description: '' },
  ];
  const propose = (args: Record<string, unknown>, message: string) =>
    proposeChanges({ parameters }, args, { message, listOthers: ({ name }) => [`other ${name}`] })[0];

  it.each([
    ['Path must be absolute', { path: 'a.txt' }, { path: '{{workspace}}/a.txt' }],
    ['unit: expected one of km, mi', { path: 'a', unit: 'x' }, { path: 'a', unit: 'km' }],
    ['path must have at least 4 characters', { path: 'ab' }, { path: 'abab' }],
    ['Cannot use both path and unit', { path: 'a', unit: 'km' }, { path: 'a' }],
    ['The force flag must be set to true', { path: 'a' }, { path: 'a', force: true }],
    ['path must be true', { path: 'a' }, { path: 'other path' }],
    ['unit is required for this', { path: 'a' }, { path: 'a', unit: 'other unit' }],
    ['No such path', { path: 'a' }, { path: 'other path' }],
    ['a.txt must be an Excel file (.xlsm, .xlsx)', { path: 'a.txt' }, { path: 'a.xlsx' }],
    ['Files of the format *.ods only', { path: 'a.txt' }, { path: 'a.ods' }],
    ['The file b.xlsx does not exist', { path: 'b.xlsx' }, { path: 'other path' }],
    [
      '{{workspace}}/docs/a.txt is not a directory',
      { path: '{{workspace}}/docs/a.txt' },
      { path: '{{workspace}}/docs' },
    ],
    ['Invalid path: alpha. Must be a finite positive integer.', { path: 'alpha' }, { path: '1' }],
    ['path must be a number', { path: '3' }, { path: 'other path' }],
    ['Error: invalid base64 input', { path: 'alpha' }, { path: 'aGVsbG8=' }],
    ['invalid regex: nothing to repeat at position 0', { path: '*' }, { path: 'a+' }],
    ['ENOTDIR: a.txt', { path: 'a.txt' }, { path: '.' }],
    ['fatal: Not a valid object name alpha', { path: 'alpha' }, { path: 'HEAD' }],
    ['error: malformed object name alpha', { path: 'alpha' }, { path: 'HEAD' }],
  ])('follows %j', (message, args, changed) => {
    expect(propose(args, message)).toEqual(changed);
  });

  it('names files as the directory in another argument has them, and gives no optional argument null', () => {
    const lists = [...parameters, { name: 'files', isRequired: true, schema: { type: 'array' }, description: '' }];
    const values: Record<string, unknown[]> = {
      path: ['repo'],
      unit: [null],
      files: [['new.txt'], ['repo/docs/a.md']],
    };
    const listAll = (args: Record<string, unknown>, message: string) =>
      proposeChanges({ parameters: lists }, args, { message, listOthers: ({ name }) => values[name] ?? [] });
    const args = { path: '{{workspace}}/repo', unit: 'alpha', files: ['new.txt'] };
    expect(listAll(args, "pathspec 'new.txt' did not match any files")[0]).toEqual({ ...args, files: ['docs/a.md'] });
    expect(listAll(args, 'is busy')).not.toContainEqual({ ...args, files: ['docs/a.md'] });
    expect(listAll(args, 'is busy').map(({ unit }) => unit)).not.toContain(null);
  });

  it('remembers the form of a path that a refusal asks for, for the paths of other tools', () => {
    const messages = ["Path 'a.txt' must be absolute", "Path '{{workspace}}/a.txt' is no Excel file (.xlsx)"];
    expect(findAskedForms({ path: 'a.txt', note: 'b.txt' }, messages[0]!)).toEqual(['path']);
    expect(messages.reduce(takeForm, 'docs/b.md' as unknown)).toBe('{{workspace}}/docs/b.xlsx');
    expect(messages.reduce(takeForm, '{{workspace}}/b.xlsx' as unknown)).toBe('{{workspace}}/b.xlsx');
    expect(messages.reduce(takeForm, 'alpha' as unknown)).toBe('alpha');
    expect(findAskedForms({ path: 'a.xlsx' }, 'The file a.xlsx does not exist')).toEqual([]);
  });

  it('adds a member that the message asks for to the first object of a list', () => {
    const items = [{ name: 'items', isRequired: true, schema: { type: 'array' }, description: '' }];
    const changes = proposeChanges(
      { parameters: items },
      { items: [{ path: 'a' }] },
      {
        message: 'new_text or new_path is required',
        listOthers: () => [[{ path: 'b', new_path: 'c', new_text: 'd' }]],
      },
    );
    expect(changes[0]).toEqual({ items: [{ path: 'a', new_text: 'd' }] });
  });
});

describe('readRefusal', () => {
  it('reads structured content, too, without the colours of a terminal', () => {
    const result = {
      content: [{ type: 'text', text: '\u001B[38;5;214m---\u001B[0m' }],
      structuredContent: { error: { message: 'No repository' } },
    };
    expect(readRefusal({ kind: 'result', isError: true, result })).toBe('No repository\n---');
    expect(readRefusal({ kind: 'error', code: -32_602, message: 'No' })).toBe('No');
  });
});

describe('names', () => {
  it('splits names of any style, and reads what a tool does', () => {
    expect(splitName('noteIDs')).toEqual(splitName('note_ids'));
    expect(splitName('sourceEntries')).toEqual(['source', 'entry']);
    expect(['get-sum', 'deleteNote', 'git_init', 'think'].map(readVerb)).toEqual([
      'read',
      'remove',
      'create',
      'unknown',
    ]);
    const things = ['create_note', 'note_create', 'think', 'note'].map((tool) => readThing(tool).join(' '));
    expect(things).toEqual(['note', 'note', '', '']);
  });
});
