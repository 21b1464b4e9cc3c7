import { defineCheck } from './define-check.ts';
import { judgeEquals } from './equality.ts';
import { emptyEvidence, type Evidence, type Reply, type ToolResult } from './evidence.ts';
import { type CheckContext, decide, fail, type Judgement } from './judgement.ts';
import type { CheckParts } from './parts.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';
import { onLatestResult } from './result-documents.ts';
import {
  containsFields,
  equalsFields,
  fitsFields,
  judgeContains,
  judgeError,
  judgeFits,
  judgeMatches,
  matchesFields,
} from './tool-result.ts';

const uriOf = ({ text }: CheckParts) => text.exactOptional().meta({ description: 'Judge this resource alone.' });
const nameOf = ({ text }: CheckParts) => text.exactOptional().meta({ description: 'Judge this prompt alone.' });
const argumentOf = ({ text }: CheckParts) =>
  text.exactOptional().meta({ description: 'Judge the completion of this argument alone.' });

/**
 * Checks of the answers to requests other than tool calls: the latest resource, prompt or completion. They have the same fields as the
 * checks of tool results; only the field that selects the answer has another name. They fail if there was no such request. Traces do not
 * contain these answers.
 */
export const replyChecks = [
  defineCheck({
    name: 'resourceContains',
    docs: 'the text of the resource contains this text',
    schema: (parts) => ({ ...containsFields(parts), uri: uriOf(parts) }),
    sample: { needle: 'a', uri: 'b' },
    judge: onLatestReply(judgeContains, findResource),
  }),
  defineCheck({
    name: 'promptContains',
    docs: 'a message of the prompt, or its result as JSON, contains this text',
    schema: (parts) => ({ ...containsFields(parts), name: nameOf(parts) }),
    sample: { needle: 'a', name: 'b' },
    judge: onLatestReply(judgeContains, findPrompt),
  }),
  defineCheck({
    name: 'completionContains',
    docs: 'a completed value contains this text',
    schema: (parts) => ({ ...containsFields(parts), argument: argumentOf(parts) }),
    sample: { needle: 'a', argument: 'b' },
    judge: onLatestReply(judgeContains, findCompletion),
  }),
  defineCheck({
    name: 'resourceMatches',
    docs: 'the text of the resource matches this regular expression in RE2 syntax',
    schema: (parts) => ({ ...matchesFields(parts), uri: uriOf(parts) }),
    sample: { pattern: 'a' },
    judge: onLatestReply(judgeMatches, findResource),
  }),
  defineCheck({
    name: 'promptMatches',
    docs: 'a message of the prompt, or its result as JSON, matches this regular expression in RE2 syntax',
    schema: (parts) => ({ ...matchesFields(parts), name: nameOf(parts) }),
    sample: { pattern: 'a' },
    judge: onLatestReply(judgeMatches, findPrompt),
  }),
  defineCheck({
    name: 'resourceEquals',
    docs: 'the text of the resource parsed as JSON equals this value; with `path`, a part. A string also equals the same text',
    schema: (parts) => ({ ...equalsFields(parts), uri: uriOf(parts) }),
    sample: { value: 1, path: '/a' },
    judge: onLatestReply(onLatestResult(judgeEquals), findResource),
  }),
  defineCheck({
    name: 'promptEquals',
    docs: 'the result, an object with `messages`, equals this value; with `path`, such as `/messages/0/role`, a part',
    schema: (parts) => ({ ...equalsFields(parts), name: nameOf(parts) }),
    sample: { value: 1 },
    judge: onLatestReply(onLatestResult(judgeEquals), findPrompt),
  }),
  defineCheck({
    name: 'completionEquals',
    docs: 'the list of completed values equals this list; with `path`, such as `/0`, one of them',
    schema: (parts) => ({ ...equalsFields(parts), argument: argumentOf(parts) }),
    sample: { value: ['a'], unordered: true },
    judge: onLatestReply(onLatestResult(judgeEquals), findCompletion),
  }),
  defineCheck({
    name: 'resourceMatchesSchema',
    docs: 'the text of the resource parsed as JSON matches this JSON Schema',
    schema: (parts) => ({ ...fitsFields(parts), uri: uriOf(parts) }),
    sample: { schema: true },
    judge: onLatestReply(judgeFits, findResource),
  }),
  defineCheck({
    name: 'promptMatchesSchema',
    docs: 'the result, an object with `messages`, matches this JSON Schema',
    schema: (parts) => ({ ...fitsFields(parts), name: nameOf(parts) }),
    sample: { schema: true },
    judge: onLatestReply(judgeFits, findPrompt),
  }),
  defineCheck({
    name: 'resourceMimeType',
    docs: 'all contents of the resource have this MIME type',
    schema: (parts) => ({
      mimeType: parts.text.meta({ description: 'MIME type of all contents of the latest resource.' }),
      uri: uriOf(parts),
    }),
    sample: { mimeType: 'a/b' },
    judge: ({ mimeType, ...scope }, evidence) => {
      const { latest, none } = findResource(scope, evidence);
      if (latest === undefined) return fail(none);
      const { subject, mimeTypes } = latest;
      if (latest.error !== null || mimeTypes.length === 0) return fail(`${subject} has no contents.`);
      const found = joinWithin([...new Set(mimeTypes.map((type) => type ?? 'none'))], maxListLength, ', ');
      const isMet = mimeTypes.every((type) => type === mimeType);
      return decide(isMet, `the MIME type of ${subject} is ${found}${isMet ? '' : `, expected ${mimeType}`}.`);
    },
  }),
  defineCheck({
    name: 'requestError',
    docs: 'the latest request that is no tool call failed with an error of this `code`, that `contains` or `matches`',
    schema: ({ error }) => ({ error }),
    sample: { error: { code: -32602 } },
    judge: ({ error }, { replies }) => {
      const latest = replies.at(-1);
      return latest === undefined
        ? fail('no step but tool calls has requested anything.')
        : judgeError(error, toToolResult(latest));
    },
    expectError: (_, isNegated) => (isNegated ? null : { of: 'request', toolName: undefined, mayBeMissing: false }),
  }),
];

