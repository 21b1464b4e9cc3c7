import { isRecord, type JsonObject } from '../base/json.ts';
import { clipText, putOnOneLine } from '../base/text.ts';
import type { CaseSubjects } from '../suite/add-cases.ts';
import { createTaker, deriveSlug } from '../suite/case-ids.ts';
import { readSuite } from '../suite/read.ts';
import type { AddedCase } from '../suite/add-cases.ts';
import type { Survey, SurveyedTool, Trial } from './survey.ts';

/** A case that init writes, to run or commented out with the reason. */
export interface DraftedCase {
  /** The subject of the case, such as `tool get-sum`. */
  subject: string;
  /** The case in the form of an evals file. */
  content: JsonObject;
  /** The reason why it is commented out; null for a case that runs. */
  reason: string | null;
  /** A note for the reader about a case that runs. */
  note: string | null;
}

/** Keeps an evals file readable, at the format's limit of 16 KiB. */
const maxSchemaBytes = 16 * 1024;

/** Returns a drafted case as it is written: with its reason, or its note, as a comment. */
export function toAddedCase({ content, reason, note }: DraftedCase): AddedCase {
  const remark = reason === null ? note : `Not run: ${reason}.`.replace(/([.!?…])\.$/, '$1');
  return { content, comments: remark === null ? [] : [remark], isCommentedOut: reason !== null };
}

interface DraftOptions {
  /** Ids and requests that the evals already have. */
  known: Pick<CaseSubjects, 'ids' | 'listsTools' | 'pings'>;
  /** The model, as `provider/name`. Each tool that answered gets a prompt for it, commented out because it needs a key or a recording. */
  model: string | null;
}

/**
 * Drafts the cases of a survey: one for the list of tools, and one for each tool, resource and prompt. A case runs only if the server has
 * just answered the same request without an error. Every other case is commented out with the reason. The same survey gives the same cases.
 */
export function draftCases(survey: Survey, { known, model }: DraftOptions): DraftedCase[] {
  const takeId = createTaker(new Set(known.ids));
  const { tools, resources, prompts } = survey;
  return [
    ...draftFirst(tools === null, { known, takeId }),
    ...(tools ?? []).flatMap((tool) => [
      draftTool(tool, takeId),
      ...(model === null || tool.trial.kind !== 'answered' ? [] : [draftPrompt(tool, model, takeId)]),
    ]),
    ...resources.map(({ uri, trial }) =>
      draftRequest(`resource ${uri}`, { trial, takeId, title: `Reads ${uri}`, step: { readResource: uri } }),
    ),
    ...prompts.map(({ name, trial }) =>
      draftRequest(`prompt ${name}`, { trial, takeId, title: `Gets the prompt ${name}`, step: { getPrompt: name } }),
    ),
  ];
}

/** Drafts a case for every server: its list of tools, or a ping if it declares none. */
function draftFirst(
  hasNoTools: boolean,
  { known, takeId }: { known: DraftOptions['known']; takeId: (id: string) => string },
): DraftedCase[] {
  if (hasNoTools ? known.pings : known.listsTools) return [];
  const content = hasNoTools
    ? { id: takeId('answers'), title: 'Answers a ping', steps: [{ ping: true }] }
    : { id: takeId('lists-tools'), title: 'Lists its tools', steps: [{ listTools: true }] };
  return [{ subject: hasNoTools ? 'a ping' : 'the list of tools', content, reason: null, note: null }];
}

function draftTool({ name, outputSchema, trial }: SurveyedTool, takeId: (id: string) => string): DraftedCase {
  const id = takeId(deriveSlug(name, 'tool'));
  const call = withArguments({ toolCall: name }, trial);
  const build = (check: JsonObject): JsonObject => ({
    id,
    title: `Calls ${escapeText(name)}`,
    steps: [call, { assert: check }],
  });
  const plain = build({ toolResultIsError: false });
  const subject = `tool ${name}`;
  if (trial.kind !== 'answered') return { subject, content: plain, reason: explain(trial), note: null };
  if (outputSchema === null || !trial.hasStructuredContent) {
    return { subject, content: plain, reason: null, note: null };
  }
  const schema = Object.fromEntries(Object.entries(outputSchema).filter(([key]) => key !== '$schema'));
  const asserted = build({ toolResultMatchesSchema: escapeTexts(schema) });
  const problem = findProblem(asserted, schema);
  return problem === null
    ? { subject, content: asserted, reason: null, note: null }
    : { subject, content: plain, reason: null, note: `Its output schema is not asserted: ${problem}` };
}

/** Explains why the gate would refuse a case with this schema; null if it accepts it. */
function findProblem(content: JsonObject, schema: JsonObject): string | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) return 'it is longer than 16 KiB';
  const { findings } = readSuite(JSON.stringify({ suite: 'Draft', cases: [content] }), { file: 'draft' });
  const [first] = findings;
  return first === undefined ? null : putOnOneLine(first.message);
}

function draftRequest(
  subject: string,
  { trial, title, step, takeId }: { trial: Trial; title: string; step: JsonObject; takeId: (id: string) => string },
): DraftedCase {
  const content = {
    id: takeId(deriveSlug(subject, 'request')),
    title: escapeText(title),
    steps: [withArguments(step, trial)],
  };
  return { subject, content, reason: trial.kind === 'answered' ? null : explain(trial), note: null };
}

/** Drafts a prompt, commented out, because a person has to choose words that make the model call the tool. */
function draftPrompt({ name, description }: SurveyedTool, model: string, takeId: (id: string) => string): DraftedCase {
  const purpose = clipText(putOnOneLine(description ?? `Use ${name}`), 200);
  return {
    subject: `a prompt for ${name}`,
    content: {
      id: takeId(deriveSlug(`prompt ${name}`, 'prompt')),
      title: `A model calls ${escapeText(name)}`,
      model,
      steps: [{ prompt: escapeText(purpose) }, { assert: { toolCalledAtLeastOnce: name } }],
    },
    reason: 'the prompt is made of the description of the tool; write what a user would ask, and record the answers',
    note: null,
  };
}

function withArguments(step: JsonObject, { arguments: args }: Trial): JsonObject {
  const escaped = Object.fromEntries(Object.entries(step).map(([key, value]) => [key, escapeTexts(value)]));
  return Object.keys(args).length === 0 ? escaped : { ...escaped, arguments: escapeTexts(args) };
}

function explain(trial: Exclude<Trial, { kind: 'answered' }>): string {
  if (trial.kind === 'untried' || trial.kind === 'unsafe') return trial.reason;
  return trial.kind === 'silent'
    ? `the server gave no answer within ${trial.afterMs / 1000} s`
    : `the server refused the sampled arguments: ${putOnOneLine(trial.message)}`;
}

/** Escapes `{{`, which begins a placeholder in an evals file. */
function escapeText(text: string): string {
  return text.replaceAll('{{', String.raw`\{{`);
}

function escapeTexts(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return value.map((item) => escapeTexts(item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapeTexts(member)]));
}
