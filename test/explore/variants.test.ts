import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { listUnusual } from '../../src/explore/phases/unusual-texts.ts';
import { choosePlace, listVariants } from '../../src/explore/phases/variants.ts';
import { findTwoLines, findWideFile } from '../../src/explore/vocabulary/file-texts.ts';
import { generatedWorkspace } from '../../src/explore/world/generated-files.ts';
import { listParameters } from '../../src/explore/schema/parameters.ts';

function createTool(name: string, properties: JsonObject, required: string[] = []) {
  const inputSchema = { type: 'object', properties, required };
  const base = { description: '', inputSchema, outputSchema: null, hints: {}, isReadOnly: false, needsTask: false };
  return { ...base, name, parameters: listParameters(inputSchema) };
}
const texts = { type: 'array', items: { type: 'string' } };

describe('choosePlace', () => {
  const string = { type: 'string' };
  const knowledge = {
    files: ['docs/a.txt', 'docs/deep/b.txt', 'notes/c.txt', 'notes/d.txt', 'wide.txt'],
    wideFile: 'wide.txt',
  };
  const choose = (tool: ReturnType<typeof createTool>, name: string, working: JsonObject) =>
    choosePlace(
      tool,
      tool.parameters.find((each) => each.name === name)!,
      { working, knowledge },
    );

  it('counts lines in a file whose letters have several bytes, and in the form of the path that works', () => {
    const read = createTool('read_file', { path: string, head: { type: 'integer' }, encoding: string }, ['path']);
    expect(choose(read, 'head', { path: 'docs/a.txt' })).toEqual({ path: 'wide.txt' });
    expect(choose(read, 'head', { path: '{{workspace}}/docs/a.txt' })).toEqual({ path: '{{workspace}}/wide.txt' });
    expect(choose(read, 'encoding', { path: 'docs/a.txt' })).toEqual({});
    expect(
      choosePlace(read, read.parameters[1]!, { working: { path: 'a' }, knowledge: { files: [], wideFile: null } }),
    ).toEqual({});
  });

  it('sorts a directory that has files only, whatever size a file system gives directories', () => {
    const order = { type: 'string', enum: ['name', 'size'] };
    const list = createTool('list_files', { path: string, sortBy: order, tail: { type: 'integer' } }, ['path']);
    expect(choose(list, 'sortBy', { path: '.' })).toEqual({ path: 'notes' });
    expect(choose(list, 'sortBy', { path: '{{workspace}}/docs' })).toEqual({ path: '{{workspace}}/notes' });
    expect(choose(list, 'sortBy', { path: 'docs/a.txt' })).toEqual({});
    expect(choose(list, 'tail', { path: '.' })).toEqual({});
    expect(choose(createTool('write_file', { path: string, mode: order }, ['path']), 'mode', { path: '.' })).toEqual(
      {},
    );
  });

  it('finds a file with more bytes than a program reads at once, and a letter at each cut', () => {
    const texts = new Map(
      Object.entries(generatedWorkspace.generated ?? {}).map(([file, text]) => [file, String(text)]),
    );
    expect(findWideFile(texts)).toBe('unicode.txt');
    expect(
      findWideFile(
        new Map([
          ['a.txt', 'é\né\n'],
          ['b.txt', 'plain text\n'.repeat(200)],
        ]),
      ),
    ).toBeNull();
    const bytes = Buffer.from(texts.get('unicode.txt') ?? '');
    const lines = String(bytes).split('\n');
    for (const size of [512, 1024, 2048, bytes.length - 1024]) {
      expect([size % 2, String(bytes.subarray(0, size)).includes('\uFFFD')]).toEqual([0, true]);
    }
    expect(lines.map((line) => Buffer.byteLength(line) > 1024)).toEqual([true, true, true, false]);
  });
});

