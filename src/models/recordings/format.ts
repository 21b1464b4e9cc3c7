import { z } from 'zod';
import { ConfigurationError } from '../../base/errors.ts';
import { isRecord, tryParseJson, printCanonicalJson } from '../../base/json.ts';
import type { ModelName } from '../language-model.ts';
import { recordedAnswerSchema, type RecordedAnswer } from './answer-schema.ts';
import { fingerprintJson } from './plain-json.ts';

/**
 * A recording is a file of JSON lines: a header, then the calls of the model by iteration and turn. A tool is written once, before the
 * first call that offers it. A call lists only the messages that were added since the previous call. Everything is redacted, and content
 * that a pattern of `ignore` excludes is replaced. In format 1, models got neither the instructions of servers nor structured content next
 * to other content.
 */
const formatVersion = 2;

const fingerprint = z.string().regex(/^[\da-f]{32}$/);

/** A long value is stored as its beginning, for messages, and the fingerprint of the whole. `length` is the length of its JSON. */
const shortenedShape = { clipped: z.string(), length: z.int(), fingerprint };

const shortenedSchema = z.object(shortenedShape);

function storedSchema<T extends z.ZodRawShape>(shape: T) {
  return z.union([z.strictObject({ ...shape, value: z.unknown() }), z.strictObject({ ...shape, ...shortenedShape })]);
}

/** Members are stored separately, so that messages can name the one that changed, however long it is. */
const storedToolSchema = z.strictObject({ name: z.string(), members: z.record(z.string(), storedSchema({})) });

/** The value has the part without the fields that are listed here. */
const storedPartSchema = storedSchema({ type: z.string(), toolCallId: z.string(), toolName: z.string() });

