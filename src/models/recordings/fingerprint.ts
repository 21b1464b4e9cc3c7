import { printCanonicalJson } from '../../base/json.ts';
import type { Redactor } from '../../base/redaction.ts';
import { clipText } from '../../base/text.ts';
import type { ModelCall } from '../language-model.ts';
import type { StoredCall, StoredMessage, StoredPart } from './format.ts';
import type { StoredValue } from './stored-value.ts';
import type { StoredTool } from './tool-file.ts';
import { ignoreInOutput, type IgnoreRules } from './ignore.ts';
import { fingerprintJson, fingerprintText, redactMembers, toPlainJson } from './plain-json.ts';

/** Longer values are stored as their beginning and their fingerprint. */
const longestWhole = 4000;
const clippedLength = 1000;

/** The maximum total length of the values whose fingerprints are cached. */
const maxRememberedLength = 16 * 1024 * 1024;

/** The content of a call. Two calls are the same if all their fingerprints are equal, in the same order. */
export interface SentCall {
  stored: StoredCall;
  parameters: string;
  tools: readonly string[];
  messages: readonly string[];
}

/** Computes fingerprints of new calls and of recorded calls in the same way. */
export interface Fingerprinter {
  readCall(call: ModelCall): SentCall;
  /** Applies the patterns of `ignore` and the currently known secrets to a recorded call. */
  readStored(call: StoredCall): SentCall;
}

interface Fingerprinted<T> {
  stored: T;
  fingerprint: string;
}

type ToolPart = Extract<ModelCall['prompt'][number], { role: 'tool' }>['content'][number];

/**
 * Fingerprints all content of a call: each tool, message and part as a whole, and every other member as a parameter. The order matters,
 * except that of keys. Secrets are redacted and ignored content is replaced before anything is hashed.
 */
export function createFingerprinter({ redactor, ignore }: { redactor: Redactor; ignore: IgnoreRules }): Fingerprinter {
  const readTool = (tool: unknown): Fingerprinted<StoredTool> => {
    const { name, ...members } = redactMembers(tool, redactor);
    return joinMembers(
      String(name),
      Object.entries(members).map(([key, value]) => [key, store({}, value)]),
    );
  };
  const readPart = (part: ToolPart | Record<string, unknown>): Fingerprinted<StoredPart> => {
    const { type, toolCallId, toolName, output, ...rest } = redactMembers(part, redactor);
    const name = { type: String(type), toolCallId: String(toolCallId), toolName: String(toolName) };
    return store(name, output === undefined ? rest : { ...rest, output: ignoreInOutput(output, ignore) });
  };
  const readMessage = (message: ModelCall['prompt'][number]): Fingerprinted<StoredMessage> => {
    const { role } = message;
    if (role === 'tool') {
      const { role: _role, content, ...rest } = message;
      return joinParts(content.map(readPart), redactMembers(rest, redactor));
    }
    const { role: _role, ...rest } = redactMembers(message, redactor);
    return role === 'assistant' ? nameAnswer(fingerprintJson(rest)) : store({ role }, rest);
  };

  const readStoredTool = (tool: StoredTool): Fingerprinted<StoredTool> =>
    joinMembers(
      tool.name,
      Object.entries(tool.members).map(([key, stored]) => [
        key,
        'value' in stored ? store({}, toPlainJson(stored.value, redactor)) : keep({}, stored),
      ]),
    );
  const readStoredPart = (part: StoredPart): Fingerprinted<StoredPart> => {
    const { type, toolCallId, toolName } = part;
    const name = { type, toolCallId, toolName };
    return 'value' in part ? readPart({ ...asMembers(part.value), ...name }) : keep(name, part);
  };
  const readStoredMessage = (message: StoredMessage): Fingerprinted<StoredMessage> => {
    const { role } = message;
    if (role === 'assistant') return nameAnswer(message.fingerprint);
    if (role === 'tool')
      return joinParts(message.parts.map(readStoredPart), redactMembers(message.rest ?? {}, redactor));
    return 'value' in message ? store({ role }, redactMembers(message.value, redactor)) : keep({ role }, message);
  };

  // Cached by value, because a caller may change an object and pass it again.
  const rememberTools = rememberByValue((tools: ModelCall['tools']) => tools.map(readTool));
  const rememberMessage = rememberByValue(readMessage);
  const rememberParameters = rememberByValue(fingerprintJson);
  // Cached by identity, because nothing changes a recording after it was read.
  const rememberStoredTools = rememberByIdentity((tools: readonly StoredTool[]) => tools.map(readStoredTool));
  const rememberStoredMessage = rememberByIdentity(readStoredMessage);
  const joinCall = (
    parameters: Record<string, unknown>,
    tools: ReadonlyArray<Fingerprinted<StoredTool>>,
    messages: ReadonlyArray<Fingerprinted<StoredMessage>>,
  ): SentCall => ({
    stored: {
      parameters,
      tools: tools.map(({ stored }) => stored),
      messages: messages.map(({ stored }) => stored),
    },
    parameters: rememberParameters(parameters),
    tools: tools.map(({ fingerprint }) => fingerprint),
    messages: messages.map(({ fingerprint }) => fingerprint),
  });
  return {
    readCall: ({ prompt, tools, ...parameters }) =>
      joinCall(redactMembers(parameters, redactor), rememberTools(tools), prompt.map(rememberMessage)),
    readStored: ({ messages, tools, parameters }) =>
      joinCall(
        redactMembers(parameters, redactor),
        rememberStoredTools(tools),
        messages.map((message) => rememberStoredMessage(message)),
      ),
  };
}

