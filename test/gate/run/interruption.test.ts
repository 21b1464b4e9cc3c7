import { describe, expect, it } from 'vitest';
import {
  BudgetError,
  CancelledError,
  ConfigurationError,
  DeadlineError,
  NetworkError,
  ProtocolError,
  ServerStartError,
} from '../../../src/base/errors.ts';
import { explainInterruption } from '../../../src/gate/run/run-lifetime.ts';

describe('explainInterruption', () => {
  it.each([
    [new ServerStartError('The server exited with code 1.'), 'server-lost'],
    [new DeadlineError('The gate was not over after 3 s.'), 'deadline'],
    [new BudgetError('The run was cancelled after 3 s.'), 'budget-exceeded'],
    [new CancelledError('Stopped by SIGINT.'), 'cancelled'],
    [new NetworkError('Connection refused'), 'infrastructure'],
    [new ProtocolError('The answer is no JSON'), 'infrastructure'],
  ] as const)('takes %s for %s', (error, code) => {
    expect(explainInterruption(error).code).toBe(code);
  });

  it('says what happened and what to do, in sentences', () => {
    const error = new ServerStartError('The server exited', { hint: 'Read its last words.' });
    expect(explainInterruption(error).message).toBe('The server exited. Read its last words.');
  });

  it('quotes the last lines of a server, twenty at most', () => {
    const stderrTail = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
    const { output } = explainInterruption(new ServerStartError('The server exited.', { stderrTail }));
    expect([output?.length, output?.[0], output?.at(-1)]).toEqual([20, 'line 31', 'line 50']);
    expect(explainInterruption(new ServerStartError('It exited.'))).not.toHaveProperty('output');
  });

  it.each([
    [new TypeError('x is not a function')],
    [new ConfigurationError([{ code: 'bad', message: 'bad' }])],
    ['text'],
  ])('throws on what is no fault of the surroundings: %s', (error) => {
    expect(() => explainInterruption(error)).toThrow(error);
  });
});
