import { isTooDeep, tryParseJson } from '../base/json.ts';
import type { ToolResult } from './evidence.ts';

/** The result as a JSON document: its structuredContent, else its text where that parses. */
export function readDocument({
  structuredContent,
  text,
}: Pick<ToolResult, 'structuredContent' | 'text'>): { value: unknown } | undefined {
  if (structuredContent !== undefined) return { value: structuredContent };
  const value = tryParseJson(text);
  return value === undefined || isTooDeep(value) ? undefined : { value };
}
