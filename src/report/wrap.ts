/**
 * Breaks a line at spaces so that each part, indentation included, is at most `columns` wide where words allow it.
 * Parts after the first are indented by two more.
 */
export function wrapLine(line: string, options: { columns: number; indent: string }): string[] {
  const lines: string[] = [];
  let current = options.indent;
  let isEmpty = true;
  for (const word of line.split(' ')) {
    if (!isEmpty && current.length + 1 + word.length > options.columns) {
      lines.push(current);
      current = `${options.indent}  ${word}`;
    } else {
      current += isEmpty ? word : ` ${word}`;
    }
    isEmpty = false;
  }
  return [...lines, current];
}