describe('listVariants', () => {
  it.each([
    ['a list of paths', 'read_files', 'paths', ['notes/a.txt'], ['notes/a.txt', 'no-such-file.txt']],
    [
      'absolute paths',
      'read_files',
      'paths',
      ['{{workspace}}/a.txt'],
      ['{{workspace}}/a.txt', '{{workspace}}/no-such-file.txt'],
    ],
    ['a list of names', 'open_nodes', 'names', ['alpha'], ['alpha', 'no-such-thing']],
  ])('names one that is missing in %s', (_, name, parameter, sent, expected) => {
    expect(listVariants(createTool(name, { [parameter]: texts }), { [parameter]: sent })).toEqual([
      { [parameter]: expected },
    ]);
  });

  it('makes nothing of lists without names, of lists that a tool makes, and of lists with one item at most', () => {
    expect(listVariants(createTool('add_tags', { tags: texts }), { tags: ['alpha'] })).toEqual([]);
    expect(listVariants(createTool('create_files', { paths: texts }), { paths: ['explored.txt'] })).toEqual([]);
    const one = { ...texts, maxItems: 1 };
    expect(listVariants(createTool('read_files', { paths: one }), { paths: ['a.txt'] })).toEqual([]);
  });

  it('makes a file or a directory below a directory that is missing', () => {
    const made = (name: string, path: string) => listVariants(createTool(name, { path: { type: 'string' } }), { path });
    expect(made('create_directory', '{{workspace}}/explored')).toEqual([
      { path: '{{workspace}}/no-such-directory/explored' },
    ]);
    expect(made('write_file', 'explored.txt')).toEqual([{ path: 'no-such-directory/explored.txt' }]);
    expect(made('read_file', 'a.txt')).toEqual([]);
  });

  it('replaces two lines of a file by lines without indentation, and finds them with other white space', () => {
    const text = { type: 'string' };
    const edits = { type: 'array', items: { type: 'object', properties: { oldText: text, newText: text } } };
    const edit = createTool('edit_file', { path: text, edits }, ['path', 'edits']);
    const working = { path: '{{workspace}}/a.txt', edits: [{ oldText: 'alpha', newText: 'beta' }] };
    const twoLines = { file: 'b.py', lines: ['def run():', '    return 1'] } as const;
    const listOf = (tool = edit, lines: typeof twoLines | null = twoLines) =>
      listVariants(tool, working, { files: [], twoLines: lines });
    const newText = 'def run():!\nreturn 1!';
    expect(listOf()).toEqual([
      { path: '{{workspace}}/b.py', edits: [{ oldText: 'def run():\n    return 1', newText }] },
      { path: '{{workspace}}/b.py', edits: [{ oldText: '      def run():\n          return 1', newText }] },
      {
        path: '{{workspace}}/b.py',
        edits: [
          { oldText: 'def run():', newText: 'def run():!' },
          { oldText: '    return 1', newText: '    return 1!' },
        ],
      },
    ]);
    expect(listOf(edit, null)).toEqual([]);
    // A tool that makes the file replaces nothing in it.
    expect(listOf({ ...edit, name: 'create_file' })).not.toContainEqual(expect.objectContaining({ path: 'b.py' }));
  });

  it('finds two lines of which the second one is indented, and else any two', () => {
    const find = (...files: string[]) => findTwoLines(new Map(files.map((text, index) => [`${index}.txt`, text])));
    expect(find('alpha\nbeta\n', 'gamma\n\n  delta\n', 'def run():\n\treturn 1\n')).toEqual({
      file: '2.txt',
      lines: ['def run():', '\treturn 1'],
    });
    expect(find('alpha\nbeta\n')).toEqual({ file: '0.txt', lines: ['alpha', 'beta'] });
    expect(find('alpha\n\nbeta\n', `alpha\n${'beta '.repeat(30)}`)).toBeNull();
  });

  it('leaves a directory out of a search that finds files in it and elsewhere', () => {
    const properties = { path: { type: 'string' }, pattern: { type: 'string' }, excludePatterns: texts };
    const search = createTool('search_files', properties);
    const list = (files: readonly string[]) =>
      listVariants(search, { path: '.', pattern: '*.txt' }, { files, twoLines: null });
    expect(list(['a.txt', 'docs/guide.md', 'notes/b.txt'])).toEqual([
      { pattern: '**/*.txt', excludePatterns: ['notes/**'] },
      // Each of several patterns leaves something out.
      { pattern: '**/*.txt', excludePatterns: ['notes/**', '**/a.txt'] },
    ]);
    expect(list(['a.txt', 'docs/guide.md', '.git/b.txt'])).toEqual([]);
    const tree = createTool('list_tree', { path: { type: 'string' }, ignore: { type: 'string' } });
    expect(listVariants(tree, { path: '.' }, { files: ['a.md', 'docs/b.md'], twoLines: null })).toEqual([
      { ignore: 'docs/**' },
    ]);
    const other = createTool('search_mails', { query: { type: 'string' }, exclude: texts });
    expect(listVariants(other, { query: 'alpha' }, { files: ['a.md', 'docs/b.md'], twoLines: null })).toEqual([]);
  });

  it('asks for many and for more than there are, within the limits of the schema', () => {
    const properties = {
      tail: { type: 'number' },
      limit: { type: 'integer', maximum: 50 },
      offset: { type: 'integer' },
    };
    expect(listVariants(createTool('read_file', properties), {})).toEqual([
      { tail: 40 },
      { tail: 1000 },
      { limit: 40 },
    ]);
  });

  it('writes special characters into what a person writes freely, no text where the schema allows it, and options elsewhere', () => {
    const string = { type: 'string' };
    const edit = { type: 'object', properties: { oldText: string, newText: string } };
    const tool = createTool('edit_page', {
      edits: { type: 'array', items: edit },
      body: string,
      kind: { type: 'string', enum: ['a', 'b'] },
      slug: { type: 'string', minLength: 1 },
      since: { anyOf: [string, { type: 'null' }], default: null },
      count: { type: 'integer' },
      files: { anyOf: [{ type: 'array', items: string }, { type: 'null' }], default: null },
      notes: { type: 'array', items: string },
      flags: { type: 'array', items: { type: 'string', enum: ['a'] } },
    });
    const variants = listUnusual(tool, { edits: [{ oldText: 'alpha', newText: 'beta' }], kind: 'a', slug: 'alpha' });
    const special = expect.stringContaining('$&');
    expect(variants).toEqual([
      { edits: [{ oldText: 'alpha', newText: special }] },
      { body: special },
      { slug: '--all' },
      { since: '--all' },
      { files: ['--all'] },
      { body: '' },
      { since: '' },
    ]);
  });
});
