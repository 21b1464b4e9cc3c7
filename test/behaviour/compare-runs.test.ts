import { describe, expect, it } from 'vitest';
import type { SentStep } from '../../src/behaviour/bench.ts';
import { compareRun } from '../../src/behaviour/compare-runs.ts';

const run = (structuredContent: object, text: unknown): SentStep[] => [
  {
    observation: {
      outcome: {
        kind: 'result',
        isError: false,
        result: {
          content: [{ type: 'text', text: JSON.stringify(text) }],
          structuredContent: { ...structuredContent },
        },
      },
      files: { added: [], changed: [], removed: [] },
      noise: null,
    },
    durationMs: 1,
  },
];

const settings = { roots: { base: [], head: [] }, callMs: 1000, contrasts: new Map() };

const list = (base: SentStep[], head: SentStep[]) =>
  compareRun([base, base], head, {
    requests: [{ request: { kind: 'tool', tool: 'list', arguments: {} }, isWrong: false, mayMake: false }],
    ...settings,
  }).differences.map(({ pointer }) => pointer);

describe('compareRun', () => {
  it('names a difference once that the structured content and its text have, also in a member around it', () => {
    const [one, two] = [{ name: 'Alpha' }, { name: 'Beta' }];
    expect(list(run(one, one), run(two, two))).toEqual(['/structuredContent/name']);
    expect(list(run({ notes: [one] }, [one]), run({ notes: [two] }, [two]))).toEqual([
      '/structuredContent/notes/*/name',
    ]);
  });

  it('names what only the text shows, and what differs elsewhere in it', () => {
    const [one, two] = [{ name: 'Alpha' }, { name: 'Beta' }];
    expect(list(run(one, one), run(one, two))).toEqual(['/content/*/text/name']);
    expect(list(run(one, { title: 'a' }), run(two, { title: 'b' }))).toEqual([
      '/content/*/text/title',
      '/structuredContent/name',
    ]);
  });

  it('compares the numbers of lines in a text, and not those of source code', () => {
    const isEqual = (base: string, head: string) => list(run({}, { base }), run({}, { base: head })).length === 0;
    expect(isEqual('line 12 of the file', 'line 13 of the file')).toBe(false);
    expect(isEqual('File "server.py", line 12, in run', 'File "server.py", line 13, in run')).toBe(true);
  });

  it('takes a text that reads like an error for broken, where the base answers with a result', () => {
    const kinds = (base: object, head: object) =>
      compareRun([run(base, base), run(base, base)], run(head, head), {
        requests: [{ request: { kind: 'tool', tool: 'read', arguments: {} }, isWrong: false, mayMake: false }],
        ...settings,
      }).differences.map(({ kind }) => kind);
    expect(kinds({ name: 'Alpha' }, { error: 'there is no note' })).toEqual(['broken']);
    expect(kinds({ name: 'Alpha' }, { name: 'Beta' })).toEqual(['changed']);
    expect(kinds({ error: 'there is no file' }, { error: 'there is no note' })).toEqual(['changed']);
    expect(kinds({ error: 'there is no file' }, { name: 'Alpha', id: 1 })).toEqual(['fixed']);
  });

  it('takes an error for broken that has lost its flag, also in other words', () => {
    const refused = run({}, '').map((step): SentStep => {
      const result = { content: [{ type: 'text', text: 'There is no note' }] };
      return { ...step, observation: { ...step.observation, outcome: { kind: 'result', isError: true, result } } };
    });
    const kinds = (head: object) =>
      compareRun([refused, refused], run(head, head), {
        requests: [{ request: { kind: 'tool', tool: 'read', arguments: {} }, isWrong: false, mayMake: false }],
        ...settings,
      }).differences.map(({ kind, pointer }) => `${kind} ${pointer}`);
    expect(kinds({ error: 'Nothing is called so' })).toEqual(['broken /isError']);
    expect(kinds({ name: 'Alpha' })).toEqual(['fixed ']);
  });

  it('takes a path outside of the workspace, an option, an empty text, or what exists already, that is no longer refused for broken, and another text for fixed', () => {
    const refuse = (message: string): SentStep[] =>
      run({}, '').map((step) => ({
        ...step,
        observation: { ...step.observation, outcome: { kind: 'error', code: -32_000, message } },
      }));
    const read = (path: string, message = 'Access denied') =>
      compareRun([refuse(message), refuse(message)], run({}, 'Alpha'), {
        requests: [{ request: { kind: 'tool', tool: 'read', arguments: { path } }, isWrong: false, mayMake: false }],
        ...settings,
      }).differences.map(({ kind }) => kind);
    expect(read('{{outside}}/outside.txt')).toEqual(['broken']);
    expect(read('../outside/outside.txt')).toEqual(['broken']);
    expect(read('{{workspace}}/outside/outside.txt')).toEqual(['fixed']);
    expect(read('../outside/outside.txt', 'Not a JSON file')).toEqual(['fixed']);
    expect(read('--all', 'The path cannot start with a dash')).toEqual(['broken']);
    expect(read('--all', 'There is no such file')).toEqual(['fixed']);
    expect(read('all', 'The path cannot start with a dash')).toEqual(['fixed']);
    expect(read('', 'The path must not be empty')).toEqual(['broken']);
    expect(read('', 'There is no such file')).toEqual(['fixed']);
    expect(read(' ', 'The path must not be empty')).toEqual(['fixed']);
    expect(read('a.txt', 'a.txt already exists')).toEqual(['broken']);
    expect(read('a.txt', 'a.txt exists')).toEqual(['fixed']);
  });

  it('takes a call for broken that the base refuses itself, and the change leaves to a program, the file system or the network', () => {
    const refuse = (message: string): SentStep[] =>
      run({}, '').map((step) => ({
        ...step,
        observation: { ...step.observation, outcome: { kind: 'error', code: -32_000, message } },
      }));
    const read = (path: string | string[], base: string, head: string) =>
      compareRun([refuse(base), refuse(base)], refuse(head), {
        requests: [{ request: { kind: 'tool', tool: 'read', arguments: { path } }, isWrong: false, mayMake: false }],
        ...settings,
      }).differences.map(({ kind }) => kind);
    const option = 'The path cannot start with a dash';
    expect(read('--all', option, 'git failed with exit code(129): unknown option `all`')).toEqual(['broken']);
    expect(read('--all', option, 'A path does not start with -')).toEqual(['changed']);
    expect(read('all', option, 'git failed with exit code(129)')).toEqual(['changed']);
    expect(read('../outside/no.txt', 'Access denied', 'ENOENT: no such file')).toEqual(['broken']);
    expect(read('../outside/no.txt', 'Access denied', 'Not in the workspace')).toEqual(['changed']);
    // The base asks the file system, too.
    expect(read('../outside/no.txt', 'EACCES: permission denied', 'ENOENT: no such file')).toEqual(['changed']);
    const address = 'The host is no public address';
    expect(read('http://localhost:8080/', address, 'connect ECONNREFUSED 127.0.0.1:8080')).toEqual(['broken']);
    expect(read(['http://localhost:8080/'], address, 'connect ECONNREFUSED 127.0.0.1:8080')).toEqual(['broken']);
    expect(read('http://localhost:8080/', address, 'Only public hosts are allowed')).toEqual(['changed']);
    expect(read('http://localhost/', 'This host is not allowed', 'connect ECONNREFUSED ::1:80')).toEqual(['broken']);
    expect(read('http://localhost/', 'Only https is allowed', 'connect ECONNREFUSED ::1:80')).toEqual(['changed']);
    expect(read('http://localhost.example.com/', address, 'connect ECONNREFUSED')).toEqual(['changed']);
  });
});
