import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { renderAnnotationCommands, renderRunnerCommand } from '../../src/report/annotation-commands.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { hostileText, hostileTexts } from '../support/text/hostile-text.ts';
import { createHostileReport } from '../support/factories/report-factory.ts';
import { parseRunnerLine } from '../support/runner/runner-commands.ts';

describe('renderAnnotationCommands', () => {
  it('renders a line for each annotation, with its place where it has one', () => {
    const output = renderAnnotationCommands(
      [
        { level: 'error', title: 'Eval gate failed', message: 'two\nlines' },
        { level: 'error', title: 'Adds: 0 of 1', message: 'said 6', file: 'evals/a.yaml', startLine: 3 },
      ],
      createRedactor(),
    );
    expect(output).toBe(
      '::error title=Eval gate failed::two%0Alines\n::error title=Adds%3A 0 of 1,file=evals/a.yaml,line=3::said 6\n',
    );
  });

  it('renders nothing for nothing', () => {
    expect(renderAnnotationCommands([], createRedactor())).toBe('');
  });

  it('takes out a secret that escaping would have hidden', () => {
    const secret = '50%\n:secret';
    const annotation = { level: 'error', title: secret, message: `a ${secret} b` } as const;
    expect(renderAnnotationCommands([annotation], createRedactor([new Secret(secret)]))).toBe(
      '::error title=***::a *** b\n',
    );
  });

  it('stays one command a line for a report of hostile texts', () => {
    for (const text of hostileTexts) {
      const annotations = planAnnotations(createHostileReport(text));
      const lines = renderAnnotationCommands(annotations, createRedactor())
        .trimEnd()
        .split(/\r\n|\r|\n/);
      expect(lines.map((line) => parseRunnerLine(line)?.command)).toEqual(annotations.map(({ level }) => level));
    }
  });
});

describe('renderRunnerCommand', () => {
  it.each([
    ['error', { file: 'a.yaml', line: 3 }, 'message', '::error file=a.yaml,line=3::message'],
    ['error', { file: 'a,b:c%.yaml' }, '100%\nsure', '::error file=a%2Cb%3Ac%25.yaml::100%25%0Asure'],
    ['warning', {}, 'x', '::warning::x'],
    ['notice', { file: undefined, title: '' }, '::error::x', '::notice::::error::x'],
  ] as const)('renders %s with %j and %j', (name, properties, message, expected) => {
    expect(renderRunnerCommand(name, properties, message)).toBe(expected);
  });

  it('comes back as it went in, on one line, whatever the texts', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (title, message) => {
        const line = renderRunnerCommand('error', { title, line: 1 }, message);
        expect(line).not.toMatch(/[\r\n]/);
        expect(parseRunnerLine(line)).toEqual({
          command: 'error',
          properties: { ...(title === '' ? {} : { title: expect.any(String) }), line: '1' },
          data: message,
        });
      }),
      { numRuns: 5000 },
    );
  });
});
