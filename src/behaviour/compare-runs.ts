import { appendAll } from '../base/lists.ts';
import { isJsonEqual, type JsonObject, listTexts } from '../base/json.ts';
import { isRefused, readsLikeError } from '../explore/answers.ts';
import type { Outcome } from '../explore/exploration.ts';
import type { ExploredRequest } from '../model/explored-request.ts';
import { ofOptions, ofOwnMachine } from '../explore/features/guards.ts';
import { readOutcomeText } from '../explore/stability/texts.ts';
import { namesOutside } from '../explore/world/canary.ts';
import type { BehaviourKind } from '../model/behaviour.ts';
import { findReason } from '../model/process-end.ts';
import { compareValues } from './compare-values.ts';
import { focusTexts } from './focus.ts';
import type { Contrasts } from './lost/contrasts.ts';
import { findLost } from './lost/find-lost.ts';
import type { LostEffect, SeenStep } from './lost/seen.ts';
import { normalizeOutcome } from './normalize.ts';
import type { ComparedRequest, SentStep } from './bench.ts';

/** A difference that one run of the change shows. */
export interface FoundDifference {
  step: number;
  kind: Exclude<BehaviourKind, 'slower'>;
  pointer: string;
  /** The pointer with numbers of items; null if it leads to no value of the result. */
  exact: string | null;
  what: string;
  before: string;
  after: string;
  /** The whole value of the base at the pointer. */
  value: unknown;
  /** True if only an order differs, which all runs of the base share. */
  isReordered?: boolean;
}

/** One run of a session on one side. It is shorter than the session if the process was lost. */
export type Run = readonly SentStep[];

export interface Compared {
  differences: FoundDifference[];
  /** Why the base itself varies, so that nothing after this step is compared; null if it does not. */
  unstable: string | null;
}

/** Compares one run of the change with the runs of the base, step by step. */
export function compareRun(
  bases: readonly Run[],
  head: Run,
  {
    requests,
    roots,
    callMs,
    contrasts,
  }: {
    requests: readonly ComparedRequest[];
    roots: { base: readonly string[]; head: readonly string[] };
    callMs: number;
    contrasts: Contrasts;
  },
): Compared {
  const differences: FoundDifference[] = [];
  const seen: SeenStep[] = [];
  for (const [step, request] of requests.entries()) {
    const { isWrong } = request;
    const steps = bases.flatMap((run) => run[step] ?? []);
    const own = head[step];
    if (steps.length < bases.length || own === undefined) break;
    const outcomes = steps.map(({ observation }) => normalizeOutcome(observation.outcome, roots.base));
    const kinds = new Set(outcomes.map(nameOutcome));
    if (kinds.size > 1)
      return {
        differences,
        unstable: `request ${step + 1} had different outcomes on the base: ${[...kinds].toSorted().join(', ')}`,
      };
    const outcome = normalizeOutcome(own.observation.outcome, roots.head);
    seen.push({ request, bases: outcomes, head: outcome });
    const guards = guarded.filter(({ isIn }) => isIn(request.request));
    const compared = compareOutcomes(outcomes, outcome, { isWrong, guards, callMs });
    const found = (compared.length === 0 ? [] : replaceLost(compared, findLost(seen, contrasts))).map((each) => ({
      ...each,
      step,
    }));
    const { noise } = own.observation;
    if (noise !== null && steps.every(({ observation }) => observation.noise === null)) {
      const what = 'the server writes to stdout, where only messages belong';
      found.push({
        step,
        kind: 'broken',
        pointer: '/stdout',
        exact: null,
        what,
        before: '',
        after: noise.slice(0, 200),
        value: null,
      });
    }
    appendAll(differences, found);
    // What follows an error has another state, or none.
    if (nameOutcome(outcome) !== [...kinds][0]) break;
  }
  return { differences, unstable: null };
}

/** What a careful server refuses, and how it says so. */
interface GuardRule {
  what: string;
  isIn: (request: ExploredRequest) => boolean;
  refusal: RegExp;
  /** What the program, the file system or the network says that the guard should keep the call from; null if there is none. */
  behind: RegExp | null;
}

