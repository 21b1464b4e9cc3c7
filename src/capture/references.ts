import { escapePointerToken } from '../base/json-pointer.ts';
import { isRecord, listTexts, tryParseJson } from '../base/json.ts';
import type { Capture } from '../checks/captures.ts';
import type { Outcome } from '../explore/exploration.ts';
import type { ExploredRequest } from '../model/explored-request.ts';
import { rateSimilarity, splitName } from '../explore/vocabulary/names.ts';
import { findIdentifiers } from '../explore/vocabulary/identifiers.ts';
import { type Reference, writeReference } from '../explore/world/placeholders.ts';
import type { CleanStep } from './clean.ts';

/** A step of a session, by its position. Its request may refer to results of earlier ones. */
export interface LinkedStep extends CleanStep {
  index: number;
  /** The positions of the steps that it takes values from. */
  needs: readonly number[];
}

/** A shorter text is the same by chance. */
const shortestText = 3;

/**
 * Replaces arguments by references to the result that they come from: a text, or a number under a similar name, that no earlier request
 * had.
 */
export function linkSteps(steps: readonly CleanStep[]): LinkedStep[] {
  const known = new Map<unknown, Reference & { name: string }>();
  const sent = new Set<unknown>();
  return steps.map((step, index) => {
    const needs = new Set<number>();
    const request = linkRequest(step.request, (value, name) => {
      const found = known.get(value);
      if (found === undefined) return value;
      if (typeof value === 'number' && rateSimilarity(splitName(name), splitName(found.name)) === 0) return value;
      needs.add(found.step);
      return writeReference(found);
    });
    for (const value of listValues(step.request)) {
      // A value that the person knew stays as it is.
      if (!known.has(value)) sent.add(value);
    }
    for (const { value, name, capture } of listResult(step.outcome)) {
      if (!sent.has(value) && !known.has(value)) known.set(value, { step: index, name, capture });
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

/** A value of a result that a case can capture. */
interface Capturable {
  value: unknown;
  name: string;
  capture: Capture;
}

/** Lists the values of a result that a case can capture: in structured content, in text that is JSON, and the ids in another text. */
function listResult(outcome: Outcome): Capturable[] {
  if (outcome.kind !== 'result' || outcome.isError) return [];
  const { structuredContent, content } = outcome.result;
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return [
    ...listLeaves(structuredContent, '/structuredContent'),
    ...blocks.flatMap((block, index) => {
      const text = isRecord(block) && typeof block['text'] === 'string' ? block['text'] : '';
      const document = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
      const path = `/content/${index}/text`;
      if (document !== undefined) return listLeaves(document, path);
      return findIdentifiers(text)
        .filter(({ value }) => typeof value === 'string')
        .map(({ value, words, pattern }) => ({ value, name: words.join(' '), capture: { path, matches: pattern } }));
    }),
  ];
}

function listLeaves(value: unknown, pointer: string): Capturable[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => listLeaves(item, `${pointer}/${index}`));
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      listLeaves(member, `${pointer}/${escapePointerToken(name)}`),
    );
  }
  const isTelling = typeof value === 'string' ? value.length >= shortestText : typeof value === 'number';
  return isTelling ? [{ value, name: readLast(pointer), capture: pointer }] : [];
}

const readLast = (pointer: string) => pointer.split('/').findLast((part) => !/^\d+$/.test(part)) ?? '';
