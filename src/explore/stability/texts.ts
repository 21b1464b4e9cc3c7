import { isRecord, type JsonObject } from '../../base/json.ts';
import type { Outcome } from '../exploration.ts';
import { maskForms } from './forms.ts';
import { mapTexts } from '../../workspace/placeholders.ts';

/** Reads the texts of a result, joined; empty for other outcomes without a message. */
export function readOutcomeText(outcome: Outcome): string {
  if (outcome.kind === 'error' || outcome.kind === 'malformed') return outcome.message;
  return outcome.kind === 'result' ? readResultTexts(outcome.result).join('\n') : '';
}

/** Lists the texts of the content blocks of a result, and of embedded resources. */
export function readResultTexts({ content, contents, messages }: JsonObject): string[] {
  const blocks = [content, contents, messages].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isRecord);
  return blocks.flatMap((block) => {
    if (typeof block['text'] === 'string') return [block['text']];
    const inner = isRecord(block['resource']) ? block['resource'] : block['content'];
    return isRecord(inner) && typeof inner['text'] === 'string' ? [inner['text']] : [];
  });
}

/** Prints an outcome so that two of them are equal if they differ only in times, ids and other volatile forms. */
export function printMasked(outcome: Outcome): string {
  return JSON.stringify(mapTexts(outcome, maskForms));
}
