import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderRunnerCommand } from '../../../src/report/escape/command.ts';
import { hostileText } from '../../support/text/hostile-text.ts';
import { parseRunnerLine } from '../../support/runner/runner-commands.ts';

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
