import { isJsonEqual, isRecord } from '../base/json.ts';
import { appendAll } from '../base/lists.ts';
import type { Surface, SurfacePrompt, SurfaceTool } from '../model/surface.ts';
import { type SurfaceChange, surfaceSeverities } from '../model/surface-report.ts';
import {
  judgeAnnotation,
  judgeSchemaChange,
  judgeTaskSupport,
  type ChangeClass,
  changeClasses,
  type Side,
} from './change-classes.ts';
import { joinPath } from './schema/compare-objects.ts';
import { compareSchemas } from './schema/compare-schemas.ts';
import { compareNotes } from './schema/notes.ts';
import { createWork, spend, TooMuchWorkError, type Work } from './schema/work.ts';

/** A change of a surface, with the item that changed. */
export interface FoundChange extends Omit<SurfaceChange, 'location'> {
  /** Null if the change is about the server itself. */
  item: { list: 'tools' | 'prompts' | 'resources' | 'resourceTemplates'; name: string } | null;
}

type Item = FoundChange['item'];

/** A change before its severity is decided. */
interface Fact {
  id: string;
  item: Item;
  message: string;
  before?: unknown;
  after?: unknown;
}

/** The longest `before` or `after` text: a reviewer reads descriptions and instructions in full. */
const maxTextLength = 20_000;

/**
 * Lists the changes between two surfaces of one server, worst first. The same two surfaces always have the same changes with the same
 * ids; equal surfaces have none. If the comparison needs more steps than `work` has, the list ends with a breaking change that says so,
 * because the parts that were not compared may have one.
 */
export function compareSurfaces(before: Surface, after: Surface, work: Work = createWork()): FoundChange[] {
  const changes: FoundChange[] = [];
  try {
    appendAll(changes, compareServer(before, after, work));
    compareItems('tools', [before.tools, after.tools], { compare: compareTools, work, changes });
    compareItems('prompts', [before.prompts, after.prompts], { compare: comparePrompts, work, changes });
    compareItems('resources', [before.resources, after.resources], { compare: compareResources, work, changes });
    const templates = [before.resourceTemplates, after.resourceTemplates] as const;
    compareItems('resourceTemplates', templates, { compare: compareResources, work, changes });
  } catch (error) {
    if (!(error instanceof TooMuchWorkError)) throw error;
    const message = `The surfaces are too large to be compared as a whole: ${error.message}`;
    changes.push(decide({ id: 'server.tooLarge', item: null, message }, changeClasses.tooLarge));
  }
  const rank = ({ severity }: FoundChange) => surfaceSeverities.indexOf(severity);
  return changes.toSorted((a, b) => rank(a) - rank(b));
}

function decide({ before, after, ...fact }: Fact, changeClass: ChangeClass): FoundChange {
  return { ...fact, ...changeClass, before: printValue(before), after: printValue(after) };
}

function printValue(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}

function compareServer(before: Surface, after: Surface, work: Work): FoundChange[] {
  const changes: FoundChange[] = [];
  const add = (fact: Omit<Fact, 'item'>, changeClass: ChangeClass) =>
    changes.push(decide({ ...fact, item: null }, changeClass));
  const [own, other] = [before.server, after.server];
  if (own !== undefined && other !== undefined && own.name !== other.name) {
    const message = 'The server has another name';
    add({ id: 'server.nameChanged', message, before: own.name, after: other.name }, changeClasses.serverName);
  }
  const [from, to] = [own?.version, other?.version];
  if (typeof from === 'string' && typeof to === 'string' && readRelease(from) !== readRelease(to)) {
    const message = 'The server has another version';
    add({ id: 'server.versionChanged', message, before: from, after: to }, changeClasses.serverVersion);
  }
  if (before.instructions !== after.instructions) {
    const message = 'The instructions of the server changed';
    const texts = { before: before.instructions, after: after.instructions };
    add({ id: 'server.instructionsChanged', message, ...texts }, changeClasses.instructions);
  }
  for (const { path, from, to } of listDifferences(before.capabilities, after.capabilities, work)) {
    const [verb, changeClass] = describeDifference(from, to);
    const message = `The capability ${path} ${verb === 'Changed' ? 'changed' : `was ${verb.toLowerCase()}`}`;
    add({ id: `server.capabilities.${path}${verb}`, message, before: from, after: to }, changeClass);
  }
  return changes;
}

/** Reads the numbers of a release. What follows them names a build, such as a commit, which each change has its own of. */
const readRelease = (version: string) => /^v?\d+(?:\.\d+)*/.exec(version)?.[0] ?? version;

/** A capability that is `false` counts as absent. */
function describeDifference(from: unknown, to: unknown): ['Added' | 'Removed' | 'Changed', ChangeClass] {
  const [isOn, stays] = [from, to].map((value) => value !== undefined && value !== false);
  if (isOn === true && stays === false) return ['Removed', changeClasses.capabilityRemoved];
  if (isOn === false && stays === true) return ['Added', changeClasses.capabilityAdded];
  if (isOn === false) return ['Changed', { ...changeClasses.capabilityChanged, severity: 'cosmetic' }];
  return ['Changed', changeClasses.capabilityChanged];
}

