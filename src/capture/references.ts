import { escapePointerToken } from '../base/json-pointer.ts';
import { isRecord, listTexts, tryParseJson } from '../base/json.ts';
import type { ExploredRequest, Outcome } from '../explore/exploration.ts';
import { rateSimilarity, splitName } from '../explore/vocabulary/names.ts';
import { writeReference } from '../explore/world/placeholders.ts';
import type { CleanStep } from './clean.ts';

/** A step of a session, by its position. Its request may refer to results of earlier ones. */
export interface LinkedStep extends CleanStep {
  index: number;
  /** The positions of the steps that it takes values from. */
  needs: readonly number[];
}

interface Known {
  index: number;
  pointer: string;
}

/** A shorter text is the same by chance. */
const shortestText = 3;

/**
 * Replaces arguments by references to the result that they come from: a text, or a number under a similar name, that no earlier request
 * had.
 */
export function linkSteps(steps: readonly CleanStep[]): LinkedStep[] {
  const known = new Map<unknown, Known>();
  const sent = new Set<unknown>();
  return steps.map((step, index) => {
    const needs = new Set<number>();
    const request = linkRequest(step.request, (value, name) => {
      const found = known.get(value);
      if (found === undefined) return value;
      if (typeof value === 'number' && rateSimilarity(splitName(name), splitName(readLast(found.pointer))) === 0)
        return value;
      needs.add(found.index);
      return writeReference(found.index, found.pointer);
    });
    for (const value of listValues(step.request)) {
      // A value that the person knew stays as it is.
      if (!known.has(value)) sent.add(value);
    }
    for (const { value, pointer } of listResult(step.outcome)) {
      if (!sent.has(value) && !known.has(value)) known.set(value, { index, pointer });
    }
    return { ...step, request, index, needs: [...needs] };
  });
}

function linkRequest(request: ExploredRequest, link: (value: unknown, name: string) => unknown): ExploredRequest {
  if (request.kind !== 'tool') return request;
  const visit = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => visit(item, name));
    if (!isRecord(value)) return link(value, name);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, visit(member, key)]));
  };
  const linked = visit(request.arguments, '');
  return isRecord(linked) ? { ...request, arguments: linked } : request;
}

function listValues(request: ExploredRequest): unknown[] {
  const values: unknown[] = [...listTexts(request)].map(({ text }) => text);
  const visit = (value: unknown): void => {
    if (typeof value === 'number') values.push(value);
    else if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isRecord(value)) for (const member of Object.values(value)) visit(member);
  };
  visit(request);
  return values;
}

/** Lists the values of a result that a case can capture: in structured content, and in text that is JSON. */
function listResult(outcome: Outcome): Array<{ value: unknown; pointer: string }> {
  if (outcome.kind !== 'result' || outcome.isError) return [];
  const { structuredContent, content } = outcome.result;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return [
    ...listLeaves(structuredContent, '/structuredContent'),
    ...blocks.flatMap((block, index) => {
      const text = isRecord(block) && typeof block['text'] === 'string' ? block['text'] : '';
      const document = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
      return listLeaves(document, `/content/${index}/text`);
    }),
  ];
}

function listLeaves(value: unknown, pointer: string): Array<{ value: unknown; pointer: string }> {
  if (Array.isArray(value)) return value.flatMap((item, index) => listLeaves(item, `${pointer}/${index}`));
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      listLeaves(member, `${pointer}/${escapePointerToken(name)}`),
    );
  }
  const isTelling = typeof value === 'string' ? value.length >= shortestText : typeof value === 'number';
  return isTelling ? [{ value, pointer }] : [];
}

const readLast = (pointer: string) => pointer.split('/').findLast((part) => !/^\d+$/.test(part)) ?? '';
