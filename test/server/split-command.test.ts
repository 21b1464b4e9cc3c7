import { describe, expect, it } from 'vitest';
import { splitCommand } from '../../src/server/split-command.ts';

describe('splitCommand', () => {
  it('refuses a path of Windows whose backslashes would be lost, and says how to write it', () => {
    expect(() => splitCommand('node C:\\srv\\x.js --port 1')).toThrow(
      "server-command: a POSIX shell removes the backslashes of C:\\srv\\x.js, and so does the gate. Write C:/srv/x.js with forward slashes, or 'C:\\srv\\x.js' in single quotes (lost-backslash)",
    );
  });

  it.each(['.\\build\\index.js', 'node \\\\share\\x.js', 'node a"b"\\c', 'node --path=C:\\x'])(
    'refuses %s',
    (command) => {
      expect(() => splitCommand(command)).toThrow('(lost-backslash)');
    },
  );

  it.each([
    ["node 'C:\\srv\\x.js'", ['node', 'C:\\srv\\x.js']],
    ['node "C:\\srv\\x.js"', ['node', 'C:\\srv\\x.js']],
    ['node C:\\\\srv\\\\x.js', ['node', 'C:\\srv\\x.js']],
    ['node a\\ b.js', ['node', 'a b.js']],
    ['echo \\"quoted\\" \\$HOME', ['echo', '"quoted"', '$HOME']],
    ['node \\\n  server.js', ['node', 'server.js']],
    ['bash -c \'printf "\\n" && node x.js\'', ['bash', '-c', 'printf "\\n" && node x.js']],
  ])('keeps what is quoted or escaped on purpose in %s', (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });
});
