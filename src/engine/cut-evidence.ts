import { endSentence } from '../base/text.ts';
import type { ApiType, Check, CheckByType, ToolResultType } from '../model/assertion.ts';
import type { CheckState } from '../model/trace.ts';
import type { Evidence, Judgement } from './evidence.ts';

/** A judgement that no continuation of the transcript changes. */
type FinalStates = 'none' | 'passed' | 'failed' | 'both';

/** The final states of a kind, or how they follow from the transcript before the cut. */
type Finality<Type extends Check['type']> =
  | FinalStates
  | ((fields: CheckByType[Type], evidence: Evidence) => FinalStates);

type Finalities<Types extends Check['type']> = { readonly [Type in Types]: Finality<Type> };

const ofApi: Finalities<ApiType> = {
  toolCalledWith: 'passed',
  toolCalledAtLeastOnce: 'passed',
  toolNeverCalled: 'failed',
  firstToolWas: (_, { toolCalls }) => (toolCalls.length > 0 ? 'both' : 'none'),
  responseContains: 'none',
  responseMatches: 'none',
  noToolErrors: 'failed',
  finalAssistantMessageNonEmpty: 'none',
  // Tokens that were not measured yet may be later.
  tokenBudgetUnder: (_, { tokensUsed }) => (tokensUsed === null ? 'none' : 'failed'),
  turnCountUnder: 'failed',
  widgetRendered: 'failed',
  widgetRenderLatencyUnder: 'failed',
  widgetNoConsoleErrors: 'failed',
};

/** The latest result may be another one in the end. */
const ofToolResults: Finalities<ToolResultType> = {
  toolResultContains: 'none',
  toolResultMatches: 'none',
  toolResultEquals: 'none',
  toolResultSchema: 'none',
  toolResultIsError: 'none',
  toolLatencyUnder: 'none',
  toolNotFound: 'none',
};

const finalities: Finalities<Check['type']> = { ...ofApi, ...ofToolResults };

/**
 * Takes back a judgement of a transcript that was cut, unless it would be the same however the transcript went on.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties the entry of the table to the fields
export function limitToFinal<Type extends Check['type']>(
  judgement: Judgement,
  { type, fields, evidence }: { type: Type; fields: CheckByType[Type]; evidence: Evidence },
): Judgement {
  if (evidence.isCut === null) return judgement;
  const finality: Finality<Type> = finalities[type];
  const final = typeof finality === 'function' ? finality(fields, evidence) : finality;
  return isFinal(judgement.state, final)
    ? judgement
    : { state: 'unmeasured', reason: `not measured: ${endSentence(evidence.isCut)}` };
}

function isFinal(state: CheckState, final: FinalStates): boolean {
  return final === 'both' || state === final;
}
