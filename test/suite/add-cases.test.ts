import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AddedCase, addCases, readSubjects, renderEvals } from '../../src/suite/add-cases.ts';
import { readSuite } from '../../src/suite/read.ts';

const added: AddedCase = {
  content: { id: 'new', title: 'Is new', steps: [{ toolCall: 'new' }] },
  comments: [],
  isCommentedOut: false,
};
const draft: AddedCase = {
  content: { id: 'draft', title: 'Is a draft', steps: [{ toolCall: 'draft: 1' }] },
  comments: ['Not run: it is a draft.'],
  isCommentedOut: true,
};

const printed = `- id: new
  title: Is new
  steps:
    - toolCall: new

# Not run: it is a draft.
# - id: draft
#   title: Is a draft
#   steps:
#     - toolCall: "draft: 1"`;

const indented = (text: string, indent: string) => text.replaceAll(/^(?=.)/gm, indent);

describe('added cases', () => {
  it('quote a text that older parsers of YAML take for a number or a flag', () => {
    const content = { id: 'new', title: 'Is new', steps: [{ toolCall: 'at', arguments: { time: '12:30', on: 'on' } }] };
    const file = renderEvals({ comments: [], suite: 'A', cases: [{ ...added, content }] });
    expect(file).toContain('          time: "12:30"\n          "on": "on"\n');
    expect(parse(file, { version: '1.1' })).toMatchObject({ cases: [content] });
  });

  it.each(['A line: \n{\n  "a": 1\n}', 'tab\t\nend', 'two\n\nparts', 'ends\n', 'ends twice\n\n', ' both ', 'plain'])(
    'keep every character of the text %j',
    (text) => {
      const check = { assert: { toolResultEquals: text } };
      const content = { id: 'new', title: 'Is new', steps: [{ toolCall: 'new' }, check, check] };
      const file = renderEvals({
        comments: [],
        suite: 'A',
        cases: [
          { ...added, content },
          { ...added, content: { ...content, id: 'other' } },
        ],
      });
      expect(file).not.toMatch(/[ \t]$/m);
      const written: unknown = parse(file);
      expect(written).toMatchObject({ cases: [{ steps: content.steps }, { steps: content.steps }] });
    },
  );

  it.each([
    ['behind the last one', 'suite: A\ncases:\n  - title: One\n    steps: [ping]\n', '  ', ''],
    ['behind a file without a last line break', 'suite: A\ncases:\n  - title: One\n    steps: [ping]', '  ', ''],
    ['in the indentation of the list', 'suite: A\ncases:\n- title: One\n  steps: [ping]\n', '', ''],
    [
      'before the next key, with its comment',
      'suite: A # named\ncases:\n    # first\n    - { title: One, steps: [ping] } # odd\n',
      '    ',
      '\n# of all\nruns: 2\n',
    ],
    [
      'behind drafts',
      'suite: A\ncases:\n  - title: One\n    steps:\n      - ping\n\n  # - id: other\n  #   title: Other\n',
      '  ',
      '',
    ],
    ['behind a text over several lines', 'suite: A\ncases:\n  - steps: [ping]\n    title: |\n      One\n', '  ', ''],
  ])('stand %s, and change nothing else', (_where, before, indent, after) => {
    const text = addCases(`${before}${after}`, [added, draft]);
    expect(text).toBe(`${before.trimEnd()}\n\n${indented(printed, indent)}\n${after}`);
    expect(readSuite(text ?? '', { file: 'a' })).toMatchObject({ findings: [], suite: { cases: [{}, { id: 'new' }] } });
  });

  it('leave a file as it is where there are none', () => {
    expect(addCases('cases: [', [])).toBe('cases: [');
  });

  it.each([
    ['JSON', '{"suite": "A", "cases": [{"title": "One", "steps": ["ping"]}]}'],
    ['a list in flow style', 'suite: A\ncases: [{ title: One, steps: [ping] }]\n'],
    ['no cases', 'suite: A\n'],
    ['an empty list', 'suite: A\ncases: []\n'],
    ['broken YAML', 'suite: "A\ncases:\n  - title: One\n'],
    ['a text', 'cases'],
  ])('are not written into %s', (_what, text) => {
    expect(addCases(text, [added])).toBeNull();
  });

  it('make a new file that can be read', () => {
    const text = renderEvals({ comments: ['New.'], suite: 'A: b # c', cases: [added, draft] });
    expect(text).toBe(`# New.\nsuite: "A: b # c"\ncases:\n${indented(printed, '  ')}\n`);
    expect(readSuite(text, { file: 'a' }).suite).toMatchObject({ name: 'A: b # c', cases: [{ id: 'new' }] });
  });
});

describe('the subjects of evals files', () => {
  it('are those of the cases and of drafts, in all files', () => {
    const text = addCases('suite: A\ncases:\n  - id: one\n    title: One\n    steps: [listTools]\n', [added, draft]);
    const other =
      '{"cases": [{"steps": [{"repeat": [{"toolCall": "in"}]}, {"readResource": "a://b"}, {"getPrompt": "p"}]}]}';
    const found = readSubjects([text ?? '', other, 'cases: "', '']);
    expect(found).toMatchObject({ listsTools: true, pings: false });
    expect([...found.tools]).toEqual(['new', 'in', 'draft: 1']);
    expect([...found.draftedTools]).toEqual(['draft: 1']);
    expect([...found.resources]).toEqual(['a://b']);
    expect([...found.prompts]).toEqual(['p']);
    expect([...found.ids]).toEqual(['one', 'new', 'draft']);
  });
});
