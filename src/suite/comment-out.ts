import { isMap, isSeq, LineCounter, parseDocument } from 'yaml';

/**
 * Comments cases of an evals file out, each with the reason above it, and leaves the rest of its text unchanged. Cases that are not found,
 * and those of a file whose list is not in block style, stay as they are.
 */
export function commentOutCases(text: string, reasons: ReadonlyMap<string, string>): string {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const list = isMap(document.contents) ? document.contents.get('cases', true) : null;
  if (document.errors.length > 0 || !isSeq(list) || list.flow === true) return text;
  const lines = text.split('\n');
  for (const item of list.items) {
    const reason = isMap(item) ? reasons.get(String(item.get('id'))) : undefined;
    if (!isMap(item) || reason === undefined || item.flow === true || !item.range) continue;
    const [from, to] = item.range;
    const { line: first } = counter.linePos(from);
    const { line, col } = counter.linePos(to);
    // A value in block style ends where its last line does, or at the beginning of the next one.
    const last = col === 1 ? line - 1 : line;
    const indent = /^ */.exec(lines[first - 1] ?? '')?.[0] ?? '';
    const comment = (at: number) => `${indent}# ${lines[at]?.slice(indent.length) ?? ''}`.trimEnd();
    for (let at = first - 1; at < last; at += 1) lines[at] = comment(at);
    lines[first - 1] = `${indent}# ${reason}\n${lines[first - 1]}`;
  }
  return lines.join('\n');
}