function joinMembers(
  name: string,
  members: ReadonlyArray<readonly [string, Fingerprinted<StoredValue>]>,
): Fingerprinted<StoredTool> {
  const stored = Object.fromEntries(members.map(([key, member]) => [key, member.stored]));
  const fingerprints = Object.fromEntries(members.map(([key, member]) => [key, member.fingerprint]));
  return { stored: { name, members: stored }, fingerprint: fingerprintJson(['tool', name, fingerprints]) };
}

/** Returns the fingerprint of a value, whether it is stored whole or shortened. */
export function fingerprintStored(stored: StoredValue): string {
  return 'value' in stored ? fingerprintJson(stored.value) : stored.fingerprint;
}

function store<T extends object>(name: T, value: unknown): Fingerprinted<T & StoredValue> {
  const text = printCanonicalJson(value);
  const fingerprint = fingerprintText(text);
  const stored =
    text.length <= longestWhole
      ? { value }
      : { clipped: clipText(text, clippedLength), length: text.length, fingerprint };
  return { stored: { ...name, ...stored }, fingerprint: fingerprintJson([name, fingerprint]) };
}

function keep<T extends { fingerprint: string }>(name: object, stored: T): Fingerprinted<T> {
  return { stored, fingerprint: fingerprintJson([name, stored.fingerprint]) };
}

function nameAnswer(fingerprint: string): Fingerprinted<StoredMessage> {
  return { stored: { role: 'assistant', fingerprint }, fingerprint: fingerprintJson(['assistant', fingerprint]) };
}

function joinParts(
  parts: ReadonlyArray<Fingerprinted<StoredPart>>,
  rest: Record<string, unknown>,
): Fingerprinted<StoredMessage> {
  const stored = parts.map((part) => part.stored);
  const fingerprints = parts.map((part) => part.fingerprint);
  return {
    stored: { role: 'tool', parts: stored, ...(Object.keys(rest).length === 0 ? {} : { rest }) },
    fingerprint: fingerprintJson(['tool', fingerprints, rest]),
  };
}

function asMembers(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/** Caches the results of a function by value, up to the memory limit. Printing a value to find it costs far less than hashing it. */
function rememberByValue<T, U>(read: (value: T) => U): (value: T) => U {
  const known = new Map<string, U>();
  let length = 0;
  return (value) => {
    const key = JSON.stringify(value);
    const found = known.get(key);
    if (found !== undefined) return found;
    const fresh = read(value);
    length += key.length;
    if (length > maxRememberedLength) {
      known.clear();
      length = key.length;
    }
    known.set(key, fresh);
    return fresh;
  };
}

function rememberByIdentity<T extends object, U>(read: (value: T) => U): (value: T) => U {
  const known = new WeakMap<T, U>();
  return (value) => {
    const fresh = known.get(value) ?? read(value);
    known.set(value, fresh);
    return fresh;
  };
}
