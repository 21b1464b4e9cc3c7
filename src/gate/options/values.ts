import { z } from 'zod';
import { writeJson } from '../../base/json.ts';
import { Secret } from '../../base/redaction.ts';
import { parseDuration } from '../../base/time.ts';
import { type ConcurrencySetting, maxConcurrency } from '../../model/concurrency.ts';
import { protocolSettings } from '../../model/protocol.ts';
import { parsePassRate } from '../../model/rate.ts';
import type { RunRange } from '../../model/rounds.ts';

/** What a schema says about the options that it parses. */
export interface ValueForm {
  /** The form of the value in the command's help. */
  hint?: string;
  isList?: true;
  /** The location of the secret: the whole value, or what is behind this separator in each line. */
  secret?: 'value' | '=' | ':';
  /** What a number means that a program passes. Absent if the value is never a number. */
  unit?: 'milliseconds' | 'fraction' | 'count';
  /**
   * Writes an object that a program passes as the text that the schema parses. Absent if the value is never an object.
   *
   * @throws {TypeError} with a clause about a value that no text has
   */
  write?: (value: object) => string;
}

const forms = z.registry<ValueForm>();

/** Says what a schema parses. */
export function withForm<T extends z.ZodType>(schema: T, form: ValueForm): T {
  forms.add(schema, form);
  return schema;
}

export function readForm(schema: z.ZodType): ValueForm {
  return forms.get(schema) ?? {};
}

// Every option is text from an input or a flag. These schemas parse it and explain the right format.

/**
 * Writes named values, one per line; of a null only the name, and of an undefined value nothing.
 *
 * @throws {TypeError} for names and values that no line can have. It never quotes a value, which may be a secret.
 */
export function writePairs(separator: string, value: object): string {
  const refuse = (what: string) => new TypeError(`${what}; give names and texts of one line`);
  return Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]: [string, unknown]) => {
      if (/^\s*$|[\r\n]/.test(name) || name.includes(separator.trim()))
        throw refuse(`has the name ${JSON.stringify(name)}`);
      if (each === null) return name;
      if (typeof each !== 'string' && typeof each !== 'number' && typeof each !== 'boolean')
        throw refuse(`has a value of ${name} that is no text`);
      const text = String(each);
      if (/[\r\n]/.test(text)) throw refuse(`has a value of ${name} with a line break`);
      return `${name}${separator}${text}`;
    })
    .join('\n');
}

export const issue = (message: string) => ({ code: 'custom' as const, message });

/** Splits a text into entries: one per line, or also by commas if no entry can contain one. */
const list = (separator: RegExp) => {
  const schema = z.string().transform((text) =>
    text
      .split(separator)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );
  return withForm(schema, { isList: true });
};
export const lines = list(/\r?\n/);
export const words = list(/\r?\n|,/);

/** Parses words, each once; null for a blank text. */
export const optionalWords = withForm(
  words.transform((entries) => (entries.length === 0 ? null : [...new Set(entries)])),
  { isList: true },
);

export const optionalText = z.string().transform((text) => (text.trim() === '' ? null : text.trim()));

/** A name that git accepts for a branch or another ref, limited to characters that are safe in messages and commands. */
export const optionalRef = optionalText.transform((text, context) => {
  if (text === null || /^(?!-)[^\s\p{Cc}~^:?*[\\]{1,250}$/u.test(text)) return text;
  context.addIssue(issue(`${JSON.stringify(text)} cannot be the name of a branch; write one such as main`));
  return z.NEVER;
});

export const optionalCommit = optionalText.transform((text, context) => {
  if (text === null || /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return text;
  context.addIssue(
    issue(`${JSON.stringify(text)} is not the hash of a commit; write all of it, as git rev-parse HEAD does`),
  );
  return z.NEVER;
});

/** Parses an origin: the scheme, host and port of a URL. */
export const optionalOrigin = optionalText.transform((text, context) => {
  if (text === null || URL.parse(text)?.origin === text.replace(/\/$/, '').toLowerCase()) {
    return text === null ? null : new URL(text).origin;
  }
  context.addIssue(issue(`${JSON.stringify(text)} is not an origin; write one such as https://auth.example.com`));
  return z.NEVER;
});

/** Keeps the text unchanged, because YAML depends on the indentation of the first line, and findings on line numbers. */
export const optionalDocument = withForm(
  z.string().transform((text) => (text.trim() === '' ? null : text)),
  { write: writeJson },
);

const parsedDuration = z.string().transform((text, context) => {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs > 0) return durationMs;
  context.addIssue(
    issue(`${JSON.stringify(text)} is not a duration; write a number and a unit, such as 90s, 10m or 2h`),
  );
  return z.NEVER;
});

export const duration = withForm(parsedDuration, { hint: '<duration>', unit: 'milliseconds' });

/** Parses a decimal number above 0. */
const parsedNumber = z.string().transform((text, context) => {
  const value = Number(text);
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text) && value > 0 && Number.isFinite(value)) return value;
  context.addIssue(issue(`${JSON.stringify(text)} is not a number above 0; write one such as 5 or 0.5`));
  return z.NEVER;
});

