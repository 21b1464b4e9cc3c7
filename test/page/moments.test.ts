import { describe, expect, it } from 'vitest';
import { listMoments } from '../../page/moments.ts';
import { createIterationTrace } from '../support/factories/page-factory.ts';

const span = (startMs: number, durationMs: number, category = 'tool') => ({
  name: 'add',
  category,
  startMs,
  durationMs,
  isError: false,
});

describe('listMoments', () => {
  it('puts calls, output and waiting in the order of time', () => {
    const spans = [span(0, 500, 'step'), span(0, 100), span(50, 100), span(400, 50)];
    const output = [
      { startMs: -5, text: 'ready' },
      { startMs: 420, text: 'slow' },
      { startMs: 420, text: '' },
      { startMs: 420, text: '  at server.js:1' },
    ];
    expect(
      listMoments({ spans, output }).map(({ kind, text, startMs, durationMs }) => [kind, text, startMs, durationMs]),
    ).toEqual([
      ['output', 'ready', -5, null],
      ['span', 'step add', 0, 500],
      ['span', 'tool add', 0, 100],
      ['span', 'tool add', 50, 100],
      ['waiting', 'waiting', 150, 250],
      ['span', 'tool add', 400, 50],
      ['output', 'slow\n  at server.js:1', 420, null],
      ['waiting', 'waiting', 450, 50],
    ]);
  });

  it('names no gap that is short, and nothing of an empty trace', () => {
    expect(listMoments(createIterationTrace()).map(({ kind }) => kind)).not.toContain('waiting');
    expect(listMoments({ spans: [], output: [] })).toEqual([]);
  });
});
