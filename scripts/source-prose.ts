import { parseSync, Visitor } from 'rolldown/utils';

/** A part of the source: from `start` up to `end`, exclusive. */
interface Span {
  start: number;
  end: number;
}

/**
 * Lists the parts of TypeScript that are prose: comments, and strings of two words or more. A string of one word is a name or a path. Of a
 * template, it lists the parts around the expressions.
 */
export function findProse(source: string): Span[] {
  const { program, comments } = parseSync('source.ts', source, { lang: 'ts', sourceType: 'module' });
  const prose: Span[] = comments.map(({ start, end }) => ({ start, end }));
  new Visitor({
    Literal({ value, start, end }) {
      if (typeof value !== 'string') return;
      const inner = { start: start + 1, end: end - 1 };
      if (/\p{L}\S*\s+\S*\p{L}/u.test(source.slice(inner.start, inner.end))) prose.push(inner);
    },
    TemplateLiteral({ quasis }) {
      if (!quasis.some(({ value }) => value.raw.includes(' '))) return;
      for (const { value, end, start } of quasis) {
        // The parser includes the delimiters before and after a part in its range.
        const from = source.indexOf(value.raw, start);
        prose.push({ start: from, end: Math.min(from + value.raw.length, end) });
      }
    },
  }).visit(program);
  return prose;
}
