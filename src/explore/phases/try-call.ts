import { isAnswered, isRefused } from '../answers.ts';
import type { JsonObject } from '../../base/json.ts';
import type { PhaseName, SessionRun } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { ListedTool } from '../inventory.ts';
import type { Parameter } from '../schema/parameters.ts';
import { readRefusal } from '../stability/texts.ts';
import { namesTime } from '../vocabulary/typical-values.ts';
import { proposeChanges } from '../vocabulary/feedback.ts';
import { explainRefusalByWorld } from '../world/refused-by-world.ts';
import { callTool, type PhaseContext } from './phase.ts';

/** The most changes of refused arguments. */
const maxChanges = 5;

/** An answer that only reads like an error may be all that the tool says. */
const changesWithoutFlag = 2;

interface TryOptions {
  phase: PhaseName;
  /** The calls before it. */
  setup?: readonly ExploredRequest[];
  /** The parameters that may be changed; all by default. */
  mayChange?: (parameter: Parameter) => boolean;
  changes?: number;
}

/**
 * Calls a tool, and changes refused arguments in the way that the message suggests. Returns the run with the answered call; null if each
 * was refused, or the requests are used up.
 */
export async function tryCall(
  tool: ListedTool,
  first: JsonObject,
  { lab, knowledge }: Pick<PhaseContext, 'lab' | 'knowledge'>,
  { phase, setup = [], mayChange = () => true, changes = maxChanges }: TryOptions,
): Promise<{ run: SessionRun; arguments: JsonObject } | null> {
  const tried = new Set<string>();
  const isAlone = setup.length === 0;
  let args = knowledge.takeForms(tool, first, isAlone);
  for (let count = 0; count <= changes; count += 1) {
    tried.add(JSON.stringify(args));
    const run = await lab.run([...setup, callTool(tool, args)], { phase, start: setup.length === 0 ? 'used' : 'new' });
    if (run === null || run.steps.length <= setup.length) return null;
    const last = run.steps[setup.length];
    if (last === undefined) return null;
    const { observation, isValid } = last;
    if (isAnswered(observation)) {
      knowledge.noteMade(last);
      if (setup.length === 0) knowledge.learn(run);
      return { run, arguments: args };
    }
    const before = run.steps.slice(0, setup.length);
    // A call that takes long may take less with a smaller value.
    const times = tool.parameters.filter(({ name }) => namesTime(name));
    const isSlow = observation.outcome.kind === 'silent' && observation.outcome.isAlive;
    if (!isRefused(observation) && !isSlow) return null;
    if (isValid !== false) knowledge.noteForms(tool.name, args, readRefusal(observation.outcome));
    // A changed argument may not name what the calls before it made.
    if (isRefused(observation) && isValid !== false && (count === 0 || setup.length === 0)) {
      const refusal = readRefusal(observation.outcome);
      // The calls before it made nothing that it misses.
      const isSame = knowledge.refusals.get(tool.name) === refusal;
      knowledge.noteRefusal(tool.name, refusal);
      if (setup.length > 0 && (isSame || hasNone.test(refusal))) return null;
    }
    // The network stays off, but another value may not need it.
    const isLimit = explainRefusalByWorld(observation) !== null;
    const proposals = proposeChanges({ parameters: tool.parameters.filter(mayChange) }, args, {
      message: isSlow ? times.map(({ name }) => name).join(' ') : readRefusal(observation.outcome),
      isOffline: isLimit,
      listOthers: (parameter) => {
        const values = knowledge.listValues(tool, parameter, before);
        return isSlow ? values.filter((value) => typeof value === 'number').toSorted(bySize) : values;
      },
    });
    const next = proposals
      .map((proposal) => knowledge.takeForms(tool, proposal, isAlone))
      .find((proposal) => !tried.has(JSON.stringify(proposal)));
    const isUnflagged = observation.outcome.kind === 'result' && !observation.outcome.isError;
    if (next === undefined || (isLimit && count > 1) || (isUnflagged && count >= changesWithoutFlag)) return null;
    args = next;
  }
  return null;
}

/** A refusal after which no other argument helps: there is nothing yet. */
const hasNone = /\b(?:has|have|are|is|contains?) (?:0|no) [a-z]/i;

/** The smallest positive number first. */
const bySize = (a: number, b: number) => (a > 0 ? a : Infinity) - (b > 0 ? b : Infinity);
