import { describe, expect, it } from 'vitest';
import {
  CancelledError,
  ConfigurationError,
  DeadlineError,
  describeError,
  formatConfigurationIssue,
  GateError,
  NetworkError,
  ProtocolError,
  ServerStartError,
  ServiceError,
} from '../../src/base/errors.ts';

describe('the error classes', () => {
  it.each([
    [new ConfigurationError([]), 'ConfigurationError', 'CONFIGURATION', 2],
    [new ServiceError('m', { code: 'NOT_FOUND', status: 404 }), 'ServiceError', 'NOT_FOUND', 3],
    [new NetworkError('m'), 'NetworkError', 'NETWORK', 3],
    [new ProtocolError('m'), 'ProtocolError', 'PROTOCOL', 3],
    [new ServerStartError('m'), 'ServerStartError', 'SERVER_START', 3],
    [new DeadlineError('m'), 'DeadlineError', 'DEADLINE', 3],
    [new CancelledError(), 'CancelledError', 'CANCELLED', 130],
    [new CancelledError('m', { signal: 'SIGINT' }), 'CancelledError', 'CANCELLED', 130],
    [new CancelledError('m', { signal: 'SIGTERM' }), 'CancelledError', 'CANCELLED', 143],
  ])('have a name, a code and an exit code: %s', (error, name, code, exitCode) => {
    expect(error).toBeInstanceOf(GateError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, code, exitCode });
  });

  it('keep the hint and the cause, and have none where none was given', () => {
    const cause = new Error('why');
    expect(new NetworkError('m', { hint: 'Try.', cause })).toMatchObject({ hint: 'Try.', cause });
    expect(new NetworkError('m')).not.toHaveProperty('cause');
    expect(new NetworkError('m').hint).toBeUndefined();
  });

  it('use defaults for what the service or the server under test omitted', () => {
    const service = new ServiceError('m', { code: 'X', status: 500 });
    expect(service).toMatchObject({ details: {}, retryAfterMs: undefined });
    expect(new ServerStartError('m')).toMatchObject({ processExitCode: null, stderrTail: [] });
  });
});

describe('formatConfigurationIssue', () => {
  it.each([
    [{ code: 'c', message: 'Wrong.' }, 'Wrong. (c)'],
    [{ code: 'c', message: 'Wrong.', input: 'evals' }, 'evals: Wrong. (c)'],
    [{ code: 'c', message: 'Wrong.', file: 'a.yaml' }, 'a.yaml: Wrong. (c)'],
    [{ code: 'c', message: 'Wrong.', file: 'a.yaml', line: 3 }, 'a.yaml:3: Wrong. (c)'],
    [{ code: 'c', message: 'Wrong.', file: 'a.yaml', line: 3, column: 7 }, 'a.yaml:3:7: Wrong. (c)'],
  ])('writes %j as a compiler would', (issue, text) => {
    expect(formatConfigurationIssue(issue)).toBe(text);
  });

  it('makes the message of an error with all its issues, one a line', () => {
    const issues = [
      { code: 'a', message: 'One.' },
      { code: 'b', message: 'Two.', input: 'x' },
    ];
    const error = new ConfigurationError(issues);
    expect(error.message).toBe('One. (a)\nx: Two. (b)');
    expect(error.issues).toEqual(issues);
  });
});

describe('describeError', () => {
  it.each([
    [new Error('outer', { cause: new Error('inner', { cause: 'root' }) }), 'outer: inner: root'],
    [new Error('outer: inner', { cause: new Error('inner') }), 'outer: inner'],
    [new TypeError(''), 'TypeError'],
    [new Error('', { cause: new Error('inner') }), 'Error: inner'],
    [new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')]), '::1 refused; 127.0.0.1 refused'],
    [new AggregateError([]), 'AggregateError'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [{ message: 'looks like one' }, '[object Object]'],
  ])('says what is known: %#', (thrown, text) => {
    expect(describeError(thrown)).toBe(text);
  });

  it('survives an error that is its own cause, and a thrown value without text', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    expect(describeError(loop)).toBe('loop');
    expect(describeError(Object.create(null))).toBe('something without a description');
    const hostile: unknown = new Proxy({}, { getPrototypeOf: () => JSON.parse('no JSON') });
    expect(describeError(hostile)).toBe('something without a description');
  });
});
