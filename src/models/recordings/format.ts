import { z } from 'zod';
import { ConfigurationError } from '../../base/errors.ts';
import { isRecord, printCanonicalJson, tryParseJson } from '../../base/json.ts';
import { createRedactor } from '../../base/redaction.ts';
import { type HostIdentity, hostIdentitySchema } from '../../model/host-identity.ts';
import type { ModelName } from '../language-model.ts';
import { toAssistantMessage } from '../model-messages.ts';
import { recordedContentShape, recordedUsageSchema, type RecordedAnswer } from './answer-schema.ts';
import { fingerprintJson, redactMembers } from './plain-json.ts';
import { fingerprintSchema, storedSchema } from './stored-value.ts';
import { createListNames, type StoredTool, type ToolLists } from './tool-file.ts';

/**
 * A recording is a file of JSON lines: a header, one line for each call of the model by iteration and turn, and a last line with all that
 * changes when the same behaviour is recorded again: dates, counts of tokens, and the fingerprints of the tools, whose definitions stand
 * in the tool file of the suite. A call has only the messages that were added since the previous call. Everything is redacted, and
 * content that a pattern of `ignore` excludes is replaced. Versions before 3 had tools, counts and ids of calls in the lines of calls.
 */
const formatVersion = 3;

/** The value has the part without the fields that are listed here. */
const storedPartSchema = storedSchema({ type: z.string(), toolCallId: z.string(), toolName: z.string() });

