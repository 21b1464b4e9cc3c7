import { describe, expect, it } from 'vitest';
import { hasVolatileForm, maskForms, maskMachine } from '../../src/explore/stability/forms.ts';
import { listMarked, mergeValues } from '../../src/explore/stability/merge-values.ts';

describe('maskForms', () => {
  it.each([
    '2024-01-15T12:00:00.123Z',
    'Thu Nov 26 2026 08:00:00 GMT+0000 (UTC)',
    '2024-01-15',
    '12:30:59',
    '4:32 PM',
    '1700000000123',
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    'v1.2.3-beta.1',
    '192.0.2.17',
    '127.0.0.12',
    '12.5 ms',
    'localhost:8080',
    'Thursday',
    '26.11.2026',
    '2026/11/26',
    '2026-W48',
    '20261126T080000Z',
    '26 Nov 2026',
    'November 26th, 2026',
    'Sept. 3',
    'in 3 days',
    '1 month ago',
    'Tomorrow',
  ])('finds that %s depends on the moment or the machine', (text) => {
    expect(maskForms(text)).toBe('{{any}}');
  });

  it.each([
    '42',
    '12:30',
    '3.14',
    'alpha-beta',
    'items: 1700',
    '10 ms-words',
    'deadbeef',
    '10 days',
    'in 3 steps',
    'May',
    '1.2',
    '127.0.0.1',
    'octopus 3',
  ])('leaves %s as it is', (text) => {
    expect(hasVolatileForm(text)).toBe(text === '10 ms-words');
  });

  it('masks the number of a line of source code, which any change of the program moves, and no other line', () => {
    expect(maskForms('  File "server.py", line 12, in run')).toBe('  File "server.py", line {{any}}, in run');
    expect(maskForms('Error in /app/index.php on line 7')).toBe('Error in /app/index.php on line {{any}}');
    expect(maskForms('line 12 of the file')).toBe('line 12 of the file');
    expect(maskForms('Unexpected token at line 3, column 4')).toBe('Unexpected token at line 3, column 4');
  });
});

describe('maskMachine', () => {
  it('masks paths, modes and owners of files, and the size of a directory', () => {
    expect(maskMachine('path: /tmp/a\nmode: 644\nuid: 0\n"gid": 1001\nsize: 4096')).toBe(
      'path: {{any}}\n{{any}}\n{{any}}\n"{{any}}\n{{any}}',
    );
    expect(maskMachine('size: 60, guid: 7')).toBe('size: 60, guid: 7');
  });
});