/** Messages of the model have only a fingerprint, because the answers are in the recording. */
const storedMessageSchema = z.union([
  z.strictObject({ role: z.literal('assistant'), fingerprint }),
  z.strictObject({
    role: z.literal('tool'),
    parts: z.array(storedPartSchema),
    rest: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  storedSchema({ role: z.literal(['system', 'user']) }),
]);

/** A sent value, whole or shortened. */
export type StoredValue = { value: unknown } | z.infer<typeof shortenedSchema>;
export type StoredTool = z.infer<typeof storedToolSchema>;
export type StoredPart = z.infer<typeof storedPartSchema>;
export type StoredMessage = z.infer<typeof storedMessageSchema>;

const headerSchema = z.strictObject({
  format: z.literal(
    [1, formatVersion],
    'This format of recordings is not known; use the version of mcp-eval-ci that wrote it',
  ),
  recordedAt: z.iso.datetime(),
  provider: z.string(),
  model: z.string(),
  package: z.strictObject({ name: z.string(), version: z.string() }),
  surface: fingerprint,
});

const toolLineSchema = z.strictObject({ tool: fingerprint, definition: storedToolSchema });

const toolListLineSchema = z.strictObject({ tools: fingerprint, list: z.array(fingerprint) });

const callLineSchema = z.strictObject({
  iteration: z.int().min(1),
  turn: z.int().min(0),
  recordedAt: z.iso.datetime().exactOptional(),
  sent: z.strictObject({
    tools: fingerprint,
    parameters: z.record(z.string(), z.unknown()),
    keeps: z.int().min(0).exactOptional(),
    messages: z.array(storedMessageSchema),
  }),
  answer: recordedAnswerSchema,
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
  /** True if an older version showed the model less, so that the answers to prompts are no longer valid. */
  showedLess: boolean;
  model: ModelName;
  /** The package that spoke to the provider. */
  package: { name: string; version: string };
  /** By iteration number, from 1. */
  iterations: ReadonlyMap<number, RecordedIteration>;
}

const damagedHint = 'Restore the file from git, or delete it and record it again with `mcp-eval-ci record`.';

/** Prints a recording in the current format: iterations and turns in order, one line per tool, and keys always in the same order. */
export function printRecording({
  model,
  package: { name, version },
  iterations,
}: Omit<Recording, 'showedLess'>): string {
  const ordered = [...iterations].toSorted(([one], [other]) => one - other);
  const lines: string[] = [];
  const printed = new Set<string>();
  const newest = ordered
    .map(([, { recordedAt }]) => recordedAt)
    .reduce((one, other) => (one > other ? one : other), '');
  const known = new Map<StoredTool, string>();
  const fingerprintTool = (tool: StoredTool) => {
    const fingerprint = known.get(tool) ?? fingerprintJson(tool);
    known.set(tool, fingerprint);
    return fingerprint;
  };
  const printTools = (tools: readonly StoredTool[]) => {
    const list = tools.map(fingerprintTool);
    const id = fingerprintJson(list);
    for (const [index, tool] of tools.entries()) {
      const fingerprint = list[index] ?? '';
      if (!printed.has(fingerprint)) lines.push(`{"tool":"${fingerprint}","definition":${printCanonicalJson(tool)}}`);
      printed.add(fingerprint);
    }
    if (!printed.has(id)) lines.push(JSON.stringify({ tools: id, list }));
    printed.add(id);
    return id;
  };
  for (const [iteration, { recordedAt, calls }] of ordered) {
    let earlier: readonly string[] = [];
    for (const [turn, { sent, answer }] of calls.entries()) {
      const messages = sent.messages.map((message) => printCanonicalJson(message));
      const differing = messages.findIndex((message, index) => message !== earlier[index]);
      const kept = differing === -1 ? Math.min(messages.length, earlier.length) : differing;
      const sentFields = [
        `"tools":"${printTools(sent.tools)}"`,
        `"parameters":${printCanonicalJson(sent.parameters)}`,
        ...(kept === earlier.length ? [] : [`"keeps":${kept}`]),
        `"messages":[${messages.slice(kept).join(',')}]`,
      ];
      const date = turn === 0 && recordedAt !== newest ? `"recordedAt":${JSON.stringify(recordedAt)},` : '';
      lines.push(
        `{"iteration":${iteration},"turn":${turn},${date}"sent":{${sentFields.join(',')}},"answer":${printAnswer(answer)}}`,
      );
      earlier = messages;
    }
  }
  const first = ordered[0]?.[1].calls[0]?.sent.tools ?? [];
  const surface = fingerprintJson(first.map(fingerprintTool));
  const header = { format: formatVersion, recordedAt: newest, provider: model.provider, model: model.name };
  return [JSON.stringify({ ...header, package: { name, version }, surface }), ...lines]
    .map((line) => `${line}\n`)
    .join('');
}

function printAnswer({ content, finishReason, usage }: RecordedAnswer): string {
  const plain: unknown = JSON.parse(JSON.stringify({ content, finishReason, usage }));
  return printCanonicalJson(plain);
}

/**
 * Reads the text that `printRecording` printed. `file` is the name in messages.
 *
 * @throws {ConfigurationError} at the first line that is not JSON, has another shape, or does not fit the lines before it
 */
export function parseRecording(text: string, file: string): Recording {
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
  const find = <T>(known: ReadonlyMap<string, T>, id: string, line: number): T => {
    const found = known.get(id);
    if (found === undefined) throw damaged(`no line before this one defines ${id}`, line);
    return found;
  };

  const [headerLine, ...rest] = text.split('\n');
  const header = parseLine(headerSchema, tryParseJson(headerLine ?? ''), 1);
  const tools = new Map<string, StoredTool>();
  const lists = new Map<string, StoredTool[]>();
  const iterations = new Map<number, { recordedAt: string; calls: RecordedCall[] }>();
  for (const [index, each] of rest.entries()) {
    if (each === '' && index === rest.length - 1) break;
    const line = index + 2;
    const value = tryParseJson(each);
    if (isRecord(value) && 'tool' in value) {
      const { tool, definition } = parseLine(toolLineSchema, value, line);
      tools.set(tool, definition);
    } else if (isRecord(value) && 'list' in value) {
      const { tools: id, list } = parseLine(toolListLineSchema, value, line);
      lists.set(
        id,
        list.map((each) => find(tools, each, line)),
      );
    } else {
      const call = parseLine(callLineSchema, value, line);
      const { recordedAt = header.recordedAt } = call;
      const iteration = iterations.get(call.iteration) ?? { recordedAt, calls: [] };
      iterations.set(call.iteration, iteration);
      if (call.turn !== iteration.calls.length) {
        const expected = `turn ${iteration.calls.length} of iteration ${call.iteration}`;
        throw damaged(`this line must be ${expected}, not turn ${call.turn}`, line);
      }
      const earlier = iteration.calls.at(-1)?.sent.messages ?? [];
      const { keeps = earlier.length, messages, parameters } = call.sent;
      if (keeps > earlier.length) throw damaged('`keeps` is more than the call before it has messages', line);
      const sent = {
        tools: find(lists, call.sent.tools, line),
        parameters,
        messages: [...earlier.slice(0, keeps), ...messages],
      };
      iteration.calls.push({ sent, answer: call.answer });
    }
  }
  const model = { provider: header.provider, name: header.model };
  return { showedLess: header.format < formatVersion, model, package: header.package, iterations };
}
