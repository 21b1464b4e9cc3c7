import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { RE2JS } from 're2js';
import { checkedFormats } from '../suite/schema-problems.ts';

/** What a backtracking expression may be run on; the formats that need one describe names, not documents. */
const maxBacktrackedLength = 2048;

/** The formats that evals files may name, for a validator. Expressions run in linear time, for the text is a server's. */
export function listFormats(): Record<string, Format> {
  const known: Readonly<Record<string, Format>> = fullFormats;
  return Object.fromEntries(
    checkedFormats.map((name) => {
      const format = known[name];
      if (format === undefined) throw new Error(`No check of the format ${name} is known.`);
      return [name, format instanceof RegExp ? boundExpression(format) : format];
    }),
  );
}

function boundExpression(expression: RegExp): (text: string) => boolean {
  let linear: RE2JS | null | undefined;
  return (text) => {
    linear ??= tryCompile(expression);
    if (linear !== null) return linear.matcher(text).find();
    return text.length <= maxBacktrackedLength && expression.test(text);
  };
}

/** Null where the expression looks around. */
function tryCompile({ source, ignoreCase }: RegExp): RE2JS | null {
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return null;
  }
}
