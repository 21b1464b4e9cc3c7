const month =
  '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';
const ofMonth = String.raw`\d{1,2}(?:st|nd|rd|th)?`;

/** A line of a source file, which any change of the program moves: `File "server.py", line 12`. */
export const lineOfSource = /(?<=\.\w{1,5}\\?["'`)]?,? (?:on |at |in )?line )\d+\b/g;

/** Forms of text that another run, machine or day changes, whether or not replays showed it. */
const forms: readonly RegExp[] = [
  // A date with a time, in ISO 8601 and in the way of JavaScript and of RFC 5322.
  /\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?/g,
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*,? (?:\d{1,2},? )?\d{4}(?: \d{2}:\d{2}(?::\d{2})?)?(?: ?(?:GMT|UTC)?[+-]\d{4})?(?: \([^)]*\))?/g,
  /\b\d{4}-\d{2}-\d{2}\b/g,
  /\b\d{1,2}([/.-])\d{1,2}\1\d{4}\b/g,
  /\b\d{4}\/\d{1,2}\/\d{1,2}\b/g,
  /\b\d{4}-W\d{2}(?:-\d)?\b/g,
  /\b\d{8}T\d{4,6}Z?\b/g,
  new RegExp(String.raw`\b${ofMonth} (?:of )?${month}\b\.?(?:,? \d{4}\b)?`, 'g'),
  new RegExp(String.raw`\b${month}\.? ${ofMonth}\b(?:,? \d{4}\b)?`, 'g'),
  // How far a date is from the present one.
  /\b(?:in|since) \d+ (?:second|minute|hour|day|week|month|year)s?\b/gi,
  /\b\d+ (?:second|minute|hour|day|week|month|year)s? (?:ago|from now|left|remaining|old)\b/gi,
  // A part of the present date: "the week of the year is 48", "day of the month: 27".
  /\b(?:minute|hour|day|week|month|quarter)s? of the (?:hour|day|week|month|quarter|year)(?: is|:| =) ?\d+\b/gi,
  /\b(?:yesterday|today|tomorrow)\b/gi,
  // Not "May" and "March", which are other words, too.
  /\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/g,
  /\b(?:January|February|April|June|July|August|September|October|November|December)\b/g,
  /\b\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?: ?[AP]M)?\b/gi,
  /\b\d{1,2}:\d{2} ?[AP]M\b/gi,
  // Seconds and milliseconds since 1970, from 2001 on.
  /(?<![\d.])1\d{9}(?:\.\d+|\d{3}(?:\d{3})?)?(?![\d.])/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b/g,
  // A version of a program or a library, or an address of another machine.
  /(?<!\w|\d\.)(?!127\.0\.0\.1(?![\w.]))v?\d+\.\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?(?:\+[\w.]+)?\b/g,
  // How long something took.
  /\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns|milliseconds?|secs?)\b/g,
  /\b(?:localhost|127\.0\.0\.1|\[::1\]):\d{2,5}\b/g,
  /\bpid[ :=]+\d+\b/gi,
  /0x[0-9a-f]{6,16}\b/gi,
  lineOfSource,
];

/** Replaced by this mark, a part of a text may differ. */
export const volatileMark = '{{any}}';

/** Says of a part that reads as a time, a version, an id or the like that it stays. */
export type KeepsPart = (part: string) => boolean;

export const keepsNone: KeepsPart = () => false;

/** Replaces every part that reads as a time, a version, an id or the like, apart from those that `keeps` names. */
export function maskForms(text: string, keeps = keepsNone): string {
  const kept: string[] = [];
  const masked = forms.reduce(
    // A kept part is out of sight of the other forms: they would mask the day in a date.
    (rest, form) =>
      rest.replaceAll(form, (part) => (keeps(part) ? `\u{E000}${kept.push(part) - 1}\u{E001}` : volatileMark)),
    text,
  );
  return masked.replaceAll(/\u{E000}(\d+)\u{E001}/gu, (whole, index: string) => kept[Number(index)] ?? whole);
}

/** Checks if any part of a text reads as a time, a version, an id or the like. */
export function hasVolatileForm(text: string): boolean {
  return maskForms(text) !== text;
}

/**
 * Parts of texts that depend on the machine: absolute paths, modes of files, which depend on the umask, their owners, and the size that a
 * file system gives a directory.
 */
const machineForms: readonly RegExp[] = [
  /(?<![\w.}/])\/(?:bin|etc|home|lib|mnt|nix|opt|private|proc|root|sbin|srv|sys|tmp|usr|Users|var|work)\/[^\s"'`,;:)\]}]*/g,
  /\b(?:permissions|mode)\b["']?: ?["']?[0-7]{3,6}\b/gi,
  /\b(?:uid|gid)\b["']?: ?\d+\b/gi,
  /\bsize["']?: ?4096\b/gi,
];

/** Replaces every part that depends on the machine. */
export function maskMachine(text: string): string {
  return machineForms.reduce((masked, form) => masked.replaceAll(form, volatileMark), text);
}
