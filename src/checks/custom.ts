import { describeError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { endSentence } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { defineCheck, limitToFinal } from './define-check.ts';
import { copyEvidence, type Evidence } from './evidence.ts';
import { type CheckContext, type Judgement, leaveUnmeasured, refuse } from './judgement.ts';
import { type OwnCheck, type OwnCheckUse, readOwnFields } from './own-check.ts';
import { joinWithin, maxListLength, printValue } from './reasons.ts';

/** The name under which an evals file and a report know a check: its type, or the name of a check of one's own. */
export function nameCheck({ type, name }: { type?: unknown; name?: unknown }): string {
  return String(type === 'custom' ? name : type);
}

/** A check of one's own. Its definition is not in the registry: it belongs to one gate. */
export const customKind = defineCheck({
  name: 'custom',
  docs: 'your own check of this name passes; see [checks of your own](checks.md). `<name>: <value>` is short for it',
  schema: ({ text, value, arguments: args }) => ({
    name: text.meta({ description: 'Name of a check of `checkModules`, or of the program that runs the gate.' }),
    value: value.exactOptional().meta({ description: 'The first argument, or an object with all arguments.' }),
    arguments: args.exactOptional().meta({ description: 'Arguments of the check.' }),
  }),
  sample: { name: 'a' },
  judge: (use, evidence, context) => judgeOwnCheck(use, evidence, context),
  // The definition of the check says what is final, and `judge` knows it.
  final: 'both',
});

async function judgeOwnCheck(use: OwnCheckUse, evidence: Evidence, context: CheckContext): Promise<Judgement> {
  const check = context.ownChecks?.get(use.name);
  if (check === undefined) return leaveUnmeasured('not measured: no check of this name is known here.');
  const fields = readOwnFields(check, use);
  const fit = await context.schemas.fit(check.schema, fields, {});
  if (fit.kind === 'invalid') {
    return refuse(`its arguments do not fit its schema: ${joinWithin(fit.mismatches, maxListLength)}.`);
  }
  if (fit.kind !== 'valid') return leaveUnmeasured(endSentence(`not measured: its arguments: ${fit.reason}`));
  return limitToFinal(await askOwnCheck(check, { fields, evidence }, context.signal), evidence, check.final);
}

/** Whatever goes wrong in a check of one's own says nothing about the server, so it leaves the check unmeasured. */
async function askOwnCheck(
  { name, judge, timeoutMs }: OwnCheck,
  { fields, evidence }: { fields: ReturnType<typeof readOwnFields>; evidence: Evidence },
  signal: AbortSignal | null,
): Promise<Judgement> {
  signal?.throwIfAborted();
  const ended = Promise.withResolvers<'late' | 'aborted'>();
  const time = new AbortController();
  const onAbort = () => ended.resolve('aborted');
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => ended.resolve('late'), timeoutMs);
  try {
    // A copy, because other checks judge the same evidence.
    const own = copyEvidence(evidence);
    const asked = (async () => ({ answer: await judge(structuredClone(fields), own, { signal: time.signal }) }))();
    const first = await Promise.race([asked, ended.promise]);
    if (first === 'late') return leaveUnmeasured(`not measured: it has not answered for ${formatDuration(timeoutMs)}.`);
    if (first === 'aborted') throw signal?.reason;
    return readJudgement(first.answer);
  } catch (error) {
    signal?.throwIfAborted();
    return leaveUnmeasured(endSentence(`not measured: the check failed: ${describeError(error)}`));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    time.abort(new Error(`The check ${name} has ended.`));
  }
}

/** Reads what a check of one's own returned, which may be anything. */
function readJudgement(answer: unknown): Judgement {
  const { state, reason, compared } = isRecord(answer) ? answer : {};
  const isState = state === 'passed' || state === 'failed' || state === 'unmeasured';
  if (!isState || typeof reason !== 'string' || !/\S/.test(reason)) {
    return leaveUnmeasured(
      `not measured: it returned ${printValue(answer)}, which is no judgement; return \`pass(reason)\`, \`fail(reason)\` or \`leaveUnmeasured(reason)\`.`,
    );
  }
  const judgement: Judgement = { state, reason: endSentence(reason) };
  if (state !== 'failed' || !isRecord(compared) || typeof compared['what'] !== 'string') return judgement;
  const { what, expected, actual, path } = compared;
  return {
    ...judgement,
    compared: { kind: 'values', what, expected, actual, path: typeof path === 'string' ? path : '' },
  };
}
