import { isRecord, type JsonObject, listTexts } from '../../base/json.ts';
import { makeErrorAnswer, type TapedAnswer } from '../../engine/session-tape.ts';
import { type AnswerText, type AnswerView, replaceAt } from '../answer-view.ts';
import { listArgumentNames } from '../tool-schema.ts';
import { changeDigits, changeWord, cutText, swapCase } from './change-text.ts';
import { type Change, defineHarmful, defineHarmless, type AnswerOperator } from './define-operator.ts';

/** Makes an operator that replaces the texts of answers that are no errors. */
function onTexts(
  change: (text: AnswerText, view: AnswerView) => { text: string; what: string } | null,
): AnswerOperator['list'] {
  return (view) =>
    view.isError
      ? []
      : view.texts.flatMap((each, index): Change[] => {
          const changed = change(each, view);
          if (changed === null || changed.text === each.text) return [];
          return [
            { at: index === 0 ? '' : `text ${index + 1}`, what: changed.what, make: () => each.replace(changed.text) },
          ];
        });
}

/** Changes a part that is the same in each run. */
function changePart({ text, stableParts }: AnswerText, change: (part: string) => string | null): string | null {
  const [part] = stableParts;
  const changed = part === undefined ? null : change(part);
  return part === undefined || changed === null ? null : text.replace(part, () => changed);
}

/** A JPEG, PNG or sound that shows something else: one pixel. */
const otherData = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const answerOperators: readonly AnswerOperator[] = [
  defineHarmful(
    'change-answer',
    'condition',
    onTexts((text) => {
      const changed = changePart(text, (part) => changeNumber(part) ?? changeWord(part));
      return changed === null ? null : { text: changed, what: 'answer with another text' };
    }),
  ),
  defineHarmful(
    'cut-answer',
    'text',
    onTexts((text) => {
      const cut = text.stableParts[0] === undefined ? null : cutText(text.text);
      return cut === null ? null : { text: cut, what: 'cut its answer short' };
    }),
  ),
  defineHarmful(
    'recase-answer',
    'text',
    onTexts((text) => {
      const changed = changePart(text, swapCase);
      return changed === null ? null : { text: changed, what: 'swap capital and small letters of its answer' };
    }),
  ),
  defineHarmful('empty-answer', 'field', ({ kind, isError, result }) => {
    if (isError || result === null || kind === 'list' || isEmpty(result)) return [];
    return [{ at: '', what: 'answer with nothing', make: () => ({ kind: 'result', result: emptyResult(result) }) }];
  }),
  defineHarmful('replace-data', 'condition', ({ result, isError }) =>
    isError || result === null ? [] : listData(result),
  ),
  defineHarmful('set-error', 'error-flag', ({ kind, result, isError }) =>
    isError || result === null || kind !== 'tool'
      ? []
      : [
          {
            at: '',
            what: 'report a failure although it worked',
            make: () => ({ kind: 'result', result: { ...result, isError: true } }),
          },
        ],
  ),
  defineHarmful('lose-error', 'error-flag', ({ kind, result, isError, answer }) => {
    if (!isError || kind !== 'tool') return [];
    const content = [{ type: 'text', text: readMessage(answer) }];
    const kept = result === null ? { content } : { ...result, isError: false };
    return [{ at: '', what: 'say that it worked although it failed', make: () => ({ kind: 'result', result: kept }) }];
  }),
  defineHarmful('other-error', 'condition', ({ kind, result, isError, answer }) => {
    if (!isError || kind === 'list') return [];
    const code = readCode(answer);
    const text = 'Something went wrong';
    const make = (): TapedAnswer =>
      result === null
        ? makeErrorAnswer(code ?? -32_603, text)
        : { kind: 'result', result: { ...result, content: [{ type: 'text', text }] } };
    return [{ at: '', what: 'fail without saying why', make }];
  }),
  defineHarmful('refuse', 'error-flag', ({ isError }) =>
    isError
      ? []
      : [{ at: '', what: 'answer with a protocol error', make: () => makeErrorAnswer(-32_603, 'Internal error') }],
  ),
  defineHarmless('reword-error', 'text', (view) => {
    if (!view.isError) return [];
    const reworded = rewordError(view);
    return reworded === null ? [] : [{ at: '', what: 'rewords its error', make: () => reworded }];
  }),
  defineHarmless(
    'reword-answer',
    'text',
    onTexts(({ text, replace: _replace }, { request }) => {
      if (!isSentence(text) || [...listTexts(request.params)].some((each) => each.text.includes(text))) return null;
      return { text: `Done. ${text}`, what: 'puts words before its answer' };
    }),
  ),
  defineHarmless(
    'other-moment',
    'text',
    onTexts(({ text, stableParts }, { workspace }) => {
      if (stableParts.join('').length === text.length || stableParts[0] === text) return null;
      const kept = new Set(stableParts);
      const changed = splitKeeping(text, [...kept])
        .map((part) => (kept.has(part) ? part : changeDigits(part, workspace)))
        .join('');
      return { text: changed, what: 'answers with another time or id' };
    }),
  ),
];