/** Lists the members in which two objects differ, recursively while both members are objects. */
function listDifferences(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  work: Work,
  path = '',
): Array<{ path: string; from: unknown; to: unknown }> {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  spend(work, keys.length);
  return keys.flatMap((key) => {
    const [from, to] = [before[key], after[key]];
    const inner = joinPath(path, key);
    if (isRecord(from) && isRecord(to)) return listDifferences(from, to, work, inner);
    return isJsonEqual(from, to) ? [] : [{ path: inner, from, to }];
  });
}

const listNames = { tools: 'tool', prompts: 'prompt', resources: 'resource', resourceTemplates: 'template' } as const;
const words = { tools: 'tool', prompts: 'prompt', resources: 'resource', resourceTemplates: 'resource template' };

type ListName = keyof typeof listNames;
type AnyItem = { name: string; uri?: string; uriTemplate?: string };

function readKey({ name, uri, uriTemplate }: AnyItem): string {
  return uri ?? uriTemplate ?? name;
}

/** Compares the items of a list by their keys, and adds the differences to `changes`. */
function compareItems<T extends AnyItem>(
  list: ListName,
  [before, after]: readonly [readonly T[], readonly T[]],
  {
    compare,
    work,
    changes,
  }: { compare: (before: T, after: T, about: About) => FoundChange[]; work: Work; changes: FoundChange[] },
): void {
  const [from, to] = [before, after].map((items) => new Map(items.map((item) => [readKey(item), item])));
  if (from === undefined || to === undefined) return;
  for (const name of [...new Set([...from.keys(), ...to.keys()])].toSorted()) {
    spend(work, 1);
    const about = { id: joinPath(listNames[list], name), item: { list, name }, what: `${words[list]} ${name}`, work };
    const [own, other] = [from.get(name), to.get(name)];
    if (own !== undefined && other !== undefined) {
      appendAll(changes, compare(own, other, about));
      continue;
    }
    const [verb, changeClass] =
      own === undefined ? (['added', changeClasses.added] as const) : (['removed', changeClasses.removed] as const);
    const message = `The ${about.what} was ${verb}`;
    changes.push(decide({ id: `${about.id}.${verb}`, item: about.item, message }, changeClass));
  }
}

interface About {
  id: string;
  item: Item;
  what: string;
  work: Work;
}

/** Compares the texts and the metadata that items of every kind have. */
function compareCommon(
  before: { title?: string; description?: string; _meta?: Record<string, unknown> },
  after: typeof before,
  { id, item, what, work }: About,
): FoundChange[] {
  const changes: FoundChange[] = [];
  if (before.title !== after.title) {
    const message = `The title of the ${what} changed`;
    changes.push(
      decide(
        { id: `${id}.titleChanged`, item, message, before: before.title, after: after.title },
        changeClasses.title,
      ),
    );
  }
  if (before.description !== after.description) {
    const message = `The description of the ${what} changed`;
    const texts = { before: before.description, after: after.description };
    changes.push(decide({ id: `${id}.descriptionChanged`, item, message, ...texts }, changeClasses.description));
  }
  for (const { path, from, to } of listDifferences(before._meta ?? {}, after._meta ?? {}, work)) {
    const message = `The metadata ${path} of the ${what} changed`;
    changes.push(
      decide({ id: `${id}.meta.${path}Changed`, item, message, before: from, after: to }, changeClasses.meta),
    );
  }
  return changes;
}

function compareTools(before: SurfaceTool, after: SurfaceTool, about: About): FoundChange[] {
  const { id, item, what, work } = about;
  const differences = listDifferences(before.annotations ?? {}, after.annotations ?? {}, work);
  const annotations = differences.map(({ path, from, to }) => {
    const message = `The annotation ${path} of the ${what} changed`;
    const fact = { id: `${id}.annotations.${path}Changed`, item, message, before: from, after: to };
    return decide(fact, judgeAnnotation(path, from, to));
  });
  const [support, newSupport] = [before, after].map(({ execution }) => execution?.['taskSupport'] ?? 'forbidden');
  const fact = { id: `${id}.taskSupportChanged`, item, before: support, after: newSupport };
  const tasks =
    support === newSupport
      ? []
      : [
          decide(
            { ...fact, message: `The ${what} runs as a task in another way` },
            judgeTaskSupport(support, newSupport),
          ),
        ];
  return [
    ...compareCommon(before, after, about),
    ...compareParts('input', [before.inputSchema, after.inputSchema], about),
    ...compareOutputs(before.outputSchema, after.outputSchema, about),
    ...annotations,
    ...tasks,
  ];
}

