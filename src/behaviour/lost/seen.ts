import { isAnswered } from '../../explore/answers.ts';
import { isRecord, listTexts } from '../../base/json.ts';
import { formatCount } from '../../base/text.ts';
import type { Outcome } from '../../explore/exploration.ts';
import type { ComparedRequest } from '../bench.ts';
import { readDocument } from '../compare-values.ts';
import type { Contrasts } from './contrasts.ts';

/** A step of a session with the outcomes of all runs of the base, and of one run of the change. */
export interface SeenStep {
  request: ComparedRequest;
  bases: readonly Outcome[];
  head: Outcome;
}

/** What proves a lost effect: a session, its last step, and the answers to other sessions. */
export interface Evidence {
  seen: readonly SeenStep[];
  last: SeenStep;
  contrasts: Contrasts;
}

/** What the last answer of the base shows of the session, and that of the change does not. */
export interface LostEffect {
  what: string;
  /** Checks if a value of the base shows it. */
  isShownBy: (value: unknown) => boolean;
}

/** The texts that one call was given, by their squashed form. */
export interface Given {
  tool: string;
  texts: ReadonlyMap<string, string>;
}

/** Checks if a step may change something, and was answered on both sides. */
export function isMaking({ request, bases, head }: SeenStep): boolean {
  return request.mayMake && [...bases, head].every((outcome) => isAnswered({ outcome }));
}

/** Lists what the calls that may have changed something were given. */
export function listGiven(seen: readonly SeenStep[]): Given[] {
  return seen.filter(isMaking).flatMap((step) => readGiven(step) ?? []);
}

/** Reads what the call of a step was given; null if it is no call. */
export function readGiven({ request: { request } }: SeenStep): Given | null {
  if (request.kind !== 'tool') return null;
  const texts = [...listTexts(request.arguments)]
    .filter(({ text }) => !text.includes('{{'))
    .map(({ text }): [string, string] => [squash(text), text])
    .filter(([text]) => text.length >= shortestText);
  return { tool: request.tool, texts: new Map(texts) };
}

/** A shorter text stands in many answers by chance. */
const shortestText = 3;

/** Leaves the letters and digits of a text, so that another layout, escape or case of it is the same. */
export function squash(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Long texts are often cut in answers. */
export function shorten(text: string): string {
  return text.slice(0, Math.max(12, Math.ceil(text.length / 2)));
}

/** Checks if a squashed text is a part of any text in a value. */
export function holds(value: unknown, text: string): boolean {
  return countOf(value, text) > 0;
}

export function countOf(value: unknown, text: string): number {
  return [...listTexts(value)].reduce((sum, each) => sum + squash(each.text).split(text).length - 1, 0);
}

export const readResult = (outcome: Outcome) => (outcome.kind === 'result' ? outcome.result : null);

/** Takes a text that is a JSON object or array for that; another value stays as it is. */
export const openDocument = (value: unknown) => (typeof value === 'string' ? (readDocument(value) ?? value) : value);

/** Lists the lines of an answer and the items of its lists, with JSON in texts taken apart: an object without lists in it is one part. */
export function listParts(outcome: Outcome): string[] {
  if (outcome.kind !== 'result') return [];
  const { content, structuredContent } = outcome.result;
  // The type of a content item says nothing.
  const texts = Array.isArray(content) ? content.map((item) => (isRecord(item) ? (item['text'] ?? item) : item)) : [];
  return [...texts, structuredContent].flatMap(takeApart);
}

/** Lists the same of an answer that has it as a text and as structured content, too, once. */
export function listPartsOnce(outcome: Outcome): string[] {
  const structured = outcome.kind === 'result' ? takeApart(outcome.result['structuredContent']) : [];
  return structured.length > 0 ? structured : listParts(outcome);
}

function takeApart(value: unknown): string[] {
  const read = openDocument(value);
  if (typeof read === 'string') return read.split('\n').filter((line) => line.trim() !== '');
  if (Array.isArray(read)) return read.flatMap((item) => (isWhole(item) ? [JSON.stringify(item)] : takeApart(item)));
  if (isRecord(read)) return Object.values(read).flatMap(takeApart);
  return [];
}

/** Checks if an item has no lists, documents or lines in it. */
function isWhole(item: unknown): boolean {
  if (!isRecord(item)) return typeof item !== 'string' && !Array.isArray(item);
  return Object.values(item).every((member) => {
    const read = openDocument(member);
    return typeof read === 'string' ? !read.includes('\n') : typeof read !== 'object' || read === null;
  });
}

const longestQuote = 60;

/** Quotes a text, or shows an object as it is. */
export function quote(text: string): string {
  const whole = typeof openDocument(text) === 'string' ? JSON.stringify(text) : text;
  return whole.length <= longestQuote ? whole : `a text of ${formatCount(text.length, 'character')}`;
}