const guarded: readonly GuardRule[] = [
  {
    what: 'a path outside of the workspace is no longer refused',
    isIn: (request) => namesOutside(JSON.stringify(request)),
    // Because of the place of a file, and not of its form.
    refusal: /\b(?:outside|within|allowed|denied|forbidden|traversal|permission|permitted|escapes?|unauthorized)\b/i,
    behind: /\bE(?:NOENT|NOTDIR|ISDIR|EXIST|ACCES|PERM)\b|\bno such file\b|\bErrno \d|\bos error \d/i,
  },
  {
    what: 'a text that a program takes for an option is no longer refused',
    isIn: (request) => sends(request, ofOptions.has),
    refusal: ofOptions.refusal,
    behind:
      /\b(?:unknown|unrecogni[sz]ed|invalid|illegal) (?:option|argument|switch|flag)\b|\busage: |\bexit(?:ed with)? (?:code|status)\b/i,
  },
  {
    what: 'an address of the own machine is no longer refused',
    // A list of URLs, or a part of a document, can have one, too.
    isIn: (request) => [...listTexts(request)].some(({ text }) => ofOwnMachine.has(text)),
    refusal: ofOwnMachine.refusal,
    behind:
      /\bconnection refused\b|\bECONN[A-Z]+\b|\bErrno \d|\bos error \d|\b(?:could not|cannot|failed to) connect\b|\bfetch failed\b/i,
  },
  {
    what: 'an empty text is no longer refused',
    isIn: (request) => sends(request, (value) => value === ''),
    refusal: /\b(?:empty|blank|required|missing|at least (?:one|1)|too short)\b/i,
    behind: null,
  },
  {
    what: 'what exists already is no longer refused',
    isIn: ({ kind }) => kind === 'tool',
    refusal: /\balready (?:exists?|in use|taken|registered|present)\b|\bexists already\b|\bEEXIST\b/i,
    behind: null,
  },
];

const sends = (request: ExploredRequest, has: (value: unknown) => boolean) =>
  request.kind === 'tool' && Object.values(request.arguments).some(has);

type StepDifference = Omit<FoundDifference, 'step'>;

/** What a lost effect changes in an answer is one difference. */
function replaceLost(differences: StepDifference[], lost: LostEffect | null): StepDifference[] {
  const shown = differences.find(({ value }) => lost?.isShownBy(value) === true) ?? differences[0];
  return lost === null || shown === undefined ? differences : [{ ...shown, kind: 'lost', what: lost.what }];
}

/** Compares an outcome of the change with those of the base, which are of one kind. */
function compareOutcomes(
  bases: readonly Outcome[],
  head: Outcome,
  { isWrong, guards, callMs }: { isWrong: boolean; guards: readonly GuardRule[]; callMs: number },
): StepDifference[] {
  const [base] = bases;
  if (base === undefined || bases.every((each) => isJsonEqual(each, head))) return [];
  const [before, after] = [classify(base), classify(head)];
  const whole = { pointer: '', exact: null, value: null };
  if (before === 'lost' && after === 'lost') return [];
  const shown = { before: printOutcome(base, callMs), after: printOutcome(head, callMs) };
  if (after === 'lost') return [{ ...whole, kind: 'broken', what: describeLoss(head), ...shown }];
  if (before === 'lost') return [{ ...whole, kind: 'fixed', what: 'an answer instead of none', ...shown }];
  if (before === 'answered' && after === 'refused') {
    return [{ ...whole, kind: 'broken', what: 'an error instead of a result', ...shown }];
  }
  if (before === 'answered' && readsLikeError(head) && !bases.some(readsLikeError)) {
    return [{ ...whole, kind: 'broken', what: 'a text that reads like an error instead of a result', ...shown }];
  }
  const isUnflagged = before === 'answered' && bases.every(readsLikeError) && !readsLikeError(head);
  if ((before === 'refused' || isUnflagged) && after === 'answered') {
    const isSameText = bases.some((each) => readText(each) === readText(head)) && readText(head) !== '';
    if (isSameText && !isUnflagged) {
      const what = 'the same text is no longer marked as an error';
      return [{ ...whole, kind: 'broken', pointer: '/isError', what, before: 'true', after: 'false' }];
    }
    if (readsLikeError(head)) {
      const what = 'a text that reads like an error, and that is no longer marked as one';
      return [{ ...whole, kind: 'broken', pointer: '/isError', what, ...shown }];
    }
    const guard = guards.find(({ refusal }) => bases.every((each) => refusal.test(readText(each))));
    if (guard !== undefined) return [{ ...whole, kind: 'broken', what: guard.what, ...shown }];
    const what = 'a result instead of an error';
    return [
      {
        ...whole,
        kind: isWrong ? 'changed' : 'fixed',
        what: isWrong ? `${what}: the call is no longer refused` : what,
        ...shown,
      },
    ];
  }
  const missed = guards.find(
    ({ refusal, behind }) =>
      bases.every((each) => refusal.test(readText(each)) && behind?.test(readText(each)) !== true) &&
      behind?.test(readText(head)) === true,
  );
  if (missed !== undefined && [...bases, head].every((each) => isRefused({ outcome: each }))) {
    return [{ ...whole, kind: 'broken', what: `${missed.what} by the server itself`, ...shown }];
  }
  if (before === 'refused') return compareRefusals(bases, head);
  const results = bases.flatMap((each) => (each.kind === 'result' ? [dropFlag(each.result)] : []));
  const differences = head.kind === 'result' ? compareValues(results, dropFlag(head.result)) : [];
  return dropTextCopies(differences).map((difference) => ({ ...difference, kind: 'changed' }));
}