export const positiveNumber = withForm(parsedNumber, { unit: 'count' });

const parsedFlag = z.string().transform((text, context) => {
  if (/^(?:true|True|TRUE)$/.test(text.trim())) return true;
  if (/^(?:false|False|FALSE)$/.test(text.trim())) return false;
  context.addIssue(issue(`${JSON.stringify(text)} is not a boolean; write true or false`));
  return z.NEVER;
});

/** Accepts the spellings of YAML 1.2's core schema, like the runner's boolean inputs. */
export const flag = withForm(parsedFlag, { hint: '[bool]' });

const parsedPassRate = z.string().transform((text, context) => {
  if (text.trim() === '') return null;
  const parsed = parsePassRate(text);
  if (parsed.ok) return parsed.passRate;
  context.addIssue(issue(parsed.message));
  return z.NEVER;
});

export const optionalPassRate = withForm(parsedPassRate, { unit: 'fraction' });

const maxRuns = 100;
/** Parses a number of runs, or a range from which the confidence decides how many are needed; null for a blank text. */
const parsedRuns = z.string().transform((text, context): number | RunRange | null => {
  const written = text.trim();
  if (written === '') return null;
  const isCount = (runs: number) => Number.isInteger(runs) && runs >= 1 && runs <= maxRuns;
  const [min = NaN, max = min, ...rest] = written.split('..').map(Number);
  if (rest.length === 0 && isCount(min) && isCount(max)) {
    if (!written.includes('..')) return min;
    if (min < max) return { min, max };
  }
  const advice = `write a whole number from 1 to ${maxRuns}, or a range such as 2..30`;
  context.addIssue(issue(`${JSON.stringify(text)} is not a number of runs; ${advice}`));
  return z.NEVER;
});

export const optionalRuns = withForm(parsedRuns, {
  unit: 'count',
  write: ({ min, max }: Partial<RunRange>) => `${min}..${max}`,
});

/** Parses how many iterations may run at the same time; null for a blank text. */
const parsedConcurrency = z.string().transform((text, context): ConcurrencySetting | null => {
  const written = text.trim();
  if (written === '') return null;
  if (written === 'auto') return written;
  const limit = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (limit >= 1 && limit <= maxConcurrency) return limit;
  context.addIssue(
    issue(`${JSON.stringify(text)} is not a concurrency; write auto or a whole number from 1 to ${maxConcurrency}`),
  );
  return z.NEVER;
});

export const optionalConcurrency = withForm(parsedConcurrency, { unit: 'count' });

/** Parses a number that counts from 1. */
export const optionalOrdinal = (what: string) => {
  const schema = z.string().transform((text, context) => {
    if (text.trim() === '') return null;
    if (/^\s*[1-9]\d{0,8}\s*$/.test(text)) return Number(text);
    context.addIssue(issue(`${JSON.stringify(text)} is not the number of a ${what}; write one such as 12`));
    return z.NEVER;
  });
  return withForm(schema, { unit: 'count' });
};

/** A matrix of GitHub has at most 256 jobs. */
const maxShards = 256;

/** Parses `2/4`: the second of four shards. */
const parsedShard = z.string().transform((text, context) => {
  if (text.trim() === '') return null;
  const [, index = 0, total = 0] = (/^\s*(\d{1,3})\s*\/\s*(\d{1,3})\s*$/.exec(text) ?? []).map(Number);
  if (index >= 1 && index <= total && total <= maxShards) return { index, total };
  context.addIssue(
    issue(
      `${JSON.stringify(text)} is not a shard; write its number and how many there are, such as 1/4, up to ${maxShards}/${maxShards}`,
    ),
  );
  return z.NEVER;
});

