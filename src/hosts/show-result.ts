import { isJsonEqual, isRecord, type JsonObject, tryParseJson } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import type { HostChange } from '../model/hosts-report.ts';
import { createChange } from './fact.ts';
import type { HostProfile } from './profile.ts';

/** A part of a result as a model is shown it. */
export type ShownPart =
  | { kind: 'text'; text: string }
  /** An image that the model sees, as Base64. */
  | { kind: 'image'; mimeType: string; data: string }
  /** A sentence of the host instead of the content. */
  | { kind: 'note'; about: string }
  /** A file that the model can read, with its content or the rest of a text. */
  | { kind: 'file'; about: string };

/** A result as a host shows it to a model. */
export interface ShownResult {
  parts: ShownPart[];
  /** True if the model is shown that the call failed; null if the result is no error or the fact is unknown. */
  isMarkedError: boolean | null;
  changes: HostChange[];
}

/** The kinds of content that MCP defines, other than text, with the fact about each. */
const contentFacts = { image: 'image', resource: 'resource', resource_link: 'link', audio: 'audio' } as const;
type ContentKind = keyof typeof contentFacts;

const isContentKind = (kind: unknown): kind is ContentKind =>
  typeof kind === 'string' && Object.hasOwn(contentFacts, kind);

/** Shows the result of a call as a host does. Skips parts that MCP does not define. Pure, and never throws. */
export function showResult(profile: HostProfile, result: JsonObject): ShownResult {
  const content: unknown[] = Array.isArray(result['content']) ? result['content'] : [];
  const blocks = content.filter(isRecord);
  const structured = showStructured(profile, result['structuredContent'], blocks);
  const seen = structured.hasContent ? blocks : structured.images;
  const shown = seen.map((block) => showBlock(profile, block));
  const failure = showFailure(profile, result);
  const long = cutLong(profile, [...failure.parts, ...shown.flatMap(({ parts }) => parts), ...structured.parts]);
  return {
    parts: long.parts,
    isMarkedError: long.isError ? true : failure.isMarked,
    changes: [...structured.changes, ...shown.flatMap(({ changes }) => changes), ...failure.changes, ...long.changes],
  };
}

interface Shown {
  parts: ShownPart[];
  changes: HostChange[];
}

/** Chooses between structured content and other content. Some hosts show the images of content that they do not show. */
function showStructured(
  { results }: HostProfile,
  value: unknown,
  blocks: readonly JsonObject[],
): Shown & { hasContent: boolean; images: JsonObject[] } {
  const isShown = results.structuredImage?.value === 'shown';
  const images = isShown ? blocks.filter(({ type }) => type === 'image') : [];
  const rest = isShown ? blocks.filter(({ type }) => type !== 'image') : blocks;
  return { ...chooseStructured(results, value, blocks, rest), images };
}

/** `rest` is what a host does not show that shows only structured content. */
function chooseStructured(
  results: HostProfile['results'],
  value: unknown,
  blocks: readonly JsonObject[],
  rest: readonly JsonObject[],
): Shown & { hasContent: boolean } {
  if (value === undefined) return { parts: [], changes: [], hasContent: true };
  const json: ShownPart = { kind: 'text', text: JSON.stringify(value) };
  const { structured, structuredAlone } = results;
  if (blocks.length === 0) {
    if (structuredAlone === undefined || structuredAlone.value === 'json') {
      return { parts: [json], changes: [], hasContent: true };
    }
    const isNothing = structuredAlone.value === 'nothing';
    const message = isNothing
      ? 'shows the model nothing of a result that has only `structuredContent`'
      : 'shows the model a placeholder for a result that has only `structuredContent`';
    const change = createChange({ path: 'results.structuredAlone', fact: structuredAlone }, { kind: 'lost', message });
    const parts: ShownPart[] = isNothing ? [] : [{ kind: 'note', about: 'an empty result' }];
    return { parts, changes: [change], hasContent: true };
  }
  if (structured === undefined || structured.value === 'both') return { parts: [json], changes: [], hasContent: true };
  const isContent = structured.value === 'text';
  const parts = isContent ? [] : [json];
  // Nothing is lost: MCP asks servers to repeat structured content in a text.
  if (isRepeated(value, isContent ? blocks : rest, isContent)) return { parts, changes: [], hasContent: isContent };
  const message = isContent
    ? 'shows the model the texts of a result, and not its `structuredContent`'
    : 'shows the model `structuredContent` of a result, and not its content';
  const change = createChange({ path: 'results.structured', fact: structured }, { kind: 'lost', message });
  return { parts, changes: [change], hasContent: isContent };
}

/** Checks if the part that the model is shown holds the other one: as JSON in a text, or each text as a member. */
function isRepeated(value: unknown, blocks: readonly JsonObject[], isContent: boolean): boolean {
  const texts = blocks.flatMap((block) => (block['type'] === 'text' ? [readText(block, 'text')] : []));
  const isAllText = texts.length === blocks.length;
  const [first = ''] = texts;
  if (isAllText && texts.length === 1 && isJsonEqual(tryParseJson(first), value)) return true;
  const members = isRecord(value) ? Object.values(value) : [];
  if (!isContent) return isAllText && texts.every((text) => members.includes(text));
  const isShown = (member: unknown) =>
    typeof member === 'string' ? texts.includes(member) : isJsonEqual(member, [...blocks]);
  return members.length > 0 && members.every(isShown);
}

