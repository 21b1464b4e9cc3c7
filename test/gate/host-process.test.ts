import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { CancelledError } from '../../src/base/errors.ts';
import { listenForInterrupts } from '../../src/gate/host-process.ts';

describe('listenForInterrupts', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('turns the first %s into an abort that carries the exit code %d', (name, exitCode) => {
    const source = new EventEmitter();
    const exits: number[] = [];
    const signal = listenForInterrupts(source, (code) => exits.push(code));
    expect(signal.aborted).toBe(false);
    source.emit(name, name);
    expect(signal.reason).toBeInstanceOf(CancelledError);
    expect(signal.reason).toMatchObject({ exitCode });
    expect(exits).toEqual([]);
  });

  it('leaves at once on the second signal, whichever it is', () => {
    const source = new EventEmitter();
    const exits: number[] = [];
    const signal = listenForInterrupts(source, (code) => exits.push(code));
    source.emit('SIGINT', 'SIGINT');
    source.emit('SIGTERM', 'SIGTERM');
    expect(exits).toEqual([143]);
    expect(signal.reason).toMatchObject({ exitCode: 130 });
  });
});
