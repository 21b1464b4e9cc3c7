import { isRecord } from '../base/json.ts';
import type { CheckByType } from '../checks/assertion.ts';
import { type Evidence, fail, type Judgement, pass, type ToolResult } from './evidence.ts';
import { readDocument } from './result-documents.ts';

/** Parameters that limit the length of a page, without case and separators. */
const limitNames: ReadonlySet<string> = new Set([
  'limit',
  'pagesize',
  'perpage',
  'maxresults',
  'maxitems',
  'first',
  'top',
]);

/** Members of a result that say how to get the next page, or whether there is one, without case and separators. */
const continuationNames: ReadonlySet<string> = new Set([
  'cursor',
  'nextcursor',
  'next',
  'nextpage',
  'nextpagetoken',
  'nexttoken',
  'hasmore',
  'hasnextpage',
  'pageinfo',
  'truncated',
]);

/** Finds a page that is as long as its call allows and says nothing about a next one. There need be none, so that this is advice. */
export function judgePages({ toolName }: CheckByType['fullPageHasContinuation'], { toolResults }: Evidence): Judgement {
  const page = toolResults.find(
    (result) => (toolName === undefined || result.toolName === toolName) && isFullWithoutContinuation(result),
  );
  return page === undefined
    ? pass('every full page says whether there is another one.')
    : fail(`a full page of ${page.toolName} does not say whether there is another one.`);
}

function isFullWithoutContinuation(result: ToolResult): boolean {
  const limit = Object.entries(result.arguments ?? {}).find(([key]) => limitNames.has(simplify(key)))?.[1];
  const document = readDocument(result);
  if (typeof limit !== 'number' || limit < 1 || document === undefined) return false;
  const { value } = document;
  const members = isRecord(value) ? Object.entries(value) : [];
  const lists = [value, ...members.map(([, member]) => member)].filter(Array.isArray);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return longest === limit && !members.some(([key]) => continuationNames.has(simplify(key)));
}

function simplify(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase();
}
