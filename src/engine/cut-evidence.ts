import { endSentence, readFirstLine } from '../base/text.ts';
import type {
  ApiType,
  AppType,
  Check,
  CheckByType,
  ClientType,
  JudgedType,
  ObservationType,
  ProviderType,
  ReplyType,
  ReportedType,
  ToolResultType,
} from '../checks/assertion.ts';
import type { CheckState } from '../model/trace.ts';
import { type Evidence, type Judgement, leaveUnmeasured } from './evidence.ts';

/** The states that no continuation of the transcript changes. */
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
  // Once the earlier tool was called, every later call of the other has it before it.
  toolCalledBefore: ({ toolName }, { toolCalls }) =>
    toolCalls.some((call) => call.toolName === toolName) ? 'both' : 'failed',
  toolCallCountUnder: 'failed',
  onlyToolsCalled: 'failed',
  argumentsMatchToolSchema: 'failed',
  noDestructiveToolCalled: 'failed',
  noToolErrors: 'failed',
  toolResultSizeUnder: 'failed',
  responseContains: 'none',
  responseMatches: 'none',
  responseCloseTo: 'none',
  finalAssistantMessageNonEmpty: 'none',
  // Tokens that were not measured yet may be later.
  tokenBudgetUnder: (_, { tokensUsed }) => (tokensUsed === null ? 'none' : 'failed'),
  turnCountUnder: 'failed',
  widgetRendered: 'none',
  widgetRenderLatencyUnder: 'none',
  widgetNoConsoleErrors: 'none',
};

const ofObservations: Finalities<ObservationType> = {
  noEndingQuestion: 'none',
  noRepeatedIdenticalCall: 'failed',
  noDeprecatedToolCalled: 'failed',
  toolErrorNamesInput: 'failed',
  fullPageHasContinuation: 'failed',
};

/** The latest result may be another one in the end; a result that is one of all stays that. */
const ofToolResults: Finalities<ToolResultType> = {
  toolResultContains: ({ latest = false }) => (latest ? 'none' : 'passed'),
  toolResultMatches: ({ latest = false }) => (latest ? 'none' : 'passed'),
  // It fails, too, as long as there is no result.
  toolResultMatchesSchema: ({ latest = false, toolName }, { toolResults }) =>
    !latest && toolResults.some((result) => toolName === undefined || result.toolName === toolName) ? 'failed' : 'none',
  toolLatencyUnder: ({ latest = false }) => (latest ? 'none' : 'failed'),
  toolResultEquals: 'none',
  toolResultIsError: 'none',
  toolResultContent: 'none',
  toolError: 'none',
  toMatchFile: 'none',
  toolNotFound: 'none',
};

/** All of them judge the latest. */
const ofReplies: Finalities<ReplyType> = {
  resourceContains: 'none',
  promptContains: 'none',
  completionContains: 'none',
  resourceMatches: 'none',
  promptMatches: 'none',
  resourceEquals: 'none',
  promptEquals: 'none',
  completionEquals: 'none',
  resourceMatchesSchema: 'none',
  promptMatchesSchema: 'none',
  resourceMimeType: 'none',
  requestError: 'none',
};
/** A report stays one of all; later ones can still break the order of the progress. */
const ofReports: Finalities<ReportedType> = { progressReported: 'none', logged: 'passed', listChanged: 'passed' };
const ofClient: Finalities<ClientType> = { elicitationRequested: 'passed', samplingRequested: 'passed' };

/** The latest answer may be another one in the end. */
const ofProvider: Finalities<ProviderType> = { modelRefused: 'none' };

/** It asks the server itself, whatever a model would have done. */
const ofApps: Finalities<AppType> = { appResourceValid: 'both' };

/** A judge sees the whole conversation, or it judges another one. */
const ofJudges: Finalities<JudgedType> = { judge: 'none' };

/** These put together what is final already. */
const finalities: Finalities<Check['type']> = {
  ...ofApi,
  ...ofObservations,
  ...ofToolResults,
  ...ofReplies,
  ...ofReports,
  ...ofApps,
  ...ofClient,
  ...ofProvider,
  ...ofJudges,
  not: 'both',
  anyOf: 'both',
  allOf: 'both',
};

/** Takes back a judgement of a transcript that was cut, unless it would be the same however the transcript went on. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties the entry of the table to the fields
export function limitToFinal<Type extends Check['type']>(
  judgement: Judgement,
  { type, fields, evidence }: { type: Type; fields: CheckByType[Type]; evidence: Evidence },
): Judgement {
  if (evidence.cutReason === null || judgement.failsClosed === 'malformed') return judgement;
  const finality: Finality<Type> = finalities[type];
  const final = typeof finality === 'function' ? finality(fields, evidence) : finality;
  return isFinal(judgement.state, final)
    ? judgement
    : leaveUnmeasured(`not measured: ${endSentence(readFirstLine(evidence.cutReason))}`);
}

function isFinal(state: CheckState, final: FinalStates): boolean {
  return final === 'both' || state === final;
}
