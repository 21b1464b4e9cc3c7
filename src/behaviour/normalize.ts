import type { Outcome } from '../explore/exploration.ts';
import { lineOfSource, volatileMark } from '../explore/stability/forms.ts';
import { mapTexts } from '../workspace/placeholders.ts';

/**
 * Forms of text that can be equal in all runs of one server, and others in all runs of another one, by chance or because code moved: how
 * long something took, and lines of code. Dates, ids and versions are not among them: both servers run at the same time.
 */
const forms: readonly RegExp[] = [
  /\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns|milliseconds?)\b/g,
  /\b\d+\.\d+ ?(?:s|secs?|seconds)\b/g,
  /\b(?:localhost|127\.0\.0\.1|\[::1\]):\d{2,5}\b/g,
  /\bpid[ :=]+\d+\b/gi,
  /0x[0-9a-f]{6,16}\b/gi,
  /(?<=\.(?:[cm]?[jt]sx?|py|go|rs)):\d+(?::\d+)?/g,
  lineOfSource,
];

/** Replaces the directories of the server's code, and what differs by chance, so that two outcomes that mean the same are equal. */
export function normalizeOutcome(outcome: Outcome, roots: readonly string[]): Outcome {
  const longestFirst = roots.filter((root) => root !== '' && root !== '/').toSorted((a, b) => b.length - a.length);
  const change = (text: string) => {
    const moved = longestFirst.reduce((changed, root) => changed.replaceAll(root, '{{server}}'), text);
    return forms.reduce((masked, form) => masked.replaceAll(form, volatileMark), moved);
  };
  return mapTexts(outcome, change);
}
