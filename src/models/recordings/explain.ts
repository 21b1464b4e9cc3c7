import { printCanonicalJson } from '../../base/json.ts';
import { describeChange, describeStoredChange } from './describe-change.ts';
import { fingerprintStored, type SentCall } from './fingerprint.ts';
import type { StoredMessage, StoredPart } from './format.ts';
import type { StoredValue } from './stored-value.ts';
import type { StoredTool } from './tool-file.ts';
import { appendAll } from '../../base/lists.ts';

/** Names of parameters and members of tools in messages, if they differ from the field names. */
const nouns: ReadonlyMap<string, string> = new Map([
  ['toolChoice', 'choice of tools'],
  ['maxOutputTokens', 'output limit'],
  ['inputSchema', 'schema'],
]);

/**
 * Explains the differences between a recorded call and a new one, with a sentence for each part. Parts that cause other differences come
 * first. Never empty for calls that differ.
 */
export function explainDifferences(recorded: SentCall, now: SentCall): string[] {
  const [before, after] = [recorded.stored, now.stored];
  const sentences = [
    ...explainMessages(before.messages.filter(isSystem), after.messages.filter(isSystem)),
    ...explainMembers(before.parameters, after.parameters, ''),
    ...explainTools(before.tools, after.tools),
    ...explainMessages(
      before.messages.filter((message) => !isSystem(message)),
      after.messages.filter((message) => !isSystem(message)),
    ),
  ];
  return sentences.length > 0 ? sentences : ['The messages are in another order.'];
}

function isSystem({ role }: StoredMessage): boolean {
  return role === 'system';
}

type Members = Readonly<Record<string, unknown>>;

function explainMembers(recorded: Members, now: Members, owner: string): string[] {
  return listNames(recorded, now)
    .filter(
      (name) =>
        !(name in recorded && name in now) || printCanonicalJson(recorded[name]) !== printCanonicalJson(now[name]),
    )
    .map((name) =>
      endQuote(`The ${nouns.get(name) ?? name}${owner} changed: ${describeChange(recorded[name], now[name])}`),
    );
}

function explainTools(recorded: readonly StoredTool[], now: readonly StoredTool[]): string[] {
  const [before, after] = [new Map(recorded.map((tool) => [tool.name, tool])), new Map(now.map((t) => [t.name, t]))];
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const added = [...after.keys()].filter((name) => !before.has(name));
  const changed = [...after.values()].flatMap((tool) => {
    const earlier = before.get(tool.name);
    return earlier === undefined ? [] : explainTool(earlier, tool);
  });
  const sentences = [
    ...removed.map((name) => `The tool ${name} is no longer offered.`),
    ...added.map((name) => `The tool ${name} is new.`),
    ...changed,
  ];
  if (sentences.length > 0) return sentences;
  return recorded.length === now.length && recorded.every(({ name }, index) => name === now[index]?.name)
    ? []
    : ['The same tools are offered in another order.'];
}

function explainTool(recorded: StoredTool, now: StoredTool): string[] {
  const nothing: StoredValue = { value: undefined };
  return listNames(recorded.members, now.members).flatMap((name) => {
    const [before = nothing, after = nothing] = [recorded.members[name], now.members[name]];
    return before !== nothing && after !== nothing && fingerprintStored(before) === fingerprintStored(after)
      ? []
      : [
          endQuote(
            `The ${nouns.get(name) ?? name} of tool ${now.name} changed: ${describeStoredChange(before, after)}`,
          ),
        ];
  });
}

function listNames(recorded: Members, now: Members): string[] {
  return [...new Set([...Object.keys(recorded), ...Object.keys(now)])].toSorted();
}

/** Stops at the first message that differs: later messages belong to another conversation. */
function explainMessages(recorded: readonly StoredMessage[], now: readonly StoredMessage[]): string[] {
  const sentences: string[] = [];
  for (let index = 0; index < Math.max(recorded.length, now.length); index += 1) {
    const [before, after] = [recorded[index], now[index]];
    if (before === undefined || before.role !== after?.role) {
      const [was, is] = [before, after].map((message) =>
        message === undefined ? 'none' : `one of the role ${message.role}`,
      );
      return [...sentences, `Message ${index + 1} of the conversation differs: recorded ${was}, now ${is}.`];
    }
    appendAll(sentences, explainMessage(before, after));
  }
  return sentences;
}

function explainMessage(recorded: StoredMessage, now: StoredMessage): string[] {
  if (recorded.role === 'assistant' || now.role === 'assistant') {
    const isSame = printCanonicalJson(recorded) === printCanonicalJson(now);
    return isSame ? [] : ['An earlier answer of the model is not the one recorded.'];
  }
  if (recorded.role === 'tool' || now.role === 'tool') {
    return recorded.role === 'tool' && now.role === 'tool'
      ? [
          ...explainParts(recorded.parts, now.parts),
          ...explainMembers(recorded.rest ?? {}, now.rest ?? {}, ' of the results'),
        ]
      : [];
  }
  if (fingerprintStored(recorded) === fingerprintStored(now)) return [];
  const what = now.role === 'system' ? 'system prompt' : 'prompt';
  return [endQuote(`The ${what} changed: ${describeStoredChange(recorded, now)}`)];
}

function explainParts(recorded: readonly StoredPart[], now: readonly StoredPart[]): string[] {
  if (recorded.length !== now.length) {
    const counts = `recorded ${recorded.length}, now ${now.length}`;
    return [`The number of results after an answer differs: ${counts}.`];
  }
  return recorded.flatMap((before, index) => {
    const after = now[index];
    if (after === undefined) return [];
    const [was, is] = [before, after].map(({ type, toolName, toolCallId }) => `${type} of ${toolName} (${toolCallId})`);
    if (was !== is) return [`Result ${index + 1} after an answer differs: recorded ${was}, now ${is}.`];
    if (fingerprintStored(before) === fingerprintStored(after)) return [];
    return [endQuote(`The result of ${after.toolName} differs: ${describeStoredChange(before, after)}`)];
  });
}

/** Ends a sentence whose last word is quoted, unless the quote ends with a full stop. */
function endQuote(sentence: string): string {
  return /[.!?]"$/.test(sentence) ? sentence : `${sentence}.`;
}