const isSentence = (text: string) => /^[A-Z][^\n]{4,200}[.!]$/.test(text) && /\d/.test(text);

function changeNumber(text: string): string | null {
  const found = [...text.matchAll(/\d+/g)].at(-1);
  if (found === undefined) return null;
  const other = String(BigInt(found[0]) + 1n);
  return `${text.slice(0, found.index)}${other}${text.slice(found.index + found[0].length)}`;
}

function isEmpty(result: JsonObject): boolean {
  const parts = [result['content'], result['contents'], result['messages']].find(Array.isArray);
  return parts === undefined || parts.length === 0;
}

function emptyResult(result: JsonObject): JsonObject {
  const { structuredContent: _structured, ...rest } = result;
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, /^(?:content|contents|messages)$/.test(name) ? [] : value]),
  );
}

/** Lists changes of images, sounds and binary resources. */
function listData(result: JsonObject): Change[] {
  return ['content', 'contents'].flatMap((list) => {
    const blocks: unknown = result[list];
    if (!Array.isArray(blocks)) return [];
    return blocks.flatMap((block: unknown, index): Change[] => {
      const inner = isRecord(block) && isRecord(block['resource']) ? ['resource'] : [];
      const part = isRecord(block) && isRecord(block['resource']) ? block['resource'] : block;
      const key = isRecord(part) ? ['data', 'blob'].find((name) => typeof part[name] === 'string') : undefined;
      if (key === undefined) return [];
      const type = isRecord(block) && typeof block['type'] === 'string' ? block['type'] : 'file';
      const path = [list, index, ...inner, key];
      const make = (): TapedAnswer => ({ kind: 'result', result: replaceAt(result, path, otherData) });
      return [{ at: `/${list}/${index}`, what: `return another ${type.replace('resource', 'file')}`, make }];
    });
  });
}

function readMessage(answer: TapedAnswer): string {
  if (answer.kind === 'error') return answer.error instanceof Error ? answer.error.message : 'failed';
  const texts = [...listTexts(isRecord(answer.result) ? answer.result['content'] : [])];
  return texts.find(({ path }) => path.at(-1) === 'text')?.text ?? '';
}

/** Keeps what a caller needs of an error: its code, and the arguments that it names. */
function rewordError({ answer, request, result, kind, tool }: AnswerView): TapedAnswer | null {
  const message = readMessage(answer);
  const code = readCode(answer);
  const args = isRecord(request.params) && isRecord(request.params['arguments']) ? request.params['arguments'] : {};
  // Without a name or a code, nothing of the message would stay.
  const words = new Set(message.match(/[\w-]+/g));
  const declared = tool === null ? [] : listArgumentNames(tool.inputSchema).filter((each) => words.has(each));
  const known = new Set(
    [...declared, ...Object.keys(args), ...[...listTexts(args)].map(({ text }) => text)].filter(Boolean),
  );
  const kept = [
    ...[...known].filter((word) => message.includes(word)),
    ...(message.match(/\bE[A-Z]{3,}\b|-32\d{3}|\b\d{3}\b/g) ?? []),
  ];
  if (kept.length === 0) return null;
  const text = `The request was refused: ${[...new Set(kept)].join(', ')}`;
  if (answer.kind === 'error') return code === null ? null : makeErrorAnswer(code, text);
  if (kind !== 'tool' || result === null) return null;
  return { kind: 'result', result: { ...result, content: [{ type: 'text', text }] } };
}

function readCode(answer: TapedAnswer): number | null {
  const error: unknown = answer.kind === 'error' ? answer.error : null;
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;
}

/** Splits a text at parts, and keeps them. */
function splitKeeping(text: string, parts: readonly string[]): string[] {
  const [part, ...rest] = parts;
  if (part === undefined) return [text];
  const at = text.indexOf(part);
  if (at === -1) return splitKeeping(text, rest);
  return [...splitKeeping(text.slice(0, at), rest), part, ...splitKeeping(text.slice(at + part.length), rest)];
}
