import { describeError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { endSentence, joinWords } from '../base/text.ts';
import { type Clock, startTimeLimit } from '../base/time.ts';
import type { ClientAbilities } from '../mcp/abilities.ts';
import { openSession, type Target } from '../mcp/session.ts';
import type { ToolList } from '../mcp/tool-declarations.ts';
import { abilities, type Ability, type ClientOffer, listOffered, offerExamples } from '../model/client-abilities.ts';
import type { TestCase } from '../cases/case.ts';
import type { CaseOutcome } from './outcome.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import { checkRegistry } from '../checks/registry.ts';
import { findSharedList, shareList } from './tool-list.ts';
import type { Transcript } from './transcript.ts';

/** The time that a server has to list its tools again, in milliseconds. */
const listTimeoutMs = 30_000;

/** Neutral answers for a server that asks during `tools/list`; it should need none. */
const evasiveAnswers: Required<Pick<ClientAbilities, Ability>> = {
  elicitation: async () => ({ action: 'cancel' }),
  sampling: async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: '' } }),
  roots: async () => [],
};

/**
 * Lists the tools that a failed iteration needed and that the server did not list in its session. Ignores tools called after the first
 * failed step.
 */
export function listUnlisted(
  { steps }: TestCase,
  { transcript, outcome }: { transcript: Transcript; outcome: CaseOutcome },
): string[] {
  if (outcome.result !== 'failed') return [];
  const firstFailed = outcome.steps.findIndex(({ status }) => status === 'fail');
  const called = transcript.unlistedTools.filter(({ stepIndex }) => firstFailed === -1 || stepIndex <= firstFailed);
  // A model calls only tools that it is offered. If the expected tool is missing, the assertion that expects its call fails.
  const failed = [
    ...steps.flatMap((step, index) => (step.kind === 'assert' && index === firstFailed ? step.assertion : [])),
    ...outcome.predicates.filter(({ state }) => state === 'failed').map(({ predicate }) => predicate),
  ];
  const expected = failed.map(readExpectedTool).filter((name) => name !== null);
  const unlisted = expected.filter((name) => transcript.tools !== null && !transcript.tools.has(name));
  return [...new Set([...called.map(({ toolName }) => toolName), ...unlisted])];
}

/** Returns the tool that an assertion requires to be called; null if it requires none. */
function readExpectedTool(assertion: unknown): string | null {
  if (!isRecord(assertion)) return null;
  const { type, toolName } = assertion;
  const requiresCall = checkRegistry.find(type)?.requiresCall === true;
  return requiresCall && typeof toolName === 'string' ? toolName : null;
}

/**
 * Checks if the server lists one of these tools only to clients that offer more than the case does, and names the abilities. Null if no
 * client sees them. The lists are shared by all cases of a run.
 */
export async function findHiddenTool(
  names: readonly string[],
  target: Target,
  { offer, ...options }: { offer: ClientOffer; clock: Clock; signal?: AbortSignal | undefined },
): Promise<string | null> {
  const offered = listOffered(offer);
  const missing = abilities.filter((ability) => !offered.includes(ability));
  try {
    const all = await listToolsWith(abilities, target, options);
    const hidden = names.find((name) => all?.has(name));
    if (hidden === undefined) return null;
    for (const ability of missing) {
      const announced = abilities.filter((name) => name === ability || offered.includes(name));
      const list = await listToolsWith(announced, target, options);
      if (list?.has(hidden)) return describeHidden(hidden, [ability]);
    }
    return describeHidden(hidden, missing);
  } catch (error) {
    const asked = `with ${joinWords(abilities)} announced`;
    return clipReason(
      endSentence(
        `The server lists no tool ${printValue(names[0])}, and could not be asked for its tools ${asked}: ${describeError(error)}`,
      ),
    );
  }
}

async function listToolsWith(
  announced: readonly Ability[],
  target: Target,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<ToolList> {
  const known = findSharedList(target, announced);
  if (known !== undefined) return known;
  using limit = startTimeLimit(clock, { afterMs: listTimeoutMs, what: 'The list', signal });
  const answers = Object.fromEntries(
    abilities.filter((ability) => announced.includes(ability)).map((ability) => [ability, evasiveAnswers[ability]]),
  );
  await using session = await openSession(target, { clock, signal: limit.signal, abilities: answers });
  const list = await session.listTools({ signal: limit.signal });
  shareList(target, announced, list);
  return list;
}

function describeHidden(toolName: string, needed: readonly Ability[]): string {
  const examples = needed.map((ability) => offerExamples[ability]).join(' and ');
  return clipReason(
    `The server lists the tool ${printValue(toolName)} only to clients that offer ${joinWords(needed)}, which the case does not. Add ${examples} to the case or the suite.`,
  );
}
