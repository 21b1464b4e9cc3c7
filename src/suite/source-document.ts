import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Pair, ParsedNode, YAMLMap } from 'yaml';
import { describeError } from '../base/errors.ts';
import type { SourceLocation } from '../cases/suite.ts';
import type { Finding } from './findings.ts';
import { describeDepth, findLimitBreach, maxDepth } from './yaml-limits.ts';

export type DocumentPath = readonly PropertyKey[];

/** A parsed evals file: its plain value, and the location of each part in the text. */
export interface SourceDocument {
  value: unknown;
  /** Locates the key at the end of `path`; if it is absent, the nearest existing parent. */
  locateKey(path: DocumentPath): SourceLocation;
  /** Locates the beginning of the value at `path`; if it is absent, the nearest existing parent. */
  locateValue(path: DocumentPath): SourceLocation;
  /** Returns the text of the value at `path`, indented as if it began its line. */
  readText(path: DocumentPath): string;
}

export interface ParsedSource {
  /** Null if the text is too broken for further checks. */
  document: SourceDocument | null;
  findings: Finding[];
}

/** Limits the size of evals files, which people write. A larger file is probably generated data. */
export const maxFileBytes = 1024 * 1024;

/**
 * Parses one YAML 1.2 document (JSON is a subset) with positions, and refuses YAML that JSON cannot represent. Never throws, whatever the
 * text. Limits on size, aliases and depth bound its time.
 */
export function parseSource(text: string, file: string): ParsedSource {
  return parseUnmarked(text.startsWith('\uFEFF') ? text.slice(1) : text, file);
}

