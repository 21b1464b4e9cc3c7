import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { createExplorationDisplay } from '../../src/cli/exploration-display.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';

const show = (isTerminal: boolean, columns = 200) => {
  let shown = '';
  const display = createExplorationDisplay({
    write: (text) => {
      shown += text;
    },
    isTerminal,
    columns,
    clock: new ManualClock(),
    redactor: createRedactor([new Secret('hunter22')]),
  });
  const tools = { reached: 4, of: 9 };
  display.show({ phase: 'Calling each tool', subject: null, requests: 0, tools });
  display.show({ phase: 'Calling each tool', subject: 'knows hunter22\n::error::x', requests: 37, tools });
  display.clear();
  return shown;
};

describe('the display of an exploration', () => {
  it('prints a line for each part of the work in a log', () => {
    expect(show(false)).toBe('Calling each tool (4 of 9 tools answered, 0 requests, 0 ms) …\n');
  });

  it('changes one line on a terminal, without secrets and line breaks of the server', () => {
    const shown = show(true).split('\r\u001B[2K');
    expect(shown).toEqual([
      '',
      'Calling each tool (4 of 9 tools answered, 0 requests, 0 ms) …',
      expect.stringMatching(/^Calling each tool: knows \*\*\*.*\(4 of 9 tools answered, 37 requests, 0 ms\) …$/),
      '',
    ]);
    expect(shown[2]).not.toContain('\n');
  });

  it('cuts the line to the width of the terminal', () => {
    expect(show(true, 20).split('\r\u001B[2K')[2]).toHaveLength(19);
  });
});
