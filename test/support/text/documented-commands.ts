/** A step that a page asks of its reader: write a file, or run a command with the output below it. */
export type DocumentedStep =
  | { kind: 'file'; path: string; text: string }
  | { kind: 'command'; command: string; output: string };

/**
 * Lists the files and commands of a part of a page, in order. A file is a fenced block after a line with only its path and a colon. Commands are
 * in `console` blocks after `$ `.
 */
export function listDocumentedSteps(markdown: string): DocumentedStep[] {
  const blocks = markdown.matchAll(/(?:^`(?<path>[^`\n]+)`:\n\n)?^```(?<language>\w+)\n(?<text>[\s\S]*?)^```$/gm);
  return [...blocks].flatMap(({ groups }): DocumentedStep[] => {
    const { path, language, text = '' } = groups ?? {};
    if (path !== undefined) return [{ kind: 'file', path, text }];
    const commands = language === 'console' ? text.split(/^\$ /m).slice(1) : [];
    return commands.map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n');
      return { kind: 'command', command, output: output.join('\n') };
    });
  });
}

/**
 * Finds the first part of a documented output that a command did not print; null if it printed all of it. A line with only `…` matches any lines.
 * Durations may differ.
 */
export function findUnprinted(documented: string, printed: string): string | null {
  const lines = readLines(printed);
  const parts = documented.split(/^…$/m).map(readLines);
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const last = lines.length - part.length;
    const positions = lines
      .keys()
      .filter((at) => at >= from && (index > 0 || at === 0) && (index < parts.length - 1 || at === last));
    const at = positions.find((position) => part.every((line, offset) => line === lines[position + offset]));
    if (at === undefined && part.length > 0) return part.join('\n');
    from = (at ?? from) + part.length;
  }
  return null;
}

function readLines(text: string): string[] {
  const lines = text.replaceAll(/\d+(?:\.\d+)? m?s\b/g, '1 s').replaceAll(/^\n|\n$/g, '');
  return lines === '' ? [] : lines.split('\n');
}
