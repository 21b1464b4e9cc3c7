/** The counts of a response so far. */
export interface ResponseScan {
  /** Messages: events of a stream, or the items of a JSON array. */
  events: number;
  /** Arrays, objects and their members, even if nothing reads them. */
  values: number;
  /** The most arrays and objects in one message; a batch is one message. */
  structures: number;
  /** The most arrays and objects around one value. */
  depth: number;
}

/** Counts in the bytes of a response, before they are parsed. */
export interface ResponseScanner {
  readonly found: Readonly<ResponseScan>;
  scan(chunk: Uint8Array): void;
}

const [lineFeed, carriageReturn, quote, comma, backslash] = [10, 13, 34, 44, 92];
const [openArray, closeArray, openObject, closeObject] = [91, 93, 123, 125];

/** Reads a body as JSON, or as an event stream with JSON in its events. Neither needs to be well-formed. */
export function createResponseScanner({ isEventStream }: { isEventStream: boolean }): ResponseScanner {
  const found: ResponseScan = { events: 0, values: 0, structures: 0, depth: 0 };
  let depth = 0;
  let structures = 0;
  let isInString = false;
  let isEscaped = false;
  let isBatch = false;
  let lineLength = 0;
  let previous = 0;

  const endLine = (byte: number) => {
    // A JSON string has no line breaks.
    isInString = false;
    isEscaped = false;
    if (byte === lineFeed && previous === carriageReturn) return;
    if (lineLength === 0) {
      found.events += 1;
      depth = 0;
      structures = 0;
    }
    lineLength = 0;
  };
  const open = (byte: number) => {
    if (depth === 0) isBatch = byte === openArray;
    if (depth === 1 && isBatch && !isEventStream) found.events += 1;
    depth += 1;
    structures += 1;
    found.values += 1;
    if (structures > found.structures) found.structures = structures;
    if (depth > found.depth) found.depth = depth;
  };
  return {
    found,
    scan: (chunk) => {
      for (const byte of chunk) {
        if (isEventStream && (byte === lineFeed || byte === carriageReturn)) {
          endLine(byte);
        } else {
          lineLength += 1;
          if (isInString) {
            if (isEscaped) isEscaped = false;
            else if (byte === backslash) isEscaped = true;
            else if (byte === quote) isInString = false;
          } else if (byte === quote) isInString = true;
          else if (byte === comma) found.values += 1;
          else if (byte === openArray || byte === openObject) open(byte);
          else if ((byte === closeArray || byte === closeObject) && depth > 0) depth -= 1;
        }
        previous = byte;
      }
    },
  };
}
