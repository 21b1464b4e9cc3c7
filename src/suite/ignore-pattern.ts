import { RE2JS } from 're2js';
import { describeError } from '../base/errors.ts';

/** RFC 6901 §3, with at least one segment. */
const pointerPattern = /^(?:\/(?:[^~/]|~[01])*)+$/;

/**
 * Returns the problem of a pattern of `ignore`; null if it is valid. A pattern that begins with `/` is a JSON Pointer in which `*` is any
 * one segment. Any other pattern is an RE2 regular expression.
 */
export function findIgnoreProblem(pattern: string): string | null {
  const quoted = JSON.stringify(pattern);
  if (pattern.startsWith('/')) {
    return pointerPattern.test(pattern)
      ? null
      : `${quoted} is not a JSON Pointer; write \`~\` as \`~0\`, or \`[/]\` for a regular expression that begins with a slash`;
  }
  try {
    return RE2JS.matches(pattern, '')
      ? `The pattern ${quoted} matches empty text, so that it excludes nothing or everything; write what it must match at least`
      : null;
  } catch (error) {
    return `The pattern ${quoted} is no RE2 regular expression: ${describeError(error)}`;
  }
}