function compareOutputs(before: unknown, after: unknown, about: About): FoundChange[] {
  const { id, item, what } = about;
  if (before !== undefined && after !== undefined) return compareParts('output', [before, after], about);
  if (before === after) return [];
  const isAdded = before === undefined;
  const message = `The output schema of the ${what} was ${isAdded ? 'added' : 'removed'}`;
  const changeClass = isAdded ? changeClasses.outputAdded : changeClasses.outputRemoved;
  return [decide({ id: `${id}.output.${isAdded ? 'added' : 'removed'}`, item, message }, changeClass)];
}

/** Compares a schema of a tool: first its values, then its notes for people and models. */
function compareParts(side: Side, [before, after]: [unknown, unknown], { id, item, what, work }: About): FoundChange[] {
  if (isJsonEqual(before, after)) return [];
  const name = (path: string, kind: string) => `${id}.${side}.${path === '' ? '' : `${path}.`}${kind}`;
  const where = (path: string) =>
    path === '' ? `The ${side} of the ${what}` : `${path} in the ${side} of the ${what}`;
  const values = compareSchemas(before, after, work).map((change) => {
    const { path, kind, before: from, after: to } = change;
    const message = `${where(path)}: ${describeKind(kind, change)}`;
    return decide({ id: name(path, kind), item, message, before: from, after: to }, judgeSchemaChange(change, side));
  });
  const notes = compareNotes(before, after, work).map(({ path, keyword, before: from, after: to }) => {
    const fact = {
      id: name(path, `${keyword}Changed`),
      item,
      message: `${where(path)}: the ${keyword} changed`,
      before: from,
      after: to,
    };
    const known: Partial<Record<string, ChangeClass>> = {
      title: changeClasses.title,
      description: changeClasses.description,
    };
    return decide(fact, known[keyword] ?? changeClasses.note);
  });
  if (values.length + notes.length > 0) return [...values, ...notes];
  return [
    decide(
      { id: name('', 'rewritten'), item, message: `${where('')}: the schema is written differently` },
      changeClasses.written,
    ),
  ];
}

/** Writes a kind such as `typeNarrowed` as words: `type narrowed from string to integer`. */
function describeKind(kind: string, { before, after }: { before: string | null; after: string | null }): string {
  const words = kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  if (before !== null && after !== null) return `${words} from ${before} to ${after}`;
  return before === null && after === null ? words : `${words}: ${before ?? after}`;
}

function comparePrompts(before: SurfacePrompt, after: SurfacePrompt, about: About): FoundChange[] {
  const { id, item, what, work } = about;
  const [from, to] = [before, after].map(({ arguments: args }) => new Map(args.map((each) => [each.name, each])));
  const names = [...new Set([...(from?.keys() ?? []), ...(to?.keys() ?? [])])].toSorted();
  spend(work, names.length);
  const changes = names.flatMap((name): FoundChange[] => {
    const [own, other] = [from?.get(name), to?.get(name)];
    const inner = { id: joinPath(`${id}.argument`, name), item, what: `argument ${name} of the ${what}`, work };
    const decideVerb = (verb: string, changeClass: ChangeClass) =>
      decide(
        {
          id: `${inner.id}.${verb}`,
          item,
          message: `The ${inner.what} ${verb === 'added' || verb === 'removed' ? `was ${verb}` : verb.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
        },
        changeClass,
      );
    if (own === undefined)
      return [decideVerb('added', other?.required === true ? changeClasses.argumentRequired : changeClasses.added)];
    if (other === undefined) return [decideVerb('removed', changeClasses.removed)];
    const isSame = own.required === other.required;
    const requirement = other.required
      ? decideVerb('becameRequired', changeClasses.argumentRequired)
      : decideVerb('becameOptional', changeClasses.argumentOptional);
    return [...(isSame ? [] : [requirement]), ...compareCommon(own, other, inner)];
  });
  return [...compareCommon(before, after, about), ...changes];
}

interface ResourceTexts {
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

function compareResources(before: ResourceTexts, after: ResourceTexts, about: About): FoundChange[] {
  const { id, item, what, work } = about;
  const changes: FoundChange[] = [];
  const add = (kind: string, fact: Pick<Fact, 'message' | 'before' | 'after'>, changeClass: ChangeClass) =>
    changes.push(decide({ id: `${id}.${kind}`, item, ...fact }, changeClass));
  if (before.name !== after.name) {
    add(
      'nameChanged',
      { message: `The name of the ${what} changed`, before: before.name, after: after.name },
      changeClasses.title,
    );
  }
  if (before.mimeType !== after.mimeType) {
    const texts = { before: before.mimeType, after: after.mimeType };
    add('mimeTypeChanged', { message: `The media type of the ${what} changed`, ...texts }, changeClasses.mimeType);
  }
  for (const { path, from, to } of listDifferences(before.annotations ?? {}, after.annotations ?? {}, work)) {
    const fact = { message: `The annotation ${path} of the ${what} changed`, before: from, after: to };
    add(`annotations.${path}Changed`, fact, changeClasses.annotation);
  }
  return [...changes, ...compareCommon(before, after, about)];
}
