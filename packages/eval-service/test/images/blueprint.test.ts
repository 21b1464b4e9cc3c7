import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashBlueprint, readBlueprint } from '../../src/images/blueprint.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const list = (text: string) => readBlueprint(text).errors.map(({ line, code }) => `${line} ${code}`);

describe('a blueprint', () => {
  it('may have every instruction that the format knows', () => {
    const text = [
      '# A computer for tests',
      `FROM --platform=linux/amd64 registry.example:5000/team/debian:bookworm-slim@${digest}`,
      'ARG VERSION=1.2',
      'ENV NAME=value OTHER="two words"',
      'LABEL org.example.team=evals',
      'SHELL ["/bin/bash", "-c"]',
      'WORKDIR /home/user/my files',
      'run apt-get update && \\',
      '  # why',
      '  apt-get install -y git',
      '',
      'USER 1000:1000',
    ].join('\n');
    expect(readBlueprint(text)).toEqual({ baseImageDigest: digest, errors: [] });
  });

  it.each(['debian', 'debian:bookworm-slim', 'ghcr.io/owner/image:v1', 'localhost/a_b/c.d', 'localhost:5000/a'])(
    'may begin with %s, which pins no digest',
    (image) => expect(readBlueprint(`FROM ${image}`)).toEqual({ baseImageDigest: null, errors: [] }),
  );

  it.each([
    ['nothing', '', ['1 missing-from']],
    ['only comments', '# one\n\n# two', ['1 missing-from']],
    ['FROM after another instruction', 'RUN true\nFROM debian', ['1 missing-from', '2 second-from']],
    ['two bases', 'FROM debian\nFROM alpine', ['2 second-from']],
    ['FROM without an image', 'FROM', ['1 missing-value']],
    ['a stage', 'FROM debian AS build', ['1 bad-base']],
    ['a variable as base', 'FROM $BASE', ['1 bad-base']],
    ['an image in capitals', 'FROM Debian', ['1 bad-base']],
    ['a short digest', 'FROM debian@sha256:0123', ['1 bad-base']],
    ['the empty base', 'FROM scratch', ['1 bad-base']],
    ['an option of FROM', 'FROM --pull debian', ['1 from-option']],
    ['an option of RUN', 'FROM debian\nRUN --mount=type=bind,target=/x true', ['2 run-option']],
    [
      'a here-document',
      'FROM debian\nRUN <<EOF\ntrue\nEOF',
      ['2 here-document', '3 unknown-instruction', '4 unknown-instruction'],
    ],
    ['files to copy', 'FROM debian\nCOPY a b\nADD c d', ['2 excluded-instruction', '3 excluded-instruction']],
    ['a command to start', 'FROM debian\nCMD sh\nENTRYPOINT sh', ['2 excluded-instruction', '3 excluded-instruction']],
    ['an unknown instruction', 'FROM debian\n\nINSTALL git', ['3 unknown-instruction']],
    ['a name of every object', 'FROM debian\nconstructor x', ['2 unknown-instruction']],
    ['an instruction without a value', 'FROM debian\nRUN', ['2 missing-value']],
    ['ENV without =', 'FROM debian\nENV A b', ['2 missing-equals']],
    ['LABEL without =', 'FROM debian\nLABEL a', ['2 missing-equals']],
    ['ARG with a bad name', 'FROM debian\nARG 1=2', ['2 bad-argument']],
    ['two users', 'FROM debian\nUSER a b', ['2 bad-user']],
    ['a shell that is no list', 'FROM debian\nSHELL /bin/bash', ['2 bad-shell']],
    ['a shell of no words', 'FROM debian\nSHELL []', ['2 bad-shell']],
    ['a directive', '# syntax=docker/dockerfile:1\nFROM debian', ['1 directive']],
    ['a NUL character', 'FROM debian\nRUN a\0b', ['2 bad-character']],
    ['more than 64 KiB', `FROM debian\nRUN ${'x'.repeat(65_536)}`, ['1 too-large']],
  ])('is refused with %s', (_what, text, errors) => expect(list(text)).toEqual(errors));

  it('is refused at the line where the instruction begins', () => {
    expect(list('FROM debian\nRUN a \\\n b\nCOPY \\\n x y')).toEqual(['4 excluded-instruction']);
  });

  it('takes `# word=` below the first instruction for a comment', () => {
    expect(list('FROM debian\n# syntax=other\nRUN true')).toEqual([]);
  });

  it('is explained to its author', () => {
    const [error] = readBlueprint('FROM debian\nRNU true').errors;
    const message = 'Unknown instruction "RNU"; did you mean RUN?';
    expect(error).toEqual({ code: 'unknown-instruction', message, line: 2, path: 'line 2' });
  });

  it('has 50 errors at most', () => {
    expect(list(`FROM debian\n${'COPY a b\n'.repeat(80)}`)).toHaveLength(50);
  });

  it('never throws, whatever the text', () => {
    const word = constantFrom('FROM', 'RUN', 'ENV ', '\\', '\n', '#', '"', ' ', 'debian', '=', '\0', '<<EOF', '[');
    const text = array(oneof(word, string())).map((parts) => parts.join(''));
    const check = (blueprint: string) => {
      expect(readBlueprint(blueprint).errors.every(({ line }) => line >= 1)).toBe(true);
    };
    assert(property(text, check));
  });

  it('has the same hash with line breaks of either kind, and another one for another text', () => {
    expect(hashBlueprint('FROM a\nRUN b')).toBe(hashBlueprint('FROM a\r\nRUN b'));
    expect(hashBlueprint('FROM a\nRUN b')).not.toBe(hashBlueprint('FROM a\nRUN c'));
    expect(hashBlueprint('FROM a')).toMatch(/^sha256:[\da-f]{64}$/);
  });
});
