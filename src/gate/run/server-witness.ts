import type { Redactor } from '../../base/redaction.ts';
import type { ProcessEnd, ProcessWitness, ServerWitnesses } from '../../model/process-end.ts';

/** Witnesses of servers that are started later than the service that asks them. */
export interface ServerWitnessBook extends ServerWitnesses {
  /** Called once the service knows the server; null where it was started elsewhere. */
  set(serverId: string, witness: ProcessWitness | null): void;
}

/** Passes on what witnesses say, without secrets. */
export function createServerWitnesses(redactor: Redactor): ServerWitnessBook {
  const known = new Map<string, ProcessWitness>();
  /** One end stays one value: iterations that shared a process are recognised by it. */
  const redacted = new WeakMap<ProcessEnd, ProcessEnd>();
  const redactEnd = (end: ProcessEnd): ProcessEnd => {
    const clean = redacted.get(end) ?? { ...end, lastLines: redactLines(end.lastLines, redactor) };
    redacted.set(end, clean);
    return clean;
  };
  const redactWitness = (witness: ProcessWitness): ProcessWitness => ({
    visit: async (options) => {
      const visit = await witness.visit(options);
      return {
        findEnd: async (...asked) => {
          const found = await visit.findEnd(...asked);
          return found === null ? null : { ...found, end: redactEnd(found.end) };
        },
        [Symbol.dispose]: () => visit[Symbol.dispose](),
      };
    },
  });
  return {
    set: (serverId, witness) => {
      if (witness !== null) known.set(serverId, redactWitness(witness));
    },
    find: (serverId) => known.get(serverId) ?? null,
  };
}

/** As one text, since a secret may have several lines. */
function redactLines(lines: readonly string[], redactor: Redactor): string[] {
  return lines.length === 0 ? [] : redactor.redact(lines.join('\n')).split('\n');
}
