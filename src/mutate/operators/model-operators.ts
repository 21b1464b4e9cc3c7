import { isRecord, tryParseJson } from '../../base/json.ts';
import type { ModelAnswer } from '../../models/language-model.ts';
import { changeWord } from './change-text.ts';
import { type Change, defineModelChange, type ModelAnswers, type ModelOperator } from './define-operator.ts';

type Part = ModelAnswer['content'][number];
type Call = Part & { type: 'tool-call' };

const isCall = (part: Part): part is Call => part.type === 'tool-call';

/** Makes an operator that replaces single calls of a model. */
function onCalls(change: (call: Call, tools: readonly string[]) => { parts: Part[]; what: string } | null) {
  return (answers: readonly ModelAnswer[], tools: readonly string[]): Array<Change<ModelAnswers>> =>
    answers.flatMap((answer, index) =>
      answer.content.flatMap((part, at): Array<Change<ModelAnswers>> => {
        const changed = isCall(part) ? change(part, tools) : null;
        if (changed === null) return [];
        const content = answer.content.toSpliced(at, 1, ...changed.parts);
        return [{ at: `/${index}/${at}`, what: changed.what, make: () => new Map([[index, { ...answer, content }]]) }];
      }),
    );
}

export const modelOperators: readonly ModelOperator[] = [
  defineModelChange(
    'other-tool',
    'condition',
    onCalls((call, tools) => {
      const other = tools.find((name) => name !== call.toolName);
      if (other === undefined) return null;
      return { parts: [{ ...call, toolName: other }], what: `call \`${other}\` instead of \`${call.toolName}\`` };
    }),
  ),
  defineModelChange(
    'other-argument',
    'condition',
    onCalls((call) => {
      const input = changeArgument(call.input);
      return input === null
        ? null
        : { parts: [{ ...call, input }], what: `call \`${call.toolName}\` with another argument` };
    }),
  ),
  defineModelChange('other-order', 'order', (answers) => {
    const calls = answers.flatMap((answer, index) =>
      answer.content.flatMap((part, at) => (isCall(part) ? [{ call: part, index, at }] : [])),
    );
    const last = calls.at(-1);
    const first = calls.find(({ call }) => call.toolName !== last?.call.toolName);
    if (first === undefined || last === undefined) return [];
    const make = (): ModelAnswers => {
      const placed = [
        { ...first, call: last.call },
        { ...last, call: first.call },
      ];
      return new Map(
        placed.map(({ index }) => {
          const answer = answers[index];
          if (answer === undefined) throw new Error('A call is part of an answer.');
          const own = placed.filter((each) => each.index === index);
          const content = own.reduce((parts, { at, call }) => parts.with(at, call), answer.content);
          return [index, { ...answer, content }] as const;
        }),
      );
    };
    return [{ at: '', what: 'make its calls in another order', make }];
  }),
  defineModelChange(
    'extra-call',
    'filter',
    onCalls((call) => ({
      parts: [call, { ...call, toolCallId: `${call.toolCallId}-again` }],
      what: `call \`${call.toolName}\` once more`,
    })),
  ),
  defineModelChange('empty-reply', 'field', (answers) => {
    const index = answers.length - 1;
    const last = answers[index];
    if (last === undefined || last.content.some(isCall) || !last.content.some(({ type }) => type === 'text')) return [];
    return [{ at: `/${index}`, what: 'reply nothing', make: () => new Map([[index, { ...last, content: [] }]]) }];
  }),
];

function changeArgument(input: string): string | null {
  const args = tryParseJson(input);
  if (!isRecord(args)) return null;
  for (const [name, value] of Object.entries(args)) {
    const other = changeScalar(value);
    if (other !== null) return JSON.stringify({ ...args, [name]: other });
  }
  return null;
}

function changeScalar(value: unknown): string | number | boolean | null {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return typeof value === 'string' ? changeWord(value) : null;
}