function parseUnmarked(text: string, file: string): ParsedSource {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  const locate = (offset: number): SourceLocation => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const fail = (code: string, message: string, offset = 0): ParsedSource => ({
    document: null,
    findings: [{ ...locate(offset), code, message }],
  });
  if (Buffer.byteLength(text) > maxFileBytes) return fail('file-too-large', describeTooLarge(Buffer.byteLength(text)));
  const breach = findLimitBreach(text);
  if (breach !== undefined) return fail(breach.code, breach.message, breach.offset);
  try {
    const parsed = parseDocument(text, {
      schema: 'core',
      resolveKnownTags: false,
      merge: false,
      // `inspectNodes` checks keys instead: the parser's check is quadratic, and does not see that 1 and "1" are the same key.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    });
    if (parsed.errors.length > 0) {
      const findings = parsed.errors.map((error) => ({
        ...locate(error.pos[0]),
        ...explainSyntaxError(error.code, error.message),
      }));
      return { document: null, findings };
    }
    if (parsed.contents === null || (isScalar(parsed.contents) && parsed.contents.value === null)) {
      return fail('empty-file', 'The file is empty; write at least `suite` and `cases`');
    }
    const inspection = inspectNodes(parsed, locate);
    if (inspection.isFatal) return { document: null, findings: inspection.findings };
    const value: unknown = parsed.toJS({ maxAliasCount: 100 });
    return { document: { value, ...createLocator(parsed, text, locate) }, findings: inspection.findings };
  } catch (error) {
    // Nested aliases exceed the limit only while they are expanded.
    if (error instanceof ReferenceError) return fail('too-many-aliases', 'The aliases expand to too much');
    if (error instanceof RangeError) return fail('too-deep', describeDepth());
    return fail('yaml-syntax', describeError(error));
  }
}

export function describeTooLarge(bytes: number): string {
  return `The file has ${bytes} bytes; at most ${maxFileBytes} (1 MiB) are read, so split the suite`;
}

function explainSyntaxError(yamlCode: string, message: string): { code: string; message: string } {
  if (yamlCode === 'RESOURCE_EXHAUSTION') return { code: 'too-deep', message: describeDepth() };
  if (yamlCode !== 'MULTIPLE_DOCS') return { code: 'yaml-syntax', message };
  const advice = 'an evals file is one document, so put the other suite in a file of its own';
  return { code: 'multiple-documents', message: `A second document begins here; ${advice}` };
}

/** Finds mistakes of the YAML itself. After a fatal one, the plain value cannot be read, or not safely. */
function inspectNodes(
  parsed: Document.Parsed,
  locate: (offset: number) => SourceLocation,
): { findings: Finding[]; isFatal: boolean } {
  const findings: Finding[] = parsed.warnings.map((warning) => ({
    ...locate(warning.pos[0]),
    code: 'unknown-tag',
    message: `${warning.message}; only plain YAML 1.2 values are read`,
  }));
  let isFatal = false;
  const add = (code: string, message: string, node: unknown) => {
    findings.push({ ...locate(startOf(node) ?? 0), code, message });
  };
  const addFatal = (code: string, message: string, node: unknown) => {
    isFatal = true;
    add(code, message, node);
  };
  const anchors = new Set<string>();

  const inspectPair = (pair: Pair<ParsedNode, ParsedNode | null>, firstKeys: Map<string, unknown>) => {
    const name = nameOfKey(pair.key);
    if (name === undefined) {
      addFatal('bad-key', 'A key must be plain text', pair.key);
    } else if (name === '__proto__') {
      addFatal('reserved-key', 'The key `__proto__` is reserved and cannot be carried safely', pair.key);
    } else if (firstKeys.has(name)) {
      const first = locate(startOf(firstKeys.get(name)) ?? 0);
      add('duplicate-key', `The key \`${name}\` is already in this mapping, at line ${first.line}`, pair.key);
    } else {
      firstKeys.set(name, pair.key);
    }
    // YAML reads `{ message: Hello, world }` as two keys, although the author means one sentence.
    if (pair.value === null)
      add('no-value', `The key \`${name}\` has no value; quote text that holds a comma`, pair.key);
  };

  const inspect = (node: unknown, ancestors: readonly string[], depth: number): void => {
    if (isAlias(node)) {
      if (ancestors.includes(node.source)) addFatal('alias-cycle', `\`*${node.source}\` contains itself`, node);
      else if (!anchors.has(node.source))
        addFatal('unknown-alias', `No anchor \`&${node.source}\` stands before`, node);
    } else if (isScalar(node)) {
      if (node.anchor !== undefined) anchors.add(node.anchor);
      if (typeof node.value === 'number' && !Number.isFinite(node.value)) {
        add('bad-number', 'JSON has no such number, so no tool could be sent it', node);
      }
    } else if (depth > maxDepth) {
      if (node !== null) addFatal('too-deep', describeDepth(), node);
    } else if (isMap<ParsedNode, ParsedNode | null>(node) || isSeq<ParsedNode>(node)) {
      if (node.anchor !== undefined) anchors.add(node.anchor);
      const inner = node.anchor === undefined ? ancestors : [...ancestors, node.anchor];
      const firstKeys = new Map<string, unknown>();
      for (const item of node.items) {
        if ('key' in item) {
          inspectPair(item, firstKeys);
          inspect(item.key, inner, depth + 1);
          inspect(item.value, inner, depth + 1);
        } else {
          inspect(item, inner, depth + 1);
        }
      }
    }
  };
  inspect(parsed.contents, [], 0);
  return { findings, isFatal };
}

function createLocator(
  parsed: Document.Parsed,
  text: string,
  locate: (offset: number) => SourceLocation,
): Omit<SourceDocument, 'value'> {
  const pairsOfMap = new WeakMap<YAMLMap, Map<string, Pair>>();
  const indexPairs = (map: YAMLMap): Map<string, Pair> => {
    let pairs = pairsOfMap.get(map);
    if (pairs === undefined) {
      pairs = new Map(map.items.map((pair) => [nameOfKey(pair.key) ?? '', pair]));
      pairsOfMap.set(map, pairs);
    }
    return pairs;
  };
  /** Finds the offsets of the deepest existing key and value along `path`. */
  const walk = (path: DocumentPath) => {
    let node: unknown = parsed.contents;
    let offset = startOf(node) ?? 0;
    let keyOffset = offset;
    for (const part of path) {
      const container: unknown = isAlias(node) ? node.resolve(parsed) : node;
      if (isMap(container)) {
        const pair = indexPairs(container).get(String(part));
        if (pair === undefined) return { keyOffset: offset, offset, node };
        keyOffset = startOf(pair.key) ?? offset;
        node = pair.value;
        // Locates a missing value ("key:") by its key, because the parser puts it after the line break.
        offset = isScalar(node) && node.source === '' ? keyOffset : (startOf(node) ?? keyOffset);
      } else if (isSeq(container) && container.items[Number(part)] !== undefined) {
        node = container.items[Number(part)];
        offset = startOf(node) ?? offset;
        keyOffset = offset;
      } else {
        return { keyOffset: offset, offset, node };
      }
    }
    return { keyOffset, offset, node };
  };
  return {
    locateKey: (path) => locate(walk(path).keyOffset),
    locateValue: (path) => locate(walk(path).offset),
    readText: (path) => {
      const { offset, node } = walk(path);
      const indentation = new RegExp(`^ {1,${Math.max(1, locate(offset).column - 1)}}`);
      const [first = '', ...others] = text
        .slice(offset, endOf(node) ?? offset)
        .trimEnd()
        .split(/\r?\n/);
      return [first, ...others.map((line) => line.replace(indentation, ''))].join('\n');
    },
  };
}

function nameOfKey(key: unknown): string | undefined {
  const value: unknown = isScalar(key) ? key.value : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

function endOf(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[1] : undefined;
}

function startOf(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined;
}