describe('mergeValues', () => {
  it('marks the owner of a file, and the size of a directory but not of a file', () => {
    const read = (record: object) => mergeValues([record, record]);
    expect(read({ uid: 0, gid: 0, size: 60, isDirectory: false })).toEqual({
      uid: '{{any}}',
      gid: '{{any}}',
      size: 60,
      isDirectory: false,
    });
    expect(read({ size: 4096, type: 'directory' })).toEqual({ size: '{{any}}', type: 'directory' });
  });

  it('keeps what is equal, and marks what differs', () => {
    const merged = mergeValues([
      { id: 'a1', list: [1, 2], kind: 'note', pid: 12, uptime_seconds: 0.5, python: '3.11' },
      { id: 'b2', list: [1, 3], kind: 'note', pid: 12, uptime_seconds: 0.5, python: '3.11' },
    ]);
    const ofMachine = { pid: '{{any}}', uptime_seconds: '{{any}}', python: '{{any}}' };
    expect(merged).toEqual({ id: '{{any}}', list: [1, '{{any}}'], kind: 'note', ...ofMachine });
    expect(listMarked(merged)).toEqual(['/id', '/list/1', '/pid', '/uptime_seconds', '/python']);
  });

  it('merges texts by their words, and texts that are JSON by their members', () => {
    expect(mergeValues(['took 3 steps of walk', 'took 9 steps of walk'])).toBe('took {{any}} steps of walk');
    expect(mergeValues(['made a, b, c at last', 'made a at last'])).toBe('made a{{any}} at last');
    const json = mergeValues(['{"n": 1, "ok": true}', '{"n": 2, "ok": true}']);
    expect(json).toBe('{"n":"{{any}}","ok":true}');
    expect(listMarked({ text: json })).toEqual(['/text/n']);
  });

  it('keeps the times that are in all values and that are said to stay, and no others', () => {
    const keeps = (part: string) => part.startsWith('2019') || part === '1546300800';
    const read = (day: string) => ({ timestamp: 1_546_300_800, now: day, pid: 1_546, text: `on ${day}, ${day} 10:00` });
    const day = '2019-01-01';
    expect(mergeValues([read(day), read(day)], keeps)).toEqual({ ...read(day), pid: '{{any}}' });
    const marked = { timestamp: 1_546_300_800, now: '{{any}}', pid: '{{any}}', text: 'on {{any}}, {{any}}' };
    expect(mergeValues([read('2019-01-02'), read(day)], keeps)).toEqual(marked);
    expect(mergeValues([read('2020-01-01'), read('2020-01-01')], keeps)).toEqual(marked);
  });

  it('asserts no order that another file system changes, and no size of a directory in a line', () => {
    const disk = '[DIR] docs      4.00 KB\n[FILE] a.json     70 B\n[FILE] b.txt      17 B\n\nTotal: 2 files';
    const memory = '[FILE] a.json     70 B\n[DIR] docs        60 B\n[FILE] b.txt      17 B\n\nTotal: 2 files';
    expect(mergeValues([disk, disk, memory])).toBe(
      '[DIR] docs{{any}}\n[FILE] a.json     70 B{{any}}\n[FILE] b.txt      17 B\n\nTotal: 2 files',
    );
    expect(mergeValues([disk, memory, disk])).toBe(mergeValues([disk, disk, memory]));
    // Of lines that differ in numbers only, one stands where another one stood, and other lines follow it.
    const found = [
      'a.txt\n1: line 1\n2: line 2\n\nb.txt\n1: line 1\n',
      'b.txt\n1: line 1\n\na.txt\n1: line 1\n2: line 2\n',
    ];
    const parts = String(mergeValues(found)).split('{{any}}');
    expect(parts.filter((part) => !found.every((text) => text.includes(part.trim())))).toEqual([]);
    expect(
      mergeValues([
        ['a 1', 'a 2'],
        ['a 2', 'a 1'],
      ]),
    ).toEqual(['a {{any}}', 'a {{any}}']);
  });

  it('marks a list, or lines of a text, that come in another order only, and sorts them', () => {
    const [docs, file] = [{ name: 'docs', children: ['x', 'y'] }, { name: 'a.json' }];
    const moved = { ...docs, children: ['y', 'x'] };
    const merged = ['{{any order}}', { name: 'a.json' }, { name: 'docs', children: ['{{any order}}', 'x', 'y'] }];
    expect(mergeValues([{ entries: [docs, file] }, { entries: [file, moved] }])).toEqual({ entries: merged });
    const text = (entries: unknown) => JSON.stringify(entries, null, 2);
    expect(mergeValues([text([docs, file]), text([file, moved])])).toBe(text(merged));
    expect(mergeValues(['Files:\nb\nc\na\n', 'Files:\na\nc\nb\n'])).toBe('{{any order}}\nFiles:\na\nb\nc\n');
    // Lines below another one belong to it.
    expect(mergeValues(['b\n  1\na\n  2', 'a\n  2\nb\n  1'])).not.toContain('{{any order}}');
  });

  it('marks lists of another length, and members that are missing', () => {
    expect(mergeValues([{ list: [1] }, { list: [1, 2], more: true }])).toEqual({ list: '{{any}}', more: '{{any}}' });
  });
});
