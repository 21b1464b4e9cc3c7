import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { renderAnnotationCommands } from '../../src/report/annotation-commands.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { hostileTexts } from '../support/text/hostile-text.ts';
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
