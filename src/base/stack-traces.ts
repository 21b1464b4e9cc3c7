/** A location in a stack trace. It is text of a server, which may name any file. */
export interface Frame {
  /** Absolute, or relative to where the server was built or started. */
  path: string;
  /** Counted from 1. */
  line: number;
  /** Counted from 1; null if the trace does not name it. */
  column: number | null;
}

interface TraceFormat {
  /** The endings of files with source text of the language, without a dot. */
  extensions: readonly string[];
  /** What a line with a frame looks like, with the groups `path` or `class` and `file`, and `line`. */
  patterns: readonly RegExp[];
  /** True if the call that failed is the last of a trace. */
  isInnermostLast?: boolean;
}

/** The stack traces of languages, as their runtimes print them. A new language needs an entry here, and a real trace in the tests. */
export const traceFormats = {
  node: {
    extensions: ['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx'],
    patterns: [
      /^\s*at (?:.*\()?(?:file:\/\/)?(?<path>(?:\/|[A-Za-z]:[\\/])[^()]*):(?<line>\d+):(?<column>\d+)\)?$/,
      // The head of an error in a file that cannot be parsed.
      /^(?:file:\/\/)?(?<path>\/\S+\.[cm]?[jt]sx?):(?<line>\d+)$/,
    ],
  },
  python: {
    extensions: ['py'],
    patterns: [/^\s*File "(?<path>[^"]+)", line (?<line>\d+)/],
    isInnermostLast: true,
  },
  go: {
    extensions: ['go'],
    patterns: [/^\s+(?<path>\S+\.go):(?<line>\d+)(?: \+0x[0-9a-f]+)?$/],
  },
  rust: {
    extensions: ['rs'],
    patterns: [
      /panicked at (?:.*, )?(?<path>[^\s:,'"]+\.rs):(?<line>\d+):\d+/,
      /^\s+at (?<path>\S+\.rs):(?<line>\d+)(?::\d+)?$/,
    ],
  },
  java: {
    extensions: ['java', 'kt', 'scala', 'groovy'],
    patterns: [
      /^\s*at (?:[\w.@-]*\/)*(?<class>[\w$.]+)\.[\w$<>]+\((?<file>[\w$]+\.(?:java|kt|scala|groovy)):(?<line>\d+)\)$/,
    ],
  },
  dotnet: {
    extensions: ['cs', 'fs', 'vb'],
    patterns: [/^\s*at .* in (?<path>.+\.(?:cs|fs|vb)):line (?<line>\d+)$/],
  },
} satisfies Record<string, TraceFormat>;

const formats: readonly TraceFormat[] = Object.values(traceFormats);
const maxLines = 2000;
/** Longer lines are no frames; the patterns read each character of a shorter one a few times at most. */
const maxLineLength = 1000;

/** Finds the frames of stack traces in a text, the call that failed first. The text may be quoted as JSON. */
export function listFrames(text: string): Frame[] {
  const lines = text
    .replaceAll(/\\r?\\n|\\n|\r\n/g, '\n')
    .replaceAll('\\t', '\t')
    .replaceAll('\\"', '"')
    .split('\n');
  const found = lines.slice(0, maxLines).flatMap((line, index) => {
    const read = readFrame(line);
    return read === null ? [] : [{ ...read, index }];
  });
  // In Java, the error at the bottom caused those above it.
  const cause = lines.findLastIndex((line) => line.startsWith('Caused by: '));
  const [after, before] = [true, false].map((isAfter) => found.filter(({ index }) => index > cause === isAfter));
  const ordered = [...(after ?? []), ...(before ?? [])];
  const isReversed = ordered[0]?.isInnermostLast === true;
  return (isReversed ? ordered.toReversed() : ordered).map(({ path, line, column }) => ({ path, line, column }));
}

/**
 * Leaves out a stack trace: in a quoted text up to the end of the quotation, else all that follows. Its paths belong to the machine of the
 * job.
 */
export function cutTrace(text: string): string {
  const short = text.replaceAll(quotedTrace, '…');
  const start = plainTrace.exec(short)?.index;
  return start === undefined ? short : `${short.slice(0, start)}…`;
}

const quotedTrace = /\\n(?:\\t| )*(?:at \S|File \\"|Traceback \(|goroutine \d|stack backtrace:)(?:[^"\\…]|\\.)*…?/g;
const plainTrace = /\n\s*(?:at \S|File "|Traceback \(|goroutine \d|stack backtrace:)/;

/** Checks if a line of an output is a frame of a stack trace. */
export function isFrame(line: string): boolean {
  return readFrame(line) !== null || /^\s*at \S.*(?:\)|:\d+:\d+)$/.test(line.slice(0, maxLineLength));
}

function readFrame(text: string): (Frame & { isInnermostLast: boolean }) | null {
  if (text.length > maxLineLength) return null;
  for (const { patterns, extensions, isInnermostLast = false } of formats) {
    for (const pattern of patterns) {
      const groups = pattern.exec(text)?.groups;
      if (groups === undefined) continue;
      const path = groups['path'] ?? joinClass(groups);
      const line = Number(groups['line']);
      if (extensions.some((extension) => path.endsWith(`.${extension}`)) && Number.isSafeInteger(line) && line > 0) {
        const column = groups['column'] === undefined ? null : Number(groups['column']);
        return { path, line, column, isInnermostLast };
      }
    }
  }
  return null;
}

/** Makes a path of the name of a class: `com/example/Server.java`. */
function joinClass({ class: name = '', file = '' }: Record<string, string | undefined>): string {
  return [...name.split('.').slice(0, -1), file].join('/');
}