interface FoundReply {
  latest: Reply | undefined;
  /** The reason if there is no such reply. */
  none: string;
}

/** Judges the latest reply with a check of tool results. */
function onLatestReply<Fields extends object, Scope>(
  judge: (fields: Fields, evidence: Evidence, context: CheckContext) => Judgement | Promise<Judgement>,
  find: (scope: Scope, evidence: Evidence) => FoundReply,
) {
  return (fields: Fields & Scope, evidence: Evidence, context: CheckContext): Judgement | Promise<Judgement> => {
    const { latest, none } = find(fields, evidence);
    if (latest === undefined) return fail(none);
    return judge(fields, { ...emptyEvidence, toolResults: [toToolResult(latest)] }, context);
  };
}

function findResource({ uri }: { uri?: string }, evidence: Evidence): FoundReply {
  return findLatest(evidence, 'resource', { subject: uri, none: 'no resource was read.', missing: 'was not read' });
}

function findPrompt({ name }: { name?: string }, evidence: Evidence): FoundReply {
  return findLatest(evidence, 'prompt', {
    subject: name,
    none: 'no prompt was requested.',
    missing: 'was not requested',
  });
}

function findCompletion({ argument }: { argument?: string }, evidence: Evidence): FoundReply {
  const none = 'no argument was completed.';
  return findLatest(evidence, 'completion', { subject: argument, none, missing: 'was not completed' });
}

function findLatest(
  { replies }: Evidence,
  kind: Reply['kind'],
  { subject, none, missing }: { subject: string | undefined; none: string; missing: string },
): FoundReply {
  const latest = replies.findLast(
    (reply) => reply.kind === kind && (subject === undefined || reply.subject === subject),
  );
  return { latest, none: subject === undefined ? none : `${printValue(subject)} ${missing}.` };
}

/** Returns the answer in the form that the checks of tool results judge. */
export function toToolResult({ kind, subject, text, structuredContent, error, latencyMs }: Reply): ToolResult {
  return {
    toolName: kind === 'prompt' ? `prompt ${subject}` : kind === 'completion' ? `completing ${subject}` : subject,
    arguments: null,
    text,
    structuredContent,
    content: [],
    errorCode: error?.code ?? null,
    sizeBytes: null,
    isError: error !== null,
    toolError: null,
    latencyMs,
    isListed: null,
  };
}
