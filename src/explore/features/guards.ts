import type { ExploredRequest } from '../../model/explored-request.ts';
import { isOption } from '../vocabulary/typical-values.ts';
import type { Feature } from './feature.ts';

/** A value that a careful server refuses for what it is, and how it says so. */
interface Guard {
  has: (value: unknown) => boolean;
  refusal: RegExp;
}

/** A text that a program would take for an option; git says of a path that it knows no such file. */
export const ofOptions: Guard = {
  has: isOption,
  refusal: /\b(?:start|begin|option|flag|dash|hyphen|inject|pathspec)/i,
};

/** A URL of the own machine, refused because of its address, and not of its scheme or port. */
export const ofOwnMachine: Guard = {
  has: (value) =>
    typeof value === 'string' && /\bhttps?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?![\w.-])/.test(value),
  refusal:
    /\b(?:public|private|loopback|localhost|internal|reserved|ssrf)\b|\b(?:host|address|domain|ip)\b.{0,40}\b(?:blocked|allowed|denied|forbidden|permitted)\b/i,
};

const guards: readonly Guard[] = [ofOptions, ofOwnMachine];

/** Lists the parameters in which a server refuses a value for what it is. */
export function listGuards(request: ExploredRequest, message: string): Feature[] {
  if (request.kind !== 'tool') return [];
  const { tool, arguments: args } = request;
  return Object.entries(args).flatMap(([name, value]): Feature[] =>
    guards.some(({ has, refusal }) => has(value) && refusal.test(message)) ? [{ kind: 'guard', tool, name }] : [],
  );
}

/** Checks if a call has what a guard refuses as its parameter. */
export const isGuardedBy = (request: ExploredRequest, { tool, name }: { tool: string; name: string }): boolean =>
  request.kind === 'tool' && request.tool === tool && guards.some(({ has }) => has(request.arguments[name]));
