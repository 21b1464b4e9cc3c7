import type { ExploredRequest, Outcome } from '../../explore/exploration.ts';
import type { ComparedRequest } from '../bench.ts';

/** The answers of both sides to the last request of a session that leaves something out. */
export interface Contrast {
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
  session: ExploredRequest[];
}

/** Leaves out each argument of each call, one at a time. */
export function leaveArgumentsOut(requests: readonly ComparedRequest[]): LessArgument[] {
  const session = requests.map(({ request }) => request);
  return session.flatMap((request, step) => {
    if (request.kind !== 'tool') return [];
    return Object.keys(request.arguments).map((name) => {
      const { [name]: _, ...others } = request.arguments;
      return { tool: request.tool, name, session: session.with(step, { ...request, arguments: others }) };
    });
  });
}
