import { createHash } from 'node:crypto';
import { findNearest } from '../../../../src/suite/findings.ts';
import { quoteValue } from '../../../../src/base/text.ts';

/** A mistake in a blueprint. `line` counts from 1; `path` is the same location in words. */
export interface BlueprintError {
  code: string;
  message: string;
  line: number;
  path: string;
}

export interface BlueprintReading {
  /** The digest of the base image if the blueprint pins one: `sha256:…`. */
  baseImageDigest: string | null;
  /** Ordered by line; empty if the blueprint can be built. */
  errors: BlueprintError[];
}

const maxBytes = 64 * 1024;
const maxErrors = 50;

/** One instruction with its continued lines. */
interface Instruction {
  keyword: string;
  value: string;
  line: number;
}

/** The check of each instruction's value: it returns the code and the message of a mistake, or null. */
const checks: Readonly<Record<string, (value: string) => readonly [string, string] | null>> = {
  FROM: checkBase,
  RUN: (value) => {
    if (value.startsWith('--')) return ['run-option', 'RUN takes no options here; write the command alone'];
    // The lines of a here-document would belong to the command.
    if (/<<-?["']?\w/.test(value)) {
      return [
        'here-document',
        'A blueprint has no here-documents; join commands with `&&`, or write a file with printf',
      ];
    }
    return null;
  },
  ENV: (value) => checkPairs('ENV', value),
  LABEL: (value) => checkPairs('LABEL', value),
  ARG: (value) =>
    /^[A-Za-z_]\w*(?:=.*)?$/s.test(value) ? null : ['bad-argument', 'ARG takes one `NAME` or `NAME=default`'],
  WORKDIR: () => null,
  USER: (value) => (/^\S+$/.test(value) ? null : ['bad-user', 'USER takes one user, or `user:group`']),
  SHELL: (value) =>
    isListOfWords(value) ? null : ['bad-shell', 'SHELL takes a JSON list, such as ["/bin/bash", "-c"]'],
};

const known = Object.keys(checks);

/** Instructions of a Dockerfile that mean nothing for a computer, or need files that a blueprint does not have. */
const excluded: Readonly<Record<string, string>> = {
  COPY: 'A blueprint is built without files to copy; fetch or write them with RUN',
  ADD: 'A blueprint is built without files to add; fetch or write them with RUN',
  CMD: 'The service starts the computer itself; remove CMD',
  ENTRYPOINT: 'The service starts the computer itself; remove ENTRYPOINT',
};

/**
 * Checks a blueprint: a Dockerfile that starts with its only FROM and has the instructions RUN, ENV, ARG, WORKDIR, USER, LABEL and SHELL.
 * Reports every mistake, at most 50. Never throws, for any text.
 */
export function readBlueprint(text: string): BlueprintReading {
  if (Buffer.byteLength(text) > maxBytes) {
    const message = `The blueprint has ${Buffer.byteLength(text)} bytes; at most ${maxBytes} (64 KiB) are read`;
    return { baseImageDigest: null, errors: [locate(1, 'too-large', message)] };
  }
  const { instructions, errors } = splitInstructions(normalize(text));
  const [first] = instructions;
  if (first?.keyword !== 'FROM') {
    const message = 'A blueprint begins with FROM and its base image, such as `FROM debian:bookworm-slim`';
    errors.push(locate(first?.line ?? 1, 'missing-from', message));
  }
  for (const [index, { keyword, value, line }] of instructions.entries()) {
    const problem = checkInstruction(keyword, value, index);
    if (problem !== null) errors.push(locate(line, ...problem));
  }
  const sorted = errors.toSorted((a, b) => a.line - b.line);
  return { baseImageDigest: readDigest(first), errors: sorted.slice(0, maxErrors) };
}

/** Hashes a blueprint. Both kinds of line breaks give the same hash. */
export function hashBlueprint(text: string): string {
  return `sha256:${createHash('sha256').update(normalize(text)).digest('hex')}`;
}

function normalize(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Joins lines that end with a backslash. Comments and empty lines belong to no instruction. */
function splitInstructions(text: string): { instructions: Instruction[]; errors: BlueprintError[] } {
  const instructions: Instruction[] = [];
  const errors: BlueprintError[] = [];
  let open: { parts: string[]; line: number } | null = null;
  const close = () => {
    if (open === null) return;
    const [, keyword = '', value = ''] = /^(\S+)\s*(.*)$/s.exec(open.parts.join(' ').trim()) ?? [];
    if (keyword !== '') instructions.push({ keyword: keyword.toUpperCase(), value: value.trim(), line: open.line });
    open = null;
  };
  for (const [index, written] of text.split('\n').entries()) {
    const line = index + 1;
    const content = written.trim();
    if (content.includes('\0')) errors.push(locate(line, 'bad-character', 'The line has a NUL character; remove it'));
    if (content.startsWith('#')) {
      // Directives change how the rest is read, and can name a program that reads it.
      const directive = /^#\s*(syntax|escape|check)\s*=/i.exec(content)?.[1];
      if (directive !== undefined && instructions.length === 0 && open === null) {
        errors.push(locate(line, 'directive', `The directive \`# ${directive}=\` is not supported; remove it`));
      }
      continue;
    }
    if (content === '') continue;
    const isContinued = content.endsWith('\\');
    open ??= { parts: [], line };
    open.parts.push(isContinued ? content.slice(0, -1) : content);
    if (!isContinued) close();
  }
  close();
  return { instructions, errors };
}

function checkInstruction(keyword: string, value: string, index: number): readonly [string, string] | null {
  const check = Object.hasOwn(checks, keyword) ? checks[keyword] : undefined;
  if (check === undefined) {
    const reason = Object.hasOwn(excluded, keyword) ? excluded[keyword] : undefined;
    if (reason !== undefined) return ['excluded-instruction', reason];
    const nearest = findNearest(keyword, known);
    const advice = nearest === undefined ? `; write one of ${known.join(', ')}` : `; did you mean ${nearest}?`;
    return ['unknown-instruction', `Unknown instruction ${quoteValue(keyword)}${advice}`];
  }
  if (keyword === 'FROM' && index > 0) return ['second-from', 'A blueprint has one FROM, at its beginning'];
  return value === '' ? ['missing-value', `${keyword} has nothing after it`] : check(value);
}

/** `[registry[:port]/]name[:tag][@sha256:digest]`, https://pkg.go.dev/github.com/distribution/reference */
const reference =
  /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?\/)?[a-z\d]+(?:[._-]+[a-z\d]+)*(?:\/[a-z\d]+(?:[._-]+[a-z\d]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[\da-f]{64})?$/;

function checkBase(value: string): readonly [string, string] | null {
  const words = listBaseWords(value);
  const [image = '', ...rest] = words;
  if (image.startsWith('--')) return ['from-option', 'FROM takes one option, --platform=<os>/<architecture>'];
  if (rest.length > 0) return ['bad-base', 'FROM takes one image and no name for a stage'];
  if (image === 'scratch') return ['bad-base', 'The base image scratch has no shell; choose one with a system in it'];
  if (image.length <= 512 && reference.test(image)) return null;
  return [
    'bad-base',
    `${quoteValue(image)} is no image; write \`name:tag\` or \`name@sha256:<digest>\`, without variables`,
  ];
}

/** Lists the image and the words after it. */
function listBaseWords(value: string): string[] {
  const words = value.split(/\s+/);
  return /^--platform=[a-z\d]+(?:\/[a-z\d]+){1,2}$/.test(words[0] ?? '') ? words.slice(1) : words;
}

function readDigest(first: Instruction | undefined): string | null {
  if (first?.keyword !== 'FROM' || checkBase(first.value) !== null) return null;
  return /@(sha256:[\da-f]{64})$/.exec(first.value)?.[1] ?? null;
}

/** Checks only the first pair, because the rest may contain quoted blanks. */
function checkPairs(keyword: string, value: string): readonly [string, string] | null {
  if (/^[\w.-]+=/.test(value)) return null;
  return ['missing-equals', `${keyword} takes \`NAME=value\`; put quotes around a value with blanks`];
}

function isListOfWords(value: string): boolean {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.length > 0 && list.every((word) => typeof word === 'string' && word !== '');
  } catch {
    return false;
  }
}

function locate(line: number, code: string, message: string): BlueprintError {
  return { code, message, line, path: `line ${line}` };
}
