import { describe, expect, it } from 'vitest';
import { checkText, checkTypeScript } from '../../scripts/wording.ts';

function listWords(issues: ReturnType<typeof checkText>): [number, string][] {
  return issues.map(({ line, word }) => [line, word]);
}

describe('checkText', () => {
  it.each([
    ['What came of it', 'What came of'],
    ['The job is told the verdict.', 'told'],
    ['Whoever merges it', 'Whoever'],
    ['used in the place of the file', 'in the place of'],
    ['Besides, it runs', 'Besides'],
    ['the inputs stand idle', 'stand idle'],
  ])('reports the word in %j', (text, word) => {
    expect(listWords(checkText(text))).toEqual([[1, word]]);
  });

  it('finds an expression that continues on the next line, also of a quote', () => {
    expect(listWords(checkText('Title\n\n> a file in\n> place of another'))).toEqual([[3, 'in place of']]);
  });

  it('accepts plain English and words that only contain one from the list', () => {
    expect(checkText('The gate reports the verdict instead of hours. A foretold place.')).toEqual([]);
  });

  it('skips code blocks and code in backticks, and keeps the numbers of the lines below', () => {
    expect(listWords(checkText('```yaml\ntitle: told\n```\n\nA case is `unsteady`.\nNobody knows.\n'))).toEqual([
      [6, 'Nobody'],
    ]);
  });
});

describe('checkTypeScript', () => {
  it('reports words in comments, strings and templates', () => {
    const source = [
      '/** Used in place',
      ' * of a file. */',
      'const first = 1; // told later',
      "const second = 'nobody is there';",
      'const third = `${first} was left alone by ${second}`;',
    ].join('\n');
    expect(listWords(checkTypeScript(source))).toEqual([
      [1, 'in place of'],
      [3, 'told'],
      [4, 'nobody'],
      [5, 'left alone'],
    ]);
  });

  it('does not check names, paths, one-word strings, regular expressions and code in backticks', () => {
    const source = [
      "import { told } from './leftovers.ts';",
      "const kind = 'unsteady';",
      'const ours = /is told/.test(`${told}unsteady`);',
      '// See `leftovers`.',
    ].join('\n');
    expect(checkTypeScript(source)).toEqual([]);
  });
});
