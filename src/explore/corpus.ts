import { isRecord, tryParseJson } from '../base/json.ts';
import { type ExploredRequest, isAnswered, isRefused, nameRequest, type ObservedStep, type SessionRun } from './exploration.ts';
import type { Inventory } from './inventory.ts';
import { maskForms } from './stability/forms.ts';
import { printMasked, readOutcomeText } from './stability/texts.ts';
import { explainRefusalByWorld } from './world/refused-by-world.ts';

/** A session that is worth keeping, with what it adds to those before it. */
export interface KeptSession {
  run: SessionRun;
  adds: readonly string[];
}

/** The most sessions for each tool, and at least. */
const sessionsPerTool = 4;
const leastSessions = 40;

/** The most different refusals of a tool that are kept. */
const maxRefusals = 4;

/**
 * Chooses sessions until no other one adds a tool, a parameter, a value of an enum, a refusal, the shape of a result, or a state that a
 * reader sees. Short sessions come first. The same runs give the same sessions.
 */
export function chooseSessions(runs: readonly SessionRun[], inventory: Inventory): KeptSession[] {
  const candidates = runs
    .map((run) => trimSession(run, inventory))
    .filter((run) => run.steps.length > 0 && run.steps.every(({ observation }) => isSteady(observation.outcome.kind)))
    .filter(({ steps }) => steps.every(({ observation }) => explainRefusalByWorld(observation) === null))
    .map((run) => ({ run, features: listFeatures(run, inventory) }));
  const ordered = candidates.toSorted((a, b) => a.run.steps.length - b.run.steps.length);
  const known = new Set<string>();
  const refusals = new Map<string, number>();
  const kept: KeptSession[] = [];
  for (const { run, features } of ordered) {
    const adds = features.filter((feature) => !known.has(feature) && !isOneTooMany(feature, refusals));
    if (adds.length === 0) continue;
    for (const feature of adds) {
      known.add(feature);
      const tool = readRefusing(feature);
      if (tool !== null) refusals.set(tool, (refusals.get(tool) ?? 0) + 1);
    }
    kept.push({ run, adds });
  }
  return kept.slice(0, Math.max(leastSessions, sessionsPerTool * inventory.tools.length));
}

/** A lost process is a finding, and no expectation. */
const isSteady = (kind: string) => kind === 'result' || kind === 'error';

const readRefusing = (feature: string) => /^refusal (\S+)/.exec(feature)?.[1] ?? null;

function isOneTooMany(feature: string, refusals: ReadonlyMap<string, number>): boolean {
  const tool = readRefusing(feature);
  return tool !== null && (refusals.get(tool) ?? 0) >= maxRefusals;
}

/** Drops readers that see the same before and after, and what follows the last step that counts. */
function trimSession(run: SessionRun, inventory: Inventory): SessionRun {
  if (run.steps.length < 3) return run;
  const changing = findChangedReads(run.steps);
  const readOnly = new Set(inventory.tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name));
  const isUseless = ({ request }: ObservedStep, index: number) =>
    !changing.has(index) && request.kind === 'tool' && readOnly.has(request.tool) && isRepeated(run.steps, index);
  return { ...run, steps: run.steps.filter((step, index) => !isUseless(step, index)) };
}

function isRepeated(steps: readonly ObservedStep[], index: number): boolean {
  const key = JSON.stringify(steps[index]?.request);
  return steps.some(({ request }, other) => other !== index && JSON.stringify(request) === key);
}

/** Finds the steps whose request was sent before or after with another outcome. */
function findChangedReads(steps: readonly ObservedStep[]): Set<number> {
  const changed = new Set<number>();
  for (const [index, step] of steps.entries()) {
    const later = steps.findIndex((other, at) => at > index && isSameRequest(other.request, step.request));
    if (later === -1) continue;
    const after = steps[later];
    if (after !== undefined && printMasked(step.observation.outcome) !== printMasked(after.observation.outcome)) {
      changed.add(index).add(later);
    }
  }
  return changed;
}

const isSameRequest = (left: ExploredRequest, right: ExploredRequest) => JSON.stringify(left) === JSON.stringify(right);

/** Lists what a session shows. */
function listFeatures({ steps }: SessionRun, inventory: Inventory): string[] {
  const states = [...findChangedReads(steps)].flatMap((index) => describeState(steps, index));
  return [...new Set([...steps.flatMap((step) => listStepFeatures(step, inventory)), ...states])];
}

function listStepFeatures({ request, observation, isValid }: ObservedStep, inventory: Inventory): string[] {
  const subject = nameRequest(request);
  const { outcome } = observation;
  if (isRefused(observation)) {
    const message = maskValues(readOutcomeText(outcome), request);
    return [`refusal ${subject} ${message}`];
  }
  if (outcome.kind !== 'result') return [];
  const shape = `result ${subject} ${describeShape(outcome.result['structuredContent'] ?? readOutcomeText(outcome))}`;
  if (request.kind !== 'tool') return [`${request.kind} ${subject}`, shape];
  const tool = inventory.tools.find(({ name }) => name === request.tool);
  // A call that breaks the schema shows nothing that a caller may rely on.
  if (tool === undefined || isValid === false) return [];
  const parameters = Object.entries(request.arguments).flatMap(([name, value]) => {
    const schema = tool.parameters.find((parameter) => parameter.name === name)?.schema;
    const isListed = Array.isArray(schema?.['enum']) || typeof value === 'boolean';
    return [`parameter ${subject} ${name}`, ...(isListed ? [`value ${subject} ${name} ${JSON.stringify(value)}`] : [])];
  });
  return [`tool ${subject}`, ...parameters, shape];
}

/** Names which call changed what a reader sees. */
function describeState(steps: readonly ObservedStep[], index: number): string[] {
  const reader = steps[index]?.request;
  const between = steps.slice(0, index).filter(({ request, observation }) => isAnswered(observation) && request !== reader);
  const last = between.findLast(({ request }) => request.kind === 'tool' && !isSameRequest(request, reader ?? request));
  return reader === undefined || last === undefined ? [] : [`state ${nameRequest(reader)} after ${nameRequest(last.request)}`];
}

/** Leaves out of a message what the arguments, quotes and numbers say. */
function maskValues(message: string, request: ExploredRequest): string {
  const args = request.kind === 'tool' ? request.arguments : {};
  const values = Object.values(args).filter((value): value is string => typeof value === 'string' && value.length > 2);
  const masked = values.reduce((text, value) => text.replaceAll(value, '…'), maskForms(message));
  return masked.replaceAll(/(["'`])[^"'`]*\1/g, '…').replaceAll(/\d+/g, '#').slice(0, 300);
}

/** Describes the members of a value and their types, but no values. */
function describeShape(value: unknown, depth = 0): string {
  const parsed = typeof value === 'string' ? tryParseJson(value) : value;
  if (typeof parsed !== 'object' || parsed === null) {
    if (typeof value !== 'string') return typeof value;
    if (depth > 0) return 'text';
    return value === '' ? 'no text' : value.includes('\n') ? 'lines' : 'text';
  }
  if (depth > 3) return '…';
  if (Array.isArray(parsed)) return parsed.length === 0 ? '[]' : `[${describeShape(parsed[0], depth + 1)}]`;
  if (!isRecord(parsed)) return 'object';
  const members = Object.keys(parsed)
    .toSorted()
    .slice(0, 20)
    .map((name) => `${name}:${describeShape(parsed[name], depth + 1)}`);
  return `{${members.join()}}`;
}
