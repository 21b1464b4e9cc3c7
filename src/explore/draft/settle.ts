import { isJsonEqual } from '../../base/json.ts';
import { type ExploredSession, type ObservedStep, type Outcome } from '../exploration.ts';
import { type ExploredRequest, nameRequest } from '../../model/explored-request.ts';
import { type Feature, pickFeatures, states } from '../features/feature.ts';
import { maskMachine, volatileMark } from '../stability/forms.ts';
import { readOutcomeText } from '../stability/texts.ts';
import { environmentCanary } from '../world/canary.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import { mayChange } from './title.ts';

/** Directories of a world that a run of evals does not have. */
const otherDirectories = /\{\{(?:outside|home|tmp|worlds)\}\}/g;

/**
 * Returns the session as evals can repeat it; null if it names a directory that only worlds have. A file outside of the workspace becomes
 * one next to it, and what depends on the machine is volatile. Calls of `harmless` tools that the session is not about are dropped.
 */
export function settleSession(session: ExploredSession, harmless: ReadonlySet<string>): ExploredSession | null {
  const steps = session.steps.map((step): ObservedStep => {
    const request: ExploredRequest = mapTexts(step.request, nameOutside);
    const settled = mapTexts(step.observation.outcome, (text) => hideMachine(nameOutside(text)));
    return { ...step, request, observation: { ...step.observation, outcome: hideEnvironment(settled) } };
  });
  const isMovable = steps.every(({ request }) => JSON.stringify(request).search(otherDirectories) === -1);
  if (!isMovable) return null;
  // A document may mention a name that a file of the workspace has, too.
  const isDocument = steps.every(
    ({ request, observation }) => request.kind === 'resource' || hasNoAnswer(observation.outcome),
  );
  const needsFiles = session.needsFiles && !(isDocument && !JSON.stringify(steps).includes('{{workspace}}'));
  return { ...session, needsFiles, steps: shortenChain(steps, session.adds, harmless) };
}

/** Drops readers that the session is not about, and what follows the last change that a reader sees. */
function shortenChain(
  steps: readonly ObservedStep[],
  adds: readonly Feature[],
  harmless: ReadonlySet<string>,
): readonly ObservedStep[] {
  const readers = new Set(pickFeatures(adds, ...states, 'several').map(({ reader }) => reader));
  // References count steps.
  if (readers.size === 0 || JSON.stringify(steps.map(({ request }) => request)).includes('{{result.')) return steps;
  const isChange = (request: ExploredRequest) => mayChange(request, harmless);
  const meant = steps.filter(({ request }) => readers.has(nameRequest(request)) || isChange(request));
  const last = meant.findLastIndex((step, index) => {
    const earlier = meant.slice(0, index).findLast(({ request }) => isJsonEqual(request, step.request));
    return (
      !isChange(step.request) &&
      (earlier === undefined || !isJsonEqual(earlier.observation.outcome, step.observation.outcome))
    );
  });
  return last === -1 ? steps : meant.slice(0, last + 1);
}

function nameOutside(text: string): string {
  return text.replaceAll('{{outside}}/', '{{workspace}}/../').replaceAll(/(?<=(?:^|\s|')\.\.\/)outside\//g, '');
}

function hideMachine(text: string): string {
  return maskMachine(text.replaceAll(otherDirectories, volatileMark));
}

/** An answer with the environment of its process is another one in each environment. */
function hideEnvironment(outcome: Outcome): Outcome {
  if (outcome.kind !== 'result' || !readOutcomeText(outcome).includes(environmentCanary.value)) return outcome;
  return { ...outcome, result: { content: [] } };
}

/** Checks if nothing of the answer is asserted. */
const hasNoAnswer = (outcome: Outcome) =>
  outcome.kind === 'result' && Array.isArray(outcome.result['content']) && outcome.result['content'].length === 0;
