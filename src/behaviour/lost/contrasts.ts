import { isJsonEqual, printCanonicalJson } from '../../base/json.ts';
import type { ExploredRequest, Outcome } from '../../explore/exploration.ts';
import type { ComparedRequest } from '../bench.ts';

/** The answers of both sides to the last request of another session: one that leaves something out, or has another argument. */
export interface Contrast {
  session: readonly ExploredRequest[];
  base: Outcome;
  head: Outcome;
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
