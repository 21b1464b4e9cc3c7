import { describe, expect, it } from 'vitest';
import { findReason } from '../../src/model/process-end.ts';

describe('findReason', () => {
  it.each<[string, string[], string | null]>([
    ['nothing', [], null],
    ['a usage', ['Usage: serve <directory>', ''], 'Usage: serve <directory>'],
    [
      'an error of Node.js',
      [
        'Error: Could not locate the bindings file. Tried:',
        ' → /srv/a.node',
        '    at bindings (/srv/bindings.js:126:9)',
        '    at node:internal/main/run_main_module:28:49 {',
        "  tries: [ '/srv/a.node' ]",
        '}',
        '',
        'Node.js v24.1.0',
      ],
      'Error: Could not locate the bindings file. Tried:',
    ],
    [
      'an exception of Python',
      [
        'Traceback (most recent call last):',
        '  File "/srv/server.py", line 3, in <module>',
        '    import words',
        "ModuleNotFoundError: No module named 'words'",
      ],
      "ModuleNotFoundError: No module named 'words'",
    ],
    ['a panic of Go', ['panic: no directory', '', 'goroutine 1 [running]:', 'exit status 2'], 'panic: no directory'],
    [
      'a panic of Rust',
      [
        "thread 'main' panicked at src/main.rs:3:5:",
        'no directory',
        'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
      ],
      'no directory',
    ],
    ['a log after an error', ['Error: no key', 'Shutting down'], 'Error: no key'],
    ['a stack alone', ['    at run (a.js:1:1)'], '    at run (a.js:1:1)'],
  ])('finds the reason in %s', (_, lines, reason) => {
    expect(findReason(lines)).toBe(reason);
  });
});
