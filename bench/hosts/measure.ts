// Measures one host in several short conversations, each with a fresh home.
import {
  describeMore,
  type Facts,
  readArguments,
  readDeferral,
  readDescription,
  readForApps,
  readInstructions,
  readLongResult,
  readNames,
  readRefused,
  readResults,
  readSchemaChanges,
  readSearch,
} from './facts.ts';
import { countWords, sizes, type SurfaceName } from './probe.ts';
import type { MeasuredHost } from './hosts.ts';
import { listReceived, type Observation, runHost } from './run-host.ts';
import type { Script } from './provider.ts';
import { callAll, callHanging, createSeen, halveSizes, readFirst, type Seen } from './scripts.ts';
import { isJsonEqual, isRecord, type JsonObject } from '../../src/base/json.ts';

export interface MeasureOptions {
  host: MeasuredHost;
  /** The words that start the program of the host. */
  program: readonly string[];
  /** The time that one conversation may take. */
  limitMs: number;
  /** The time that a call without an answer may take. */
  timeoutMs: number;
  log: (line: string) => void;
  /** Keeps an observation for a person who reads it. */
  keep?: (name: string, observation: Observation) => Promise<void>;
}

export interface Measurement {
  facts: Facts;
  /** What profiles have no fact for. */
  more: JsonObject;
}

interface Conversation {
  name: string;
  script: (seen: Seen) => Script;
  surface?: SurfaceName;
  model?: string;
  env?: Readonly<Record<string, string>>;
  limitMs?: number;
}

export async function measureHost(options: MeasureOptions): Promise<Measurement> {
  const { host, program, limitMs, timeoutMs, log, keep } = options;
  const holdOnce = async (conversation: Conversation) => {
    const { name, script, surface = 'plain', model = host.model, env = {} } = conversation;
    const seen = createSeen();
    const started = Date.now();
    const observation = await runHost({
      starter: host.starter,
      program,
      model,
      surface,
      env,
      script: script(seen),
      limitMs: conversation.limitMs ?? limitMs,
    });
    const { ran, exchanges } = observation;
    const turns = exchanges.filter(({ seen: turn }) => turn !== null).length;
    const end = ran.hung ? 'ended by the benchmark' : `exit code ${String(ran.code)}`;
    log(`${name}: ${turns} turns, ${Math.round((Date.now() - started) / 1000)} s, ${end}`);
    if (seen.first === null) log(`${ran.stdout.slice(-500)}\n${ran.stderr.slice(-500)}`);
    await keep?.(name, observation);
    return { seen, observation };
  };
  const hold = async (conversation: Conversation) => {
    const held = await holdOnce(conversation);
    if (isReady(held.observation)) return held;
    log(`${conversation.name}: the first request came before the tools were listed, so that it is held again`);
    const again = await holdOnce(conversation);
    return isReady(again.observation) ? again : { ...again, seen: createSeen() };
  };

  const { seen, observation } = await hold({ name: 'calls', script: callAll });
  const isReceived = (tool: string) =>
    listReceived(observation, 'tools/call').some(
      ({ message }) => isRecord(message['params']) && message['params']['name'] === tool,
    );
  const lists = listReceived(observation, 'tools/list').length;
  const facts: Facts = new Map([
    ['tools.deferral', readDeferral(seen)],
    ['tools.search', readSearch(seen)],
    ['tools.forApps', readForApps(seen)],
    ['instructions', readInstructions(seen)],
    ['schemas.changes', readSchemaChanges(seen)],
    ['arguments', readArguments(seen, isReceived)],
    ...(seen.first === null ? [] : readResults(seen, isReceived)),
  ]);
  const more = describeMore(seen, lists > 1);

  const lengths = await hold({ name: 'lengths', script: readFirst, surface: 'lengths' });
  facts.set('names', readNames(seen, lengths.seen));
  const refused = await hold({ name: 'property-true', script: readFirst, surface: 'true' });
  facts.set('schemas.refused', readRefused(refused.seen));

  // A limit for descriptions holds only for tools that are shown at once.
  const atOnce = host.showAll === null ? null : await hold({ name: 'all-tools', script: readFirst, env: host.showAll });
  facts.set('description', readDescription(atOnce?.seen ?? seen, countWords('d', sizes.description)));

  const long = await hold({ name: 'sizes', script: halveSizes });
  facts.set('results.long', readLongResult(long.seen));

  const shown = [readDeferral(seen)];
  for (const model of host.models) {
    const { seen: other } = await hold({ name: `model-${model}`, script: readFirst, model });
    shown.push(readDeferral(other));
    more[`${model}: tools`] = shown.at(-1);
    const instructions = readInstructions(other);
    more[`${model}: instructions`] = instructions;
    // Users have the models that a host knows.
    if ('value' in instructions) facts.set('instructions', instructions);
  }
  if (shown.some((each) => !isJsonEqual(each, shown[0]))) facts.set('tools.deferral', { value: { kind: 'by-model' } });

  const hanging = await hold({ name: 'timeout', script: callHanging, limitMs: timeoutMs });
  facts.set('timeout', readTimeout(hanging.observation, timeoutMs));
  return { facts, more };
}

/** Checks that the host listed the tools before its first request: one that does not wait for a slow server shows none. */
function isReady(observation: Observation): boolean {
  const listed = listReceived(observation, 'tools/list').at(0);
  const first = observation.exchanges.find(({ seen }) => seen !== null);
  return listed !== undefined && first !== undefined && listed.time <= first.time;
}

/** The time from a call to its cancellation, or to the host's next request. */
function readTimeout(observation: Observation, timeoutMs: number) {
  const call = listReceived(observation, 'tools/call').at(0);
  if (call === undefined) return { missing: 'The call did not reach the server.' };
  const cancelled = listReceived(observation, 'notifications/cancelled').at(0);
  const next = observation.exchanges.find(({ time }) => time > call.time);
  const end = cancelled?.time ?? next?.time;
  if (end === undefined) return { missing: `The call was not cancelled within ${timeoutMs / 1000} s.` };
  return { value: Math.round((end - call.time) / 1000) };
}
