import type { CreateMessageRequestParams, ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { RE2JS } from 're2js';
import { describeError, ModelError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type { ClientAbilities, Lack } from '../mcp/abilities.ts';
import {
  type Ability,
  type Answer,
  type AnswerCondition,
  type ClientOffer,
  type ClientRequest,
  type ElicitationAnswer,
  listOffered,
  offerExamples,
  type SamplingAnswer,
  type UsedAnswer,
} from '../model/client-abilities.ts';
import { beginClientRequest, type ClientRequestRecord } from './client-requests.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import { readSamplingText, type SampleModel, toSamplingResult } from './sampling.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { Transcript } from './transcript.ts';
import type { CaseValues } from './values.ts';

/** The client of one iteration, with its answers and the requests that it could not answer. */
export interface ClientScript {
  readonly abilities: ClientAbilities;
  /** Aborts when a request has no answer, so that no call waits for it. */
  readonly signal: AbortSignal;
  /**
   * Returns how the step ends in which a request had no answer; null if every request had one. Returns it only once: the transcript is cut
   * there, so later steps see the cut.
   */
  takeEnd(): StepOutcome | null;
  /** The capability that a failed call needed and the case does not offer, with the remedy; null if there is none. */
  readonly lack: string | null;
  /** The capability that a successful call asked for and the case does not offer; null if there is none. */
  readonly unmetWish: string | null;
  /** Called at the end of each step. A capability that the step's call asked for counts as lacking only if one of its requests failed. */
  settleStep(hasFailed: boolean): void;
  readonly used: readonly UsedAnswer[];
}

interface ScriptParts {
  transcript: Transcript;
  /** Fills placeholders in answers with the values captured so far. */
  values: Pick<CaseValues, 'fillAnswer'>;
  /** Null if the case has no model. */
  sampleModel: SampleModel | null;
  /** Returns the outcome of a step whose model gave no answer. */
  explainNoAnswer: (error: ModelError) => StepOutcome;
}

/** Creates the client that gives the scripted answers of an offer, starting with the first one. */
export function createClientScript(offer: ClientOffer, parts: ScriptParts): ClientScript {
  const { transcript, values, sampleModel, explainNoAnswer } = parts;
  const abort = new AbortController();
  const used: UsedAnswer[] = [];
  let end: StepOutcome | null = null;
  let lack: string | null = null;
  let asked: Lack | null = null;
  let unmetWish: string | null = null;
  const giveUp = (outcome: StepOutcome): never => {
    end ??= outcome;
    const error = new Error(outcome.reason ?? 'The request has no answer.');
    abort.abort(error);
    throw error;
  };
  const miss = (reason: string): never => {
    const clipped = clipReason(reason);
    transcript.cut(clipped);
    return giveUp({ status: 'skipped', reason: clipped, effect: 'continue' });
  };
  const refuse = (record: ClientRequestRecord, reason: string): never => {
    record.abandon();
    return miss(reason);
  };
  /** Fills the placeholders of an answer just before it is given. */
  const fill = <Part extends Answer>(
    part: Part,
    record: ClientRequestRecord,
    { ability, message }: ClientRequest,
  ): Part => {
    const { filled, reason } = values.fillAnswer(part);
    const asked = message === '' ? ability : `${ability}, ${printValue(message)},`;
    const problem = reason ?? findUnfitField(filled);
    return problem === null ? filled : refuse(record, `The request for ${asked} has no answer: ${problem}.`);
  };
  const { elicitation, sampling, roots } = offer;
  for (const ability of listOffered(offer)) transcript.clientRequests[ability] = [];
  const createList = <Answer extends ElicitationAnswer | SamplingAnswer>(
    ability: Ability,
    answers: readonly Answer[],
  ) => createAnswerList(answers, { values, onUse: (index) => used.push({ ability, index }) });
  const elicited = createList('elicitation', elicitation ?? []);
  const sampled = createList('sampling', sampling === 'model' ? [] : (sampling ?? []));
  const elicit = async (params: ElicitRequestParams): Promise<ElicitResult> => {
    const request = readElicitation(params);
    const record = beginClientRequest(transcript, request, params);
    const answer = elicited.take(request) ?? refuse(record, describeUnanswered(request, elicited.length));
    const result = toElicitResult(fill(answer, record, request));
    if (request.mode === 'url' && result.content !== undefined) {
      const advice = 'Write `accept` without fields for it.';
      refuse(record, `The server asked the user to open a URL, and the next answer fills in a form. ${advice}`);
    }
    record.complete(result);
    return result;
  };
  const sample = async (params: CreateMessageRequestParams) => {
    const message = readSamplingText(params);
    const request: ClientRequest = { ability: 'sampling', message, mode: null, fields: [] };
    const record = beginClientRequest(transcript, request, params);
    if (sampling !== 'model') {
      const answer = sampled.take(request) ?? refuse(record, describeUnanswered(request, sampled.length));
      const result = toSamplingResult(fill(answer, record, request));
      record.complete(result);
      return result;
    }
    if (sampleModel === null) {
      return refuse(record, '`sampling: model` needs a model, and none is configured here.');
    }
    used.push({ ability: 'sampling', index: 0 });
    try {
      const result = await sampleModel(params, record.origin);
      record.complete(result);
      return result;
    } catch (error) {
      if (error instanceof ModelError) {
        record.abandon();
        return giveUp(explainNoAnswer(error));
      }
      return refuse(record, `The request for sampling could not be given to the model: ${describeError(error)}`);
    }
  };
  const listRoots = async () => {
    const request: ClientRequest = { ability: 'roots', message: '', mode: null, fields: [] };
    const record = beginClientRequest(transcript, request, {});
    const listed = (roots ?? []).map((root, index) => {
      used.push({ ability: 'roots', index });
      const filled = fill(root, record, request);
      return typeof filled === 'string' ? { uri: filled } : filled;
    });
    record.complete({ roots: listed });
    return listed;
  };
  return {
    abilities: {
      ...(elicitation !== undefined && { elicitation: elicit }),
      ...(sampling !== undefined && { sampling: sample }),
      ...(roots !== undefined && { roots: listRoots }),
      onLack: (needed) => {
        // A request between two steps does not belong to a call.
        if (transcript.currentStep !== null) asked ??= needed;
      },
    },
    signal: abort.signal,
    takeEnd: () => {
      const taken = end;
      end = null;
      return taken;
    },
    get lack() {
      return lack;
    },
    get unmetWish() {
      return unmetWish;
    },
    settleStep: (hasFailed) => {
      if (asked === null) return;
      if (hasFailed) lack ??= describeLack(asked, transcript);
      else unmetWish ??= describeWish(asked);
      asked = null;
    },
    used,
  };
}

/** Returns the answers of a script in order. An answer with a condition is used for each request that matches it. */
interface AnswerList<Answer> {
  readonly length: number;
  /** Undefined if no answer is left. */
  take(request: ClientRequest): Answer | undefined;
}

function createAnswerList<Answer extends ElicitationAnswer | SamplingAnswer>(
  answers: readonly Answer[],
  { values, onUse }: { values: Pick<CaseValues, 'fillAnswer'>; onUse: (index: number) => void },
): AnswerList<Answer> {
  const used = new Set<number>();
  const take = (index: number | undefined) => {
    if (index === undefined) return undefined;
    used.add(index);
    onUse(index);
    return answers[index];
  };
  return {
    length: answers.length,
    take: (request) => {
      const fitting = [...answers.entries()].flatMap(([index, answer]) => {
        const condition = readCondition(answer);
        if (condition === undefined) return [];
        const { filled, reason } = values.fillAnswer(condition);
        return reason === null && fits(request, filled) ? index : [];
      });
      // If several answers match, uses each once, in order; the last one answers all later requests.
      const next = fitting.find((index) => !used.has(index)) ?? fitting.at(-1);
      if (next !== undefined) return take(next);
      return take(
        [...answers.entries()].find(([index, answer]) => readCondition(answer) === undefined && !used.has(index))?.[0],
      );
    },
  };
}

function readCondition(answer: ElicitationAnswer | SamplingAnswer): AnswerCondition | undefined {
  return typeof answer === 'string' ? undefined : answer.when;
}

function fits(request: ClientRequest, { message, pattern, schema }: AnswerCondition): boolean {
  if (message !== undefined && !request.message.includes(message)) return false;
  if (pattern !== undefined && !RE2JS.compile(pattern).matcher(request.message).find()) return false;
  return schema === undefined || schema.every((field) => request.fields.includes(field));
}

/** Names a form field whose value a form cannot hold, for example because it was captured; null if all fields fit. */
function findUnfitField(answer: Answer): string | null {
  if (typeof answer === 'string' || !('accept' in answer) || answer.accept === true) return null;
  const unfit = Object.entries<unknown>(answer.accept).find(([, value]) => !isFormValue(value));
  return unfit === undefined
    ? null
    : `its field \`${unfit[0]}\` would be ${printValue(unfit[1])}, and a form takes texts, numbers, booleans and lists of texts`;
}

function isFormValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function readElicitation(params: ElicitRequestParams): ClientRequest {
  const { message } = params;
  const schema: unknown = 'requestedSchema' in params ? params.requestedSchema : undefined;
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const mode = params.mode === 'url' ? 'url' : 'form';
  return { ability: 'elicitation', message, mode, fields: Object.keys(properties) };
}

function toElicitResult(answer: ElicitationAnswer): ElicitResult {
  if (typeof answer === 'string') return { action: answer };
  if ('decline' in answer) return { action: 'decline' };
  if ('cancel' in answer) return { action: 'cancel' };
  const { accept } = answer;
  return accept === true ? { action: 'accept' } : { action: 'accept', content: { ...accept } };
}

/** Describes a request without an answer, the number of scripted answers, and the answer to add. */
function describeUnanswered({ ability, message, mode, fields }: ClientRequest, count: number): string {
  const of = fields.length === 0 ? '' : ` (fields: ${fields.join(', ')})`;
  const what = ability === 'sampling' ? 'sampling' : mode === 'url' ? 'a URL to be opened' : 'elicitation';
  const answers =
    count === 0
      ? 'it has no answer'
      : count === 1
        ? 'its only answer is used or does not fit'
        : `none of its ${count} answers is left and fits`;
  const example =
    ability === 'sampling' ? '{ text: … }' : mode === 'url' ? 'accept' : `{ accept: { ${fields[0] ?? '…'}: … } }`;
  return `The server asked for ${what}${of}: ${printValue(message)}, and ${answers}. Add an answer to \`client.${ability}\`, such as \`${example}\`.`;
}

function describeLack({ ability, name }: Lack, { toolCalls, currentStep }: Transcript): string {
  const tool = toolCalls.at(-1)?.toolName;
  const subject = currentStep?.step.kind === 'toolCall' || tool !== undefined ? (tool ?? 'The call') : 'The step';
  return ability === null
    ? `${subject} needs the client capability \`${name}\`, which the gate's client does not have.`
    : `${subject} needs ${describeAbility(ability)}. Add ${offerExamples[ability]} to the case or the suite.`;
}

function describeWish({ ability, name }: Lack): string {
  const offer =
    ability === null ? '' : ` If the answer depends on it, add ${offerExamples[ability]} to the case or the suite.`;
  return `The server asked for ${ability ?? name}, which the case does not offer.${offer}`;
}

export function describeAbility(ability: Ability): string {
  return `${ability}, which the case does not offer`;
}