function showBlock({ results }: HostProfile, block: JsonObject): Shown {
  const { type, annotations } = block;
  if (isForUser(annotations) && results.forUser?.value === 'lost') {
    const message = 'does not show the model content for the user';
    return {
      parts: [],
      changes: [createChange({ path: 'results.forUser', fact: results.forUser }, { kind: 'lost', message })],
    };
  }
  if (type === 'text') return { parts: [{ kind: 'text', text: readText(block, 'text') }], changes: [] };
  if (!isContentKind(type)) return { parts: [], changes: [] };
  const name = contentFacts[type];
  const fact = results[name];
  if (fact === undefined) return { parts: [], changes: [] };
  const make = (message: string) => createChange({ path: `results.${name}`, fact }, { kind: 'lost', message });
  const noun = { image: 'an image', resource: 'a resource', link: 'a link', audio: 'audio' }[name];
  switch (fact.value) {
    case 'shown':
    case 'message':
      return { parts: [showMedia(block)], changes: [] };
    case 'text':
      return { parts: [{ kind: 'text', text: readContentText(block) }], changes: [] };
    case 'json':
      return { parts: [{ kind: 'text', text: JSON.stringify(block) }], changes: [] };
    case 'file':
      return { parts: [{ kind: 'file', about: noun }], changes: [] };
    case 'note':
      return { parts: [{ kind: 'note', about: noun }], changes: [make(`shows the model a note instead of ${noun}`)] };
    case 'lost':
      return { parts: [], changes: [make(`shows the model nothing of ${noun}`)] };
  }
}

function showMedia(block: JsonObject): ShownPart {
  const { type } = block;
  if (type === 'image') return { kind: 'image', mimeType: readText(block, 'mimeType'), data: readText(block, 'data') };
  if (type === 'audio') return { kind: 'file', about: 'audio' };
  return { kind: 'text', text: readContentText(block) };
}

function readContentText(block: JsonObject): string {
  const { resource } = block;
  if (isRecord(resource)) return readText(resource, 'text') || readText(resource, 'uri');
  return [readText(block, 'name'), readText(block, 'uri')].filter((text) => text !== '').join(' ');
}

function showFailure(
  { id, results: { error } }: HostProfile,
  { isError }: JsonObject,
): Shown & { isMarked: boolean | null } {
  if (isError !== true || error === undefined) return { parts: [], changes: [], isMarked: null };
  if (error.value === 'unmarked') {
    const message = 'shows the text of an error without saying that the call failed';
    const change = createChange({ path: 'results.error', fact: error }, { kind: 'lost', message });
    return { parts: [], changes: [change], isMarked: false };
  }
  const parts: ShownPart[] = error.value === 'prefixed' ? [{ kind: 'note', about: `an error, as ${id} says it` }] : [];
  return { parts, changes: [], isMarked: true };
}

/** An estimate for English text. */
const charactersPerToken = 4;

/** Cuts the texts of a result as one text. */
function cutLong({ results: { long } }: HostProfile, parts: readonly ShownPart[]): Shown & { isError: boolean } {
  const whole = { parts: [...parts], changes: [], isError: false };
  if (long?.value == null) return whole;
  const { over, unit, head, tail, rest, isError } = long.value;
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
  const limit = unit === 'tokens' ? over * charactersPerToken : over;
  // The largest measured size counts as too long.
  const isLong = unit === 'characters' && head + tail < over ? text.length >= limit : text.length > limit;
  if (!isLong) return whole;
  const kept = head + tail;
  const size = `${over} ${unit}`;
  const message =
    kept === 0
      ? `shows the model nothing of results from ${size}`
      : `shows the model only ${formatCount(kept, 'character')} of results from ${size}`;
  const where = rest === 'file' ? ', and names a file with the rest' : '';
  const change = createChange(
    { path: 'results.long', fact: long },
    { kind: 'cut', message: `${message}${where}`, detail: formatCount(text.length, 'character') },
  );
  const ends = [text.slice(0, head), text.slice(text.length - tail)].filter((part) => part !== '');
  return {
    parts: [
      ...ends.map((part): ShownPart => ({ kind: 'text', text: part })),
      ...(rest === 'file' ? [{ kind: 'file' as const, about: 'the result' }] : []),
      ...parts.filter(({ kind }) => kind !== 'text'),
    ],
    changes: [change],
    isError,
  };
}

function isForUser(annotations: unknown): boolean {
  const audience: unknown = isRecord(annotations) ? annotations['audience'] : undefined;
  return Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant');
}

function readText(value: JsonObject, key: string): string {
  const text = value[key];
  return typeof text === 'string' ? text : '';
}
