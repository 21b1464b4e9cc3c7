import { isJsonEqual, isRecord, type JsonObject, listTexts, tryParseJson } from '../../base/json.ts';
import type { Outcome } from '../exploration.ts';
import { maskForms } from './forms.ts';
import { mapTexts } from '../../workspace/placeholders.ts';

/** Reads the texts of a result, joined; empty for other outcomes without a message. */
export function readOutcomeText(outcome: Outcome): string {
  if (outcome.kind === 'error' || outcome.kind === 'malformed') return outcome.message;
  return outcome.kind === 'result' ? readResultTexts(outcome.result).join('\n') : '';
}

/** The codes that set colours in a terminal. */
const terminalCode = /\p{Cc}\[[\d;]*m/gu;

/** Reads what a refusal says: the texts of its structured content, if they are others, and those of its content, which may be a document. */
export function readRefusal(outcome: Outcome): string {
  const whole = readOutcomeText(outcome);
  const document = tryParseJson(whole);
  const text = isRecord(document) ? [...listTexts(document)].map((each) => each.text).join('\n') : whole;
  const structured = outcome.kind === 'result' ? [...listTexts(outcome.result['structuredContent'])] : [];
  const others = new Set(structured.map((each) => each.text).filter((each) => !text.includes(each)));
  return [...others, text].join('\n').replaceAll(terminalCode, '');
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

/** Checks if the structured content of a result only repeats its content, as some frameworks write it. */
export function repeatsContent(result: JsonObject): boolean {
  const { structuredContent, content } = result;
  const values = isRecord(structuredContent) ? Object.values(structuredContent) : [];
  return values.length === 1 && (values[0] === readResultTexts(result)[0] || isJsonEqual(values[0], content));
}

/** Prints an outcome so that two of them are equal if they differ only in times, ids and other volatile forms. */
export function printMasked(outcome: Outcome): string {
  return JSON.stringify(mapTexts(outcome, maskForms));
}
