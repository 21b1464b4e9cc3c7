import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { createProgressDisplay } from '../../src/cli/progress.ts';
import type { GateProgress } from '../../src/gate/run/progress.ts';
import type { IterationActivity } from '../../src/runner/runner.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';

const escape = '\u001B';
const sequences = new RegExp(`${escape}\\[(\\d+)A|${escape}\\[J|[^]`, 'g');

/** A terminal that wraps lines, and obeys the sequences that the display writes. */
function createTerminal(columns: number, rows = 24) {
  const size = { columns, rows };
  let text = '';
  let screen: string[] = [''];
  let at = { row: 0, column: 0 };
  const put = (character: string) => {
    if (at.column === size.columns) at = { row: at.row + 1, column: 0 };
    screen[at.row] ??= '';
    screen[at.row] = screen[at.row]!.slice(0, at.column).padEnd(at.column) + character;
    at.column += 1;
  };
  return {
    size,
    /** All that was written. */
    read: () => text,
    lines: () => screen.filter((line, index) => line !== '' || index < screen.length - 1),
    /** Wraps the lines anew, as terminals do. */
    resize: (narrower: number) => {
      size.columns = narrower;
      screen = screen.flatMap((line) => line.match(new RegExp(`.{1,${narrower}}`, 'g')) ?? ['']);
      at = { row: screen.length - 1, column: screen.at(-1)!.length };
    },
    write: (written: string) => {
      text += written;
      for (const [part, up] of written.matchAll(sequences)) {
        if (up !== undefined) at.row = Math.max(0, at.row - Number(up));
        else if (part === `${escape}[J`)
          screen = [...screen.slice(0, at.row), (screen[at.row] ?? '').slice(0, at.column)];
        else if (part === '\r') at.column = 0;
        else if (part === '\n') {
          at = { row: at.row + 1, column: 0 };
          screen[at.row] ??= '';
        } else put(part);
      }
    },
  };
}

function open(columns: number, rows?: number) {
  const terminal = createTerminal(columns, rows);
  const clock = new ManualClock();
  const redactor = createRedactor([new Secret('hunter22')]);
  const display = createProgressDisplay({
    write: terminal.write,
    isTerminal: true,
    readSize: () => terminal.size,
    clock,
    redactor,
  });
  return { terminal, clock, display };
}

const iteration = (id: string, activity: IterationActivity, title = `Case ${id}`): GateProgress => ({
  kind: 'iteration',
  suite: 'S',
  id,
  title,
  number: null,
  activity,
});
const started = { kind: 'started' } as const;
const ended = { kind: 'ended' } as const;
const counted: GateProgress = { kind: 'run-progress', suite: 'S', finished: 1, iterations: 9 };
const finished: GateProgress = { kind: 'run-finished', suite: 'S', status: 'completed' };

describe.each([true, false])('progress on a terminal: %s', (isTerminal) => {
  it('says nothing secret, and no foreign line, of the server', () => {
    let shown = '';
    const { listener } = createProgressDisplay({
      write: (text) => {
        shown += text;
      },
      isTerminal,
      readSize: () => ({ columns: 40, rows: 24 }),
      clock: new ManualClock(),
      redactor: createRedactor([new Secret('hunter22')]),
    });
    listener({
      kind: 'server-ready',
      name: null,
      server: {
        transport: 'stdio',
        name: 'knows hun\u0008ter22\n::error::x and hunter22',
        version: '1',
        protocolVersion: '2025-11-25',
        protocolVersions: ['2025-11-25'],
        isolation: 'process per iteration',
        sandbox: null,
      },
      durationMs: 5,
    });
    expect(shown).toContain('knows ***');
    expect(shown).not.toContain('hunter');
    expect(shown).not.toMatch(/^::/m);
  });
});

describe('the iterations that run', () => {
  it('have a line each on a terminal, with their time and last tool, and none once they ended', async () => {
    const { terminal, clock, display } = open(60);
    terminal.write('before\n');
    display.listener(counted);
    display.listener(iteration('a', started));
    display.listener({ ...iteration('b', started), number: 2 } as GateProgress);
    await clock.advance(1500);
    display.listener(iteration('a', { kind: 'called', toolName: 'add' }));
    display.listener(iteration('b', { kind: 'called', toolName: 'knows hunter22\n::error::x' }));
    await clock.advance(60_000);
    expect(terminal.lines()).toEqual([
      'before',
      'S: 1 of 9 iterations …',
      '  1 min 1 s  Case a › add',
      '  1 min 1 s  Case b #2 › knows *** ::error::x',
    ]);
    display.listener(iteration('a', ended));
    await clock.advance(100);
    expect(terminal.lines().slice(2)).toEqual(['  1 min 1 s  Case b #2 › knows *** ::error::x']);
    display.clear();
    terminal.write('a line of the log\n');
    await clock.advance(100);
    expect(terminal.lines().slice(1)).toEqual([
      'a line of the log',
      'S: 1 of 9 iterations …',
      '  1 min 1 s  Case b #2 › knows *** ::error::x',
    ]);
    display.listener(finished);
    await clock.advance(100);
    expect(terminal.lines().slice(2)).toEqual(['S: run completed.']);
    expect(clock.sleeping).toBe(0);
    display[Symbol.dispose]();
    display.listener(iteration('c', started));
    expect(terminal.lines()).toEqual(['before', 'a line of the log']);
  });

  it('write nothing to a terminal while nothing changes', async () => {
    const { terminal, clock, display } = open(60);
    display.listener(iteration('a', started));
    await clock.advance(900);
    const before = terminal.read();
    await clock.advance(99);
    expect(terminal.read()).toBe(before);
    await clock.advance(101);
    expect(terminal.read()).not.toBe(before);
    display[Symbol.dispose]();
  });

  it('fill no more than a part of the window, and no line twice after it became narrower', async () => {
    const { terminal, clock, display } = open(40, 7);
    display.listener(counted);
    const title = 'A case with a title that is far too long for it';
    for (let id = 1; id <= 9; id += 1) display.listener(iteration(String(id), started, title));
    display.listener(iteration('1', { kind: 'called', toolName: 'add' }));
    await clock.advance(1000);
    expect(terminal.lines()).toEqual([
      'S: 1 of 9 iterations …',
      '   1 s  A case with a title that… › add',
      ...Array.from({ length: 3 }, () => '   1 s  A case with a title that is fa…'),
      '  … and 5 more',
    ]);
    terminal.resize(24);
    await clock.advance(1000);
    expect(terminal.lines()).toHaveLength(6);
    expect(terminal.lines()[1]).toBe('   2 s  A case with… ›…');
    expect(terminal.lines().every((line) => line.length < 24)).toBe(true);
    display[Symbol.dispose]();
    expect(terminal.lines()).toEqual([]);
  });

  it('count wide characters as two columns', async () => {
    const { terminal, clock, display } = open(20);
    display.listener(iteration('1', started, '数を足す数を足す数を足す'));
    await clock.advance(100);
    expect(terminal.lines().at(-1)).toBe('   0 s  数を足す数…');
    display[Symbol.dispose]();
  });

  it('stand in no log', () => {
    let log = '';
    const { listener } = createProgressDisplay({
      write: (text) => {
        log += text;
      },
      isTerminal: false,
      readSize: () => ({ columns: 80, rows: 24 }),
      clock: new ManualClock(),
      redactor: createRedactor([]),
    });
    for (const activity of [started, { kind: 'called', toolName: 'add' } as const, ended])
      listener(iteration('a', activity));
    listener(finished);
    expect(log).toBe('S: run completed.\n');
  });
});
