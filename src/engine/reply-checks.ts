import type { CheckByType, ReplyType } from '../checks/assertion.ts';
import {
  decide,
  emptyEvidence,
  type Evidence,
  fail,
  type Judgement,
  type Judgements,
  type JudgingAids,
  type Reply,
  type ToolResult,
} from './evidence.ts';
import { joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import { toolResultJudgements } from './tool-result-checks.ts';

type Aids = JudgingAids | undefined;
type OfKind<Name extends 'Contains' | 'Matches' | 'Equals' | 'MatchesSchema'> = CheckByType[Extract<
  ReplyType,
  `resource${Name}` | `prompt${Name}` | `completion${Name}`
>];

const { toolResultContains, toolResultMatches, toolResultEquals, toolResultMatchesSchema, toolError } =
  toolResultJudgements;
const contains = async (fields: OfKind<'Contains'>, evidence: Evidence, aids: Aids) =>
  await toolResultContains({ ...fields, type: 'toolResultContains' }, evidence, aids);
const matches = async (fields: OfKind<'Matches'>, evidence: Evidence, aids: Aids) =>
  await toolResultMatches({ ...fields, type: 'toolResultMatches' }, evidence, aids);
const equals = async (fields: OfKind<'Equals'>, evidence: Evidence, aids: Aids) =>
  await toolResultEquals({ ...fields, type: 'toolResultEquals' }, evidence, aids);
const matchesSchema = async (fields: OfKind<'MatchesSchema'>, evidence: Evidence, aids: Aids) =>
  await toolResultMatchesSchema({ ...fields, type: 'toolResultMatchesSchema' }, evidence, aids);

/** Checks of what came back from requests that call no tool. They judge the latest one, and fail where there is none. */
export const replyJudgements: Judgements<ReplyType> = {
  resourceContains: judgeLatest(contains, readResource),
  promptContains: judgeLatest(contains, readPrompt),
  completionContains: judgeLatest(contains, readCompletion),
  resourceMatches: judgeLatest(matches, readResource),
  promptMatches: judgeLatest(matches, readPrompt),
  resourceEquals: judgeLatest(equals, readResource),
  promptEquals: judgeLatest(equals, readPrompt),
  completionEquals: judgeLatest(equals, readCompletion),
  resourceMatchesSchema: judgeLatest(matchesSchema, readResource),
  promptMatchesSchema: judgeLatest(matchesSchema, readPrompt),
  resourceMimeType: ({ mimeType, uri }, evidence) => {
    const { latest, none } = readResource({ uri }, evidence);
    if (latest === undefined) return fail(none);
    const { subject, mimeTypes } = latest;
    if (latest.error !== null || mimeTypes.length === 0) return fail(`${subject} has no contents.`);
    const found = joinWithin([...new Set(mimeTypes.map((type) => type ?? 'none'))], maxListLength, ', ');
    const isMet = mimeTypes.every((type) => type === mimeType);
    return decide(isMet, `the MIME type of ${subject} is ${found}${isMet ? '' : `, expected ${mimeType}`}.`);
  },
  requestError: judgeLatest(
    async ({ error }: CheckByType['requestError'], evidence, aids) =>
      await toolError({ type: 'toolError', error }, evidence, aids),
    (_: unknown, evidence) => ({
      latest: evidence.replies.at(-1),
      none: 'no step but tool calls has requested anything.',
    }),
  ),
};

/** Judges the latest reply as the result of a tool is judged. `read` says which one, and what to say where there is none. */
function judgeLatest<Fields, Scope>(
  judge: (fields: Fields, evidence: Evidence, aids: Aids) => Promise<Judgement>,
  read: (scope: Scope, evidence: Evidence) => { latest: Reply | undefined; none: string },
) {
  return async (fields: Fields & Scope, evidence: Evidence, aids: Aids): Promise<Judgement> => {
    const { latest, none } = read(fields, evidence);
    if (latest === undefined) return fail(none);
    return await judge(fields, { ...emptyEvidence, toolResults: [toToolResult(latest)] }, aids);
  };
}

function readResource({ uri }: { uri?: string | undefined }, evidence: Evidence) {
  return findLatest(evidence, 'resource', { subject: uri, none: 'no resource was read.', missing: 'was not read' });
}

function readPrompt({ name }: { name?: string | undefined }, evidence: Evidence) {
  return findLatest(evidence, 'prompt', {
    subject: name,
    none: 'no prompt was requested.',
    missing: 'was not requested',
  });
}

function readCompletion({ argument }: { argument?: string | undefined }, evidence: Evidence) {
  const none = 'no argument was completed.';
  return findLatest(evidence, 'completion', { subject: argument, none, missing: 'was not completed' });
}

function findLatest(
  { replies }: Evidence,
  kind: Reply['kind'],
  { subject, none, missing }: { subject: string | undefined; none: string; missing: string },
): { latest: Reply | undefined; none: string } {
  const latest = replies.findLast(
    (reply) => reply.kind === kind && (subject === undefined || reply.subject === subject),
  );
  return { latest, none: subject === undefined ? none : `${printValue(subject)} ${missing}.` };
}

function toToolResult({ kind, subject, text, structuredContent, error, latencyMs }: Reply): ToolResult {
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
