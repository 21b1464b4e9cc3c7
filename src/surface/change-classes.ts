import type { SurfaceSeverity } from '../model/surface-report.ts';
import type { Certainty, SchemaChange } from './schema/effect.ts';

/** The severity of a change, with the reason for it. */
export interface ChangeClass {
  severity: SurfaceSeverity;
  rule: string;
  reason: string;
}

/** The direction of values: a caller sends values that match the input schema, and reads values that match the output schema. */
export type Side = 'input' | 'output';

const rule = (severity: SurfaceSeverity, name: string, reason: string): ChangeClass => ({
  severity,
  rule: name,
  reason,
});

export const changeClasses = {
  tooLarge: rule('breaking', 'surface-too-large', 'What is not compared may have breaking changes.'),
  removed: rule('breaking', 'item-removed', 'Who uses it gets an error now.'),
  added: rule('additive', 'item-added', 'Nothing that worked before depends on it.'),
  serverName: rule('review', 'server-name-changed', 'Hosts and registries know a server by its name.'),
  serverVersion: rule(
    'cosmetic',
    'server-version-changed',
    'Hosts show it to people; check that it is the one of the server.',
  ),
  description: rule('review', 'description-changed', 'A description changes what a model does with the server.'),
  instructions: rule('review', 'instructions-changed', 'Instructions change what a model does with the server.'),
  title: rule('cosmetic', 'title-changed', 'A title is for people; hosts do not send it to a model.'),
  note: rule('review', 'note-changed', 'Models and programs read it, although it refuses no value.'),
  meta: rule('review', 'metadata-changed', 'A host that knows the extension may act differently.'),
  written: rule('cosmetic', 'schema-rewritten', 'The schema allows the same values, in other words.'),
  argumentRequired: rule('breaking', 'argument-required', 'A call without the argument is refused now.'),
  argumentOptional: rule('additive', 'argument-optional', 'Every call that was accepted still is.'),
  mimeType: rule('review', 'media-type-changed', 'A client may read the content in another way.'),
  taskRequired: rule('breaking', 'task-required', 'A client that knows no tasks cannot call the tool any more.'),
  taskAllowed: rule('additive', 'task-allowed', 'Clients that call the tool without a task still can.'),
  taskForbidden: rule('breaking', 'task-forbidden', 'A client that calls the tool as a task is refused now.'),
  outputRemoved: rule('breaking', 'output-schema-removed', 'Nothing says what a result looks like any more.'),
  // Validators of TypeScript write `additionalProperties: false` by default, which says nothing about later versions of the server.
  outputProperty: rule(
    'review',
    'output-property-added',
    'Only a client that keeps the earlier output schema refuses the new property.',
  ),
  outputAdded: rule('additive', 'output-schema-added', 'It promises more about results than before.'),
  capabilityRemoved: rule('breaking', 'capability-removed', 'A client that uses the capability gets errors now.'),
  capabilityAdded: rule('additive', 'capability-added', 'No client depended on it.'),
  capabilityChanged: rule('review', 'capability-changed', 'A client that reads it may act differently.'),
  hintLessSafe: rule(
    'breaking',
    'hint-less-safe',
    'Hosts that let the tool run without asking, because of the hint, must not do so any more.',
  ),
  hintSafer: rule('review', 'hint-safer', 'Hosts may run the tool without asking now; check that the hint is true.'),
  annotation: rule('review', 'annotation-changed', 'A host that reads the annotation may act differently.'),
} as const;

const meanings: Record<Side, Record<'breaking' | 'review' | 'additive' | 'cosmetic', string>> = {
  input: {
    breaking: 'A call that was valid before can be refused now.',
    review: 'Whether a call that was valid before can be refused now is not decidable from the schemas.',
    additive: 'Every call that was valid before still is.',
    cosmetic: 'The schema allows the same calls as before.',
  },
  output: {
    breaking: 'A result can be one that was not valid before, for which no client is prepared.',
    review: 'Whether a result can be one that was not valid before is not decidable from the schemas.',
    additive: 'Every result is one that was valid before.',
    cosmetic: 'The schema allows the same results as before.',
  },
};

/** The meaning of some changes that the sets of values do not show. */
const undecided: Record<Side, Partial<Record<string, string>>> = {
  input: {
    added:
      'The schema accepts further properties, so that a call could send one of this name before; now it is checked.',
    removed: 'The schema still accepts it, and nothing says that it has an effect.',
    formatNarrowed: 'Whether the server refuses other texts depends on whether it checks formats.',
  },
  output: { removed: 'The property may still be there, and nothing promises it.' },
};

const severities: Record<Certainty, SurfaceSeverity> = { yes: 'breaking', maybe: 'review', no: 'additive' };

/**
 * Decides the severity of a schema change. It is breaking if it refuses a value that a caller may send, or allows a new value that a
 * caller has to read.
 */
export function judgeSchemaChange({ kind, narrows, widens }: SchemaChange, side: Side): ChangeClass {
  const [harm, gain] = side === 'input' ? [narrows, widens] : [widens, narrows];
  const isNew = kind === 'added' || kind === 'addedRequired';
  if (side === 'output' && isNew && harm === 'yes') return changeClasses.outputProperty;
  const severity = harm === 'no' && gain === 'no' && !isNew ? 'cosmetic' : severities[harm];
  const special = severity === 'review' ? undecided[side][kind] : undefined;
  const direction = { breaking: side === 'input' ? 'narrowed' : 'widened', review: 'undecided' };
  const name = severity === 'breaking' || severity === 'review' ? direction[severity] : severity;
  return { severity, rule: `${side}-${name}`, reason: special ?? meanings[side][severity] };
}

/** The annotations of a tool that hosts check before they run it, each with its careful value. */
const hints: Readonly<Record<string, { careful: boolean; default: boolean }>> = {
  readOnlyHint: { careful: false, default: false },
  destructiveHint: { careful: true, default: true },
  idempotentHint: { careful: false, default: false },
  openWorldHint: { careful: true, default: true },
};

/** Decides the meaning of a changed annotation of a tool. A missing hint has its default (MCP, ToolAnnotations). */
export function judgeAnnotation(name: string, before: unknown, after: unknown): ChangeClass {
  if (name === 'title') return changeClasses.title;
  const hint = hints[name];
  if (hint === undefined) return changeClasses.annotation;
  const [from, to] = [before ?? hint.default, after ?? hint.default];
  if (from === to)
    return { ...changeClasses.annotation, severity: 'cosmetic', reason: 'It says what its absence says, too.' };
  return to === hint.careful ? changeClasses.hintLessSafe : changeClasses.hintSafer;
}

/** Decides the meaning of changed task support; the default is `forbidden`. */
export function judgeTaskSupport(before: unknown, after: unknown): ChangeClass {
  if (after === 'required') return changeClasses.taskRequired;
  if (before === 'required' && after === 'optional') return changeClasses.taskAllowed;
  return after === 'optional' ? changeClasses.taskAllowed : changeClasses.taskForbidden;
}
