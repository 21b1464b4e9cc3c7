// What a host's request shows a model, the same for each API of a provider.
import { isRecord, type JsonObject } from '../../src/base/json.ts';

export interface SeenPart {
  kind: 'text' | 'image' | 'other';
  /** The text, the Base64 data of an image, or the JSON of any other part. */
  text: string;
}

export interface SeenTool {
  /** The namespace that the API has next to the name; null if there is none. */
  namespace: string | null;
  name: string;
  description: string;
  schema: JsonObject;
}

export interface SeenResult {
  /** Null if the API has no ids: then the order counts. */
  id: string | null;
  parts: SeenPart[];
  /** Null if the API has no mark for errors. */
  isError: boolean | null;
}

export interface SeenMessage {
  role: string;
  parts: SeenPart[];
}

export interface SeenRequest {
  model: string;
  isStream: boolean;
  system: string;
  messages: SeenMessage[];
  tools: SeenTool[];
  /** The descriptions of namespaces and the definitions of tools that are no functions, as one text. */
  otherTools: string;
  results: SeenResult[];
}

export interface Call {
  id: string;
  namespace: string | null;
  name: string;
  arguments: JsonObject;
}

/** What the scripted provider answers. */
export type Answer = { kind: 'text'; text: string } | { kind: 'calls'; calls: Call[] };

export interface Reply {
  contentType: string;
  body: string;
}

/** An API of providers: what its requests show, and how it answers. */
export interface ProviderApi {
  /** Checks if a path asks for a turn of a conversation. */
  matches: (path: string) => boolean;
  read: (body: JsonObject, path: string) => SeenRequest;
  write: (answer: Answer, request: SeenRequest) => Reply;
}

export function readRecords(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function readObject(value: unknown): JsonObject {
  return isRecord(value) ? value : {};
}

/** Reads a content that is a text or a list of parts. */
export function readParts(content: unknown, readPart: (part: JsonObject) => SeenPart): SeenPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return readRecords(content).map(readPart);
}

/** Reads the data of an image in a `data:` URL. */
export function readDataUrl(url: unknown): string {
  return readText(url).replace(/^data:[^,]*,/, '');
}

export function joinTexts(parts: readonly SeenPart[]): string {
  return parts.flatMap(({ kind, text }) => (kind === 'text' ? [text] : [])).join('\n');
}

/** Writes server-sent events. */
export function writeEvents(events: ReadonlyArray<{ event?: string; data: unknown }>): Reply {
  const lines = events.map(({ event, data }) => {
    const name = event === undefined ? '' : `event: ${event}\n`;
    return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
  });
  return { contentType: 'text/event-stream', body: lines.join('') };
}

export function writeJson(value: unknown): Reply {
  return { contentType: 'application/json', body: JSON.stringify(value) };
}
