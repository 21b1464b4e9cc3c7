import { unescapePointerToken } from '../../base/json-pointer.ts';
import { RE2JS } from 're2js';
import { ConfigurationError } from '../../base/errors.ts';
import { isRecord, tryParseJson } from '../../base/json.ts';
import { findIgnoreProblem } from '../../suite/ignore-pattern.ts';
import { replaceInJsonText } from './json-text.ts';

/** Replaces content in recordings that a pattern of `ignore` excludes. */
const ignoredMark = '⟨ignored⟩';

/** The parts of tool results that may differ without making a recording stale. */
export interface IgnoreRules {
  /** Unescaped segments. `*` matches any segment. */
  pointers: readonly (readonly string[])[];
  patterns: readonly RE2JS[];
}

export const ignoreNothing: IgnoreRules = { pointers: [], patterns: [] };

/**
 * Compiles the patterns of `ignore`.
 *
 * @throws {ConfigurationError} if one is invalid; the reader of the evals file has already reported it with its location
 */
export function compileIgnore(patterns: readonly string[]): IgnoreRules {
  const problems = patterns.map(findIgnoreProblem).filter((problem) => problem !== null);
  if (problems.length > 0) {
    throw new ConfigurationError(problems.map((message) => ({ code: 'bad-ignore', message })));
  }
  const [pointers, expressions] = [true, false].map((isPointer) =>
    patterns.filter((pattern) => pattern.startsWith('/') === isPointer),
  );
  return {
    pointers: (pointers ?? []).map((pointer) => pointer.split('/').slice(1).map(unescapePointerToken)),
    patterns: (expressions ?? []).map((expression) => RE2JS.compile(expression)),
  };
}

/**
 * Replaces content that the rules exclude in the output of a tool-result part. Pointers apply to structured content, and to texts and
 * lines that are JSON; the rest of such a text, including white space and digits, is unchanged. Regular expressions apply to every text.
 */
export function ignoreInOutput(output: unknown, rules: IgnoreRules): unknown {
  if (!isRecord(output) || (rules.pointers.length === 0 && rules.patterns.length === 0)) return output;
  const { type, value } = output;
  if (type === 'content' && Array.isArray(value)) return { ...output, value: ignoreInBlocks(value, rules) };
  return value === undefined ? output : { ...output, value: ignoreInValue(value, rules) };
}

/** Handles a text, a tool result in the form of MCP, or any other JSON. */
function ignoreInValue(value: unknown, rules: IgnoreRules): unknown {
  if (typeof value === 'string') return ignoreInText(value, rules);
  if (!isRecord(value) || !Array.isArray(value['content'])) return ignoreInDocument(value, rules);
  const { content, structuredContent, ...rest } = value;
  return {
    ...rest,
    content: ignoreInBlocks(content, rules),
    ...(structuredContent === undefined ? {} : { structuredContent: ignoreInDocument(structuredContent, rules) }),
  };
}

function isTextBlock(value: unknown): value is { type: 'text'; text: string } {
  return isRecord(value) && value['type'] === 'text' && typeof value['text'] === 'string';
}

function ignoreInBlocks(blocks: readonly unknown[], rules: IgnoreRules): unknown[] {
  return blocks.map((block) => {
    if (isTextBlock(block)) return { ...block, text: ignoreInText(block.text, rules) };
    const resource = isRecord(block) ? block['resource'] : undefined;
    if (!isRecord(block) || !isRecord(resource) || typeof resource['text'] !== 'string') return block;
    return { ...block, resource: { ...resource, text: ignoreInText(resource['text'], rules) } };
  });
}

function ignoreInText(text: string, { pointers, patterns }: IgnoreRules): string {
  if (pointers.length === 0) return applyPatterns(text, patterns);
  const isDocument = (part: string) => /^\s*[[{]/.test(part) && tryParseJson(part) !== undefined;
  const replace = (part: string) => replaceInJsonText(part, pointers, JSON.stringify(ignoredMark));
  // A model gets the texts of a result as one text, separated by line breaks.
  const parts = isDocument(text) ? [text] : text.split('\n');
  return applyPatterns(parts.map((part) => (isDocument(part) ? replace(part) : part)).join('\n'), patterns);
}

/** Replaces content that the rules exclude in a JSON document or in a text. */
export function ignoreInDocument(document: unknown, { pointers, patterns }: IgnoreRules): unknown {
  const pointed = pointers.reduce((value, segments) => replaceMember(value, segments), document);
  return patterns.length === 0 ? pointed : applyToTexts(pointed, patterns);
}

function replaceMember(value: unknown, [segment, ...rest]: readonly string[]): unknown {
  if (segment === undefined) return ignoredMark;
  const replace = (key: string, member: unknown) =>
    segment === '*' || segment === key ? replaceMember(member, rest) : member;
  if (Array.isArray(value)) return value.map((item, index) => replace(String(index), item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(key, member)]));
}

function applyToTexts(value: unknown, patterns: readonly RE2JS[]): unknown {
  if (typeof value === 'string') return applyPatterns(value, patterns);
  if (Array.isArray(value)) return value.map((item) => applyToTexts(item, patterns));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, applyToTexts(member, patterns)]));
}

function applyPatterns(text: string, patterns: readonly RE2JS[]): string {
  return patterns.reduce((each, pattern) => pattern.matcher(each).replaceAll(ignoredMark), text);
}
