const lineFeed = 10;

/** Cuts a byte stream into lines without ever holding more than one, of at most `maxLineBytes`. */
export interface LineReader {
  push(chunk: Buffer): void;
}

/** `onOverflow` is called once, when a line grows too long; nothing is read after that. */
export function createLineReader(options: {
  maxLineBytes: number;
  onLine: (line: string) => void;
  onOverflow: () => void;
}): LineReader {
  let parts: Buffer[] = [];
  let pendingBytes = 0;
  let hasOverflowed = false;

  /** Whether reading goes on. */
  const keep = (part: Buffer): boolean => {
    if (hasOverflowed) return false;
    pendingBytes += part.length;
    hasOverflowed = pendingBytes > options.maxLineBytes;
    if (hasOverflowed) {
      parts = [];
      options.onOverflow();
    } else if (part.length > 0) {
      parts.push(part);
    }
    return !hasOverflowed;
  };
  const takeLine = (): string => {
    const [first] = parts;
    const line = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    parts = [];
    pendingBytes = 0;
    return line.toString('utf8');
  };
  return {
    push: (chunk) => {
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        if (!keep(chunk.subarray(start, end))) return;
        start = end + 1;
        const line = takeLine();
        if (line !== '') options.onLine(line);
      }
      keep(chunk.subarray(start));
    },
  };
}