/** A message of the model has a fingerprint unless it is the answer of the call before. */
const storedMessageSchema = z.union([
  z.strictObject({ role: z.literal('assistant'), fingerprint: fingerprintSchema }),
  z.strictObject({
    role: z.literal('tool'),
    parts: z.array(storedPartSchema),
    rest: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  storedSchema({ role: z.literal(['system', 'user']) }),
]);

export type StoredPart = z.infer<typeof storedPartSchema>;
export type StoredMessage = z.infer<typeof storedMessageSchema>;

const writtenMessageSchema = z.union([z.strictObject({ role: z.literal('assistant') }), storedMessageSchema]);

const headerSchema = z.strictObject({
  format: z.literal(
    formatVersion,
    'This format of recordings is not known; use the version of mcp-eval-ci that wrote it',
  ),
  provider: z.string(),
  model: z.string(),
  host: hostIdentitySchema.exactOptional(),
});

const olderHeaderSchema = z.object({ format: z.literal([1, 2]) });

const callLineSchema = z.strictObject({
  iteration: z.int().min(1),
  turn: z.int().min(0),
  sent: z.strictObject({
    parameters: z.record(z.string(), z.unknown()).exactOptional(),
    keeps: z.int().min(0).exactOptional(),
    messages: z.array(writtenMessageSchema),
  }),
  answer: z.strictObject(recordedContentShape),
});

const lastLineSchema = z.strictObject({
  recordedAt: z.iso.datetime(),
  package: z.strictObject({ name: z.string(), version: z.string() }),
  /** The lists of tools that calls were offered. */
  tools: z.array(fingerprintSchema),
  iterations: z.array(
    z.strictObject({
      iteration: z.int().min(1),
      recordedAt: z.iso.datetime().exactOptional(),
      calls: z.array(z.strictObject({ tools: z.int().min(0).exactOptional(), usage: recordedUsageSchema })),
    }),
  ),
});

/** The content of a recorded call. Calls share the objects of equal lists and messages. */
export interface StoredCall {
  tools: readonly StoredTool[];
  /** The other parameters of the call: temperature, tool choice, output limit. */
  parameters: Readonly<Record<string, unknown>>;
  messages: readonly StoredMessage[];
}

interface RecordedCall {
  sent: StoredCall;
  answer: RecordedAnswer;
}

export interface RecordedIteration {
  /** ISO 8601. */
  recordedAt: string;
  calls: readonly RecordedCall[];
}

/** The recording of one case and model. */
export interface Recording {
  model: ModelName;
  /** The host of the conversation; null for the gate's own. */
  host: HostIdentity | null;
  /** The package that spoke to the provider. */
  package: { name: string; version: string };
  /** By iteration number, from 1. */
  iterations: ReadonlyMap<number, RecordedIteration>;
}

/** A file that stands where a recording belongs, and has no answers that can be used. */
export interface UnusableRecording {
  /** The reason, as a sentence. */
  problem: string;
}

/** What reading the file of a recording results in. */
export type ReadRecording = Recording | UnusableRecording;

/** Returns null for a recording that does not exist, or cannot be used. */
export function findUsable(recording: ReadRecording | null): Recording | null {
  return recording === null || 'problem' in recording ? null : recording;
}

const damagedHint = 'Restore the file from git, or delete it and record it again with `mcp-eval-ci record`.';

/** The message of the model that follows its answer in the next call. */
function fingerprintAnswer(answer: RecordedAnswer): string {
  const { role: _role, ...message } = redactMembers(toAssistantMessage(answer), createRedactor());
  return fingerprintJson(message);
}

/** Prints a recording: iterations and turns in order, and keys always in the same order. */
export function printRecording({ model, host, package: { name, version }, iterations }: Recording): string {
  const ordered = [...iterations].toSorted(([one], [other]) => one - other);
  const newest = ordered
    .map(([, { recordedAt }]) => recordedAt)
    .reduce((one, other) => (one > other ? one : other), '');
  const nameList = createListNames();
  const lists: string[] = [];
  const findList = (tools: readonly StoredTool[]) => {
    const { id } = nameList(tools);
    if (!lists.includes(id)) lists.push(id);
    return lists.indexOf(id);
  };
  const made = ordered.map(([iteration, { recordedAt, calls }]) => ({
    iteration,
    ...(recordedAt !== newest && { recordedAt }),
    calls: calls.map(({ sent, answer: { usage } }) => {
      const index = findList(sent.tools);
      return { ...(index > 0 && { tools: index }), usage };
    }),
  }));
  const last = { recordedAt: newest, package: { name, version }, tools: lists, iterations: made };
  const header = {
    format: formatVersion,
    provider: model.provider,
    model: model.name,
    ...(host !== null && { host }),
  };
  const lines = ordered.flatMap(([iteration, { calls }]) =>
    printCalls(calls).map((call, turn) => `{"iteration":${iteration},"turn":${turn},${call}}`),
  );
  return [JSON.stringify(header), ...lines, JSON.stringify(last)].map((line) => `${line}\n`).join('');
}

/** Prints the content of each call: what is new in it, and the answer. */
function printCalls(calls: readonly RecordedCall[]): string[] {
  let earlier: readonly string[] = [];
  let earlierParameters = '{}';
  return calls.map(({ sent, answer: { content, finishReason } }, turn) => {
    const before = calls[turn - 1]?.answer;
    const answered = before === undefined ? null : fingerprintAnswer(before);
    const messages = sent.messages.map((message) => printCanonicalJson(message));
    const differing = messages.findIndex((message, index) => message !== earlier[index]);
    const kept = differing === -1 ? Math.min(messages.length, earlier.length) : differing;
    const written = sent.messages
      .slice(kept)
      .map((message, index) =>
        message.role === 'assistant' && message.fingerprint === answered
          ? '{"role":"assistant"}'
          : messages[kept + index],
      );
    const parameters = printCanonicalJson(sent.parameters);
    const fields = [
      ...(parameters === earlierParameters ? [] : [`"parameters":${parameters}`]),
      ...(kept === earlier.length ? [] : [`"keeps":${kept}`]),
      `"messages":[${written.join(',')}]`,
    ];
    earlier = messages;
    earlierParameters = parameters;
    // The package of the provider may leave undefined members.
    const answer = printCanonicalJson(JSON.parse(JSON.stringify({ content, finishReason })));
    return `"sent":{${fields.join(',')}},"answer":${answer}`;
  });
}

/** Git writes these lines around the two sides of a conflict. */
const conflictMark = /^(?:<{7}|={7}|>{7})(?: |$)/m;

/**
 * Reads the text that `printRecording` printed. `file` is the name in messages, and `lists` are the tools of its suite.
 *
 * @throws {ConfigurationError} at the first line that is not JSON, has another shape, or does not fit the lines before it
 */
export function parseRecording(text: string, file: string, lists: ToolLists): ReadRecording {
  const damaged = (message: string, line: number) => {
    const issue = { code: 'damaged-recording', message: `The recording is damaged: ${message}`, file, line, column: 1 };
    return new ConfigurationError([issue], { hint: damagedHint });
  };
  const parseLine = <T>(schema: z.ZodType<T>, value: unknown, line: number): T => {
    if (!isRecord(value)) throw damaged('this line is no JSON object', line);
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const path = issue?.path.map(String).join('.') ?? '';
    throw damaged(`${path === '' ? '' : `\`${path}\`: `}${issue?.message ?? 'unknown shape'}`, line);
  };
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (conflictMark.test(text)) return { problem: 'It has the marks of a merge conflict.' };
  const first = tryParseJson(lines[0] ?? '');
  if (olderHeaderSchema.safeParse(first).success) {
    return { problem: 'It has a format of an older version of mcp-eval-ci.' };
  }
  const header = parseLine(headerSchema, first, 1);
  if (lines.length < 2) throw damaged('its last line is missing', 1);
  const last = parseLine(lastLineSchema, tryParseJson(lines.at(-1) ?? ''), lines.length);
  if (last.tools.some((id) => !lists.has(id))) {
    return { problem: '`tools.jsonl` in its directory lacks the tools that it names.' };
  }
  const written = lines.slice(1, -1).map((each, index) => {
    const line = index + 2;
    return { ...parseLine(callLineSchema, tryParseJson(each), line), line };
  });
  const madeBy = new Map(last.iterations.map((each) => [each.iteration, each]));
  const iterations = new Map<number, { recordedAt: string; calls: RecordedCall[] }>();
  for (const { iteration: number, turn, sent, answer, line } of written) {
    const made = madeBy.get(number);
    const call = made?.calls[turn];
    const tools = lists.get(last.tools[call?.tools ?? 0] ?? '');
    if (made === undefined || call === undefined || tools === undefined) {
      throw damaged('the last line has nothing about this call', line);
    }
    const iteration = iterations.get(number) ?? { recordedAt: made.recordedAt ?? last.recordedAt, calls: [] };
    iterations.set(number, iteration);
    if (turn !== iteration.calls.length) {
      const expected = `turn ${iteration.calls.length} of iteration ${number}`;
      throw damaged(`this line must be ${expected}, not turn ${turn}`, line);
    }
    const before = iteration.calls.at(-1);
    const earlier = before?.sent.messages ?? [];
    const { keeps = earlier.length, messages, parameters = before?.sent.parameters ?? {} } = sent;
    if (keeps > earlier.length) throw damaged('`keeps` is more than the call before it has messages', line);
    const added = messages.map((message): StoredMessage => {
      if (message.role !== 'assistant' || 'fingerprint' in message) return message;
      if (before === undefined) throw damaged('a message of the model stands before its first answer', line);
      return { role: 'assistant', fingerprint: fingerprintAnswer(before.answer) };
    });
    iteration.calls.push({
      sent: { tools, parameters, messages: [...earlier.slice(0, keeps), ...added] },
      answer: { ...answer, usage: call.usage },
    });
  }
  const { provider, model: name, host = null } = header;
  return { model: { provider, name }, host, package: last.package, iterations };
}
