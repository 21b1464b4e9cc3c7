import { isJsonEqual, type JsonObject, printCanonicalJson } from '../../base/json.ts';
import type { Outcome } from '../../explore/exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { ComparedRequest } from '../bench.ts';

/** The answers of both sides to the last request of another session: one that leaves something out, or has another argument. */
export interface Contrast {
  session: readonly ExploredRequest[];
  base: Outcome;
  head: Outcome;
  /** The argument of the last request that has the default which both servers declare for it. */
  defaultOf?: string;
}

/** By `writeSession`. */
export type Contrasts = ReadonlyMap<string, Contrast>;

/** Writes the key of a session. */
export function writeSession(session: readonly ExploredRequest[]): string {
  return JSON.stringify(session);
}

/** Leaves out the calls before the last request; null if there are none, or if it needs a result of one. */
export function leaveCallsOut(requests: readonly ComparedRequest[]): ExploredRequest[] | null {
  const last = requests.at(-1);
  if (last === undefined || !requests.slice(0, -1).some(({ mayMake }) => mayMake)) return null;
  return JSON.stringify(last.request).includes('{{result.') ? null : [last.request];
}

/** A session in which one call lacks one argument. */
export interface LessArgument {
  tool: string;
  name: string;
  value: unknown;
  session: ExploredRequest[];
}

/** Leaves out each argument of each call, one at a time. */
export function leaveArgumentsOut(requests: readonly ComparedRequest[]): LessArgument[] {
  const session = requests.map(({ request }) => request);
  return session.flatMap((request, step) => {
    if (request.kind !== 'tool') return [];
    return Object.entries(request.arguments).map(([name, value]) => {
      const { [name]: _, ...others } = request.arguments;
      return { tool: request.tool, name, value, session: session.with(step, { ...request, arguments: others }) };
    });
  });
}

/** Lists the contrasts whose last call differs from that of a session in this argument only, by another value or none. */
export function listOtherValues(
  contrasts: Contrasts,
  session: readonly ExploredRequest[],
  argument: string,
): Contrast[] {
  const write = (own: readonly ExploredRequest[]) => {
    const last = own.at(-1);
    if (last?.kind !== 'tool') return null;
    const { [argument]: _, ...others } = last.arguments;
    return printCanonicalJson([...own.slice(0, -1), { ...last, arguments: others }]);
  };
  const key = write(session);
  return [...contrasts.values()].filter(
    (each) => key !== null && write(each.session) === key && writeSession(each.session) !== writeSession(session),
  );
}

/** Adds to the last call each of the defaults of its tool that it lacks, one at a time. */
export function addDefaults(
  session: readonly ExploredRequest[],
  defaults: ReadonlyMap<string, JsonObject>,
): Array<{ name: string; session: ExploredRequest[] }> {
  const last = session.at(-1);
  if (last?.kind !== 'tool') return [];
  return Object.entries(defaults.get(last.tool) ?? {}).flatMap(([name, value]) =>
    Object.hasOwn(last.arguments, name)
      ? []
      : [{ name, session: [...session.slice(0, -1), { ...last, arguments: { ...last.arguments, [name]: value } }] }],
  );
}

/** Lists the contrasts that differ from a session in an argument more, which has its default. */
export function listWithDefault(
  contrasts: Contrasts,
  session: readonly ExploredRequest[],
): Array<Contrast & { name: string; value: unknown }> {
  const key = printCanonicalJson(session);
  return [...contrasts.values()].flatMap((each) => {
    const last = each.session.at(-1);
    if (last?.kind !== 'tool' || each.defaultOf === undefined) return [];
    const { [each.defaultOf]: value, ...others } = last.arguments;
    const isSame = printCanonicalJson([...each.session.slice(0, -1), { ...last, arguments: others }]) === key;
    return isSame ? [{ ...each, name: each.defaultOf, value }] : [];
  });
}

/** Lists the contrasts whose last call has the same tool and other arguments. */
export function listOtherCalls(contrasts: Contrasts, { request }: ComparedRequest): Contrast[] {
  if (request.kind !== 'tool') return [];
  return [...contrasts.values()].filter(({ session }) => {
    const last = session.at(-1);
    return last?.kind === 'tool' && last.tool === request.tool && !isJsonEqual(last.arguments, request.arguments);
  });
}

interface Without extends LessArgument {
  without: Contrast;
}

/** Lists the arguments of a session, with the answers to it without them. */
export function listWithout(contrasts: Contrasts, seen: ReadonlyArray<{ request: ComparedRequest }>): Without[] {
  return leaveArgumentsOut(seen.map(({ request }) => request)).flatMap((less) => {
    const without = contrasts.get(writeSession(less.session));
    return without === undefined ? [] : [{ ...less, without }];
  });
}