export const optionalShard = withForm(parsedShard, {
  write: ({ index, total }: { index?: number; total?: number }) => `${index}/${total}`,
});

type Words<Word extends string> = readonly [Word, ...Word[]];

/** Parses one of a few words. */
export const choice = <const Word extends string>(what: string, allowed: Words<Word>) =>
  withForm(
    z.string().transform((text, context) => readChoice(text, what, allowed, context)),
    { hint: `<${allowed.join('|')}>` },
  );

/** Parses one of a few words; null for a blank text. */
const optionalChoice = <const Word extends string>(what: string, allowed: Words<Word>) =>
  z.string().transform((text, context) => (text.trim() === '' ? null : readChoice(text, what, allowed, context)));

function readChoice<Word extends string>(
  text: string,
  what: string,
  allowed: Words<Word>,
  context: z.RefinementCtx,
): Word {
  const found = allowed.find((word) => word === text.trim());
  if (found !== undefined) return found;
  const article = /^[aeiou]/.test(what) ? 'an' : 'a';
  context.addIssue(issue(`${JSON.stringify(text)} is not ${article} ${what}; write ${formatAlternatives(allowed)}`));
  return z.NEVER;
}

/** Parses a revision of MCP, `auto` or `both`; null for a blank text. */
export const optionalProtocol = optionalChoice('protocol', protocolSettings);

function formatAlternatives(words: readonly string[]): string {
  return words.length === 1 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

export const optionalSecret = withForm(
  z.string().transform((text) => (text.trim() === '' ? null : new Secret(text.trim()))),
  { secret: 'value' },
);

/**
 * Parses named secrets, one per line in this `form`. Leaves out those without a value: a workflow that fills in a secret gets an empty text
 * in jobs of forks. Never quotes an entry, which may be the secret.
 */
export const secrets = (form: `${string}=${string}`) => {
  const schema = lines.transform((entries, context) => {
    const values = new Map<string, Secret>();
    for (const [index, entry] of entries.entries()) {
      const [, name, value] = /^([\w.-]+)=\s*(.*)$/.exec(entry) ?? [];
      if (name === undefined || value === undefined) context.addIssue(issue(`line ${index + 1} is not ${form}`));
      else if (value !== '') values.set(name, new Secret(value));
    }
    return values;
  });
  return withForm(schema, {
    hint: `<${form}>`,
    isList: true,
    secret: '=',
    write: (value) => writePairs('=', value),
  });
};

const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/;

const parsedEnvironment = lines.transform((entries, context) => {
  const variables = new Map<string, string | null>();
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    const name = equals === -1 ? entry : entry.slice(0, equals);
    if (environmentName.test(name)) variables.set(name, equals === -1 ? null : entry.slice(equals + 1));
    // Never quotes the entry: the name may be wrong and a secret may follow it.
    else context.addIssue(issue(`line ${entries.indexOf(entry) + 1} is neither NAME=value nor NAME`));
  }
  return variables;
});

/** Parses variables: `NAME=value` sets one; `NAME` alone (null here) passes on the job's own. */
export const environment = withForm(parsedEnvironment, {
  hint: '<NAME=value>',
  isList: true,
  write: (value) => writePairs('=', value),
});

/** The formats that a gate can write in addition to report.json and junit.xml. */
const reportFormatNames = ['html', 'ctrf', 'badge', 'otlp', 'iterations', 'transcripts'] as const;
export type ReportFormat = (typeof reportFormatNames)[number];

/** Parses names of report formats, or `none` alone. */
export const reportFormats = words.transform((names, context): ReportFormat[] => {
  if (names.length === 1 && names[0] === 'none') return [];
  const unknown = names.find((name) => !reportFormatNames.some((known) => known === name));
  if (unknown === undefined) return reportFormatNames.filter((name) => names.includes(name));
  context.addIssue(
    issue(`${JSON.stringify(unknown)} is not a report; write ${formatAlternatives(reportFormatNames)}, or none alone`),
  );
  return z.NEVER;
});