/** A result without `isError` means the same as one in which it is false. */
function dropFlag(result: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(result).filter(([key]) => key !== 'isError'));
}

function compareRefusals(bases: readonly Outcome[], head: Outcome): StepDifference[] {
  const whole = { kind: 'changed' as const, exact: null, value: null };
  const texts = compareValues(bases.map(readText), readText(head)).map(({ before, after }) => ({
    ...whole,
    pointer: '/message',
    what: 'another error',
    before,
    after,
  }));
  const [base] = bases;
  if (texts.length > 0 || base === undefined || nameOutcome(base) === nameOutcome(head)) return texts;
  const what = 'the same error in another form';
  return [{ ...whole, pointer: '/code', what, before: nameOutcome(base), after: nameOutcome(head) }];
}

/** Structured content is often in a text, too: a difference in both is one. */
function dropTextCopies<T extends { pointer: string }>(differences: readonly T[]): T[] {
  const prefix = '/structuredContent';
  const known = new Set(
    differences.flatMap(({ pointer }) => {
      if (!pointer.startsWith(prefix)) return [];
      const inner = pointer.slice(prefix.length);
      // What is no object needs a member around it there, and none in a text.
      return [inner, inner.replace(/^\/[^/]+/, '')];
    }),
  );
  const firsts = new Set<string>();
  return differences.filter(({ pointer }) => {
    const [, inner] = /^\/content\/\*\/text(.*)$/.exec(pointer) ?? [];
    // A text that is no JSON may say the same in words.
    if (inner !== undefined && known.size > 0 && (inner === '' || known.has(inner))) return false;
    return !firsts.has(pointer) && firsts.add(pointer);
  });
}

function classify(outcome: Outcome): 'answered' | 'refused' | 'lost' {
  if (outcome.kind === 'result') return outcome.isError ? 'refused' : 'answered';
  return outcome.kind === 'error' ? 'refused' : 'lost';
}

function nameOutcome(outcome: Outcome): string {
  if (outcome.kind === 'result') return outcome.isError ? 'an error of the tool' : 'a result';
  return outcome.kind === 'error' ? `error ${outcome.code}` : outcome.kind;
}

/** The text of an answer, without what SDKs put before it. */
function readText(outcome: Outcome): string {
  return readOutcomeText(outcome).replace(/^MCP error -\d+: /, '');
}

function describeLoss(outcome: Outcome): string {
  if (outcome.kind === 'ended') return 'the server ends instead of an answer';
  if (outcome.kind === 'malformed') return 'the answer is no valid result';
  return 'no answer comes';
}

function printOutcome(outcome: Outcome, callMs: number): string {
  switch (outcome.kind) {
    case 'ended': {
      const reason = findReason(outcome.lastLines);
      const how = outcome.signal === null ? `exit code ${outcome.exitCode}` : `signal ${outcome.signal}`;
      return clip(reason === null ? how : `${how}: ${reason}`);
    }
    case 'silent':
      return `no answer in ${callMs / 1000} s${outcome.isAlive ? '' : ', nor to a ping'}`;
    case 'malformed':
      return clip(outcome.message);
    default: {
      const text = readText(outcome);
      return clip(text !== '' || outcome.kind !== 'result' ? text : JSON.stringify(outcome.result));
    }
  }
}

const clip = (text: string) => focusTexts(text, '').before;
