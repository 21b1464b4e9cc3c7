import { z } from 'zod';
import { tryParseJson } from '../base/json.ts';
import { systemClock } from '../base/time.ts';
import type { TestCase } from '../cases/case.ts';
import type { Snapshots } from '../checks/judgement.ts';
import { makeErrorAnswer, type SessionTape, type TapedAnswer, type TapedExchange } from '../engine/session-tape.ts';
import type { ToolDeclaration, ToolList } from '../mcp/tool-declarations.ts';
import { hidePaths, showPaths } from '../workspace/placeholders.ts';
import { playedWorkspace } from './play-steps.ts';
import { runAgain, type TapedCase, type TapedModel } from './taped-case.ts';

/** The file of a report directory that has the transcript of each iteration, one a line. */
export const transcriptsName = 'transcripts.jsonl';

/** A longer transcript is in the file without its exchanges. */
export const maxTranscriptBytes = 16 * 1024 * 1024;

type Tape = SessionTape['servers'] extends Map<string, infer Server> ? Server : never;

const answerSchema = z.union([
  z.strictObject({ result: z.unknown() }),
  /** Without a code, the server did not answer. */
  z.strictObject({ error: z.object({ code: z.number().nullable(), message: z.string() }) }),
]);

const toolsSchema = z.array(z.tuple([z.string(), z.custom<ToolDeclaration>()])).nullable();

const recordedSchema = z.object({
  servers: z.array(
    z.object({
      name: z.string(),
      facts: z.custom<Tape['facts']>(),
      sharedTools: toolsSchema.exactOptional(),
      lists: z.array(toolsSchema),
      early: z.custom<Tape['early']>(),
    }),
  ),
  exchanges: z.array(
    z.object({
      serverName: z.string(),
      request: z.object({ method: z.string(), params: z.unknown() }),
      answer: answerSchema.nullable(),
      latencyMs: z.number(),
      updates: z.custom<TapedExchange['updates']>(),
      notifications: z.custom<TapedExchange['notifications']>(),
      asked: z.custom<TapedExchange['asked']>(),
    }),
  ),
  model: z.custom<TapedModel>().nullable(),
});

export const transcriptSchema = z.object({
  transcript: z.literal('mcp-eval-ci'),
  version: z.literal(1),
  testCase: z.custom<TestCase>((value) => typeof value === 'object' && value !== null),
  target: z.object({ serverName: z.string(), protocol: z.custom<TapedCase['target']['protocol']>() }),
  /** The names of the further servers. */
  others: z.array(z.string()),
  timeoutMs: z.number(),
  startedAtMs: z.number(),
  facts: z.object({ iteration: z.number(), uuid: z.string(), hasWorkspace: z.boolean() }).nullable(),
  /** The number of bytes of a transcript that was too long to be kept. */
  recorded: z.union([recordedSchema, z.object({ bytes: z.number() })]),
});

export type Transcript = z.infer<typeof transcriptSchema>;

/** Describes an iteration so that it can be judged again in another process. The path of its workspace becomes a placeholder. */
export function describeTranscript({ testCase, target, options, tape, model, outcome }: TapedCase): Transcript {
  const { facts = null, others = [] } = options;
  const recorded = {
    servers: [...tape.servers].map(([name, { sharedTools, lists, ...server }]) => ({
      name,
      ...server,
      ...(sharedTools !== undefined && { sharedTools: listTools(sharedTools) }),
      lists: lists.map(listTools),
    })),
    exchanges: tape.exchanges.map(({ answer, ...exchange }) => ({
      ...exchange,
      answer: answer === null ? null : describeAnswer(answer),
    })),
    model: model ?? null,
  };
  const hidden = hidePaths(recorded, { workspace: facts?.workspace });
  const bytes = Buffer.byteLength(JSON.stringify(hidden));
  return {
    transcript: 'mcp-eval-ci',
    version: 1,
    testCase,
    target: { serverName: target.serverName, protocol: target.protocol },
    others: others.map((other) => other.target.serverName),
    timeoutMs: options.timeoutMs,
    startedAtMs: outcome.startedAtMs,
    facts:
      facts === null
        ? null
        : { iteration: facts.iteration, uuid: facts.uuid, hasWorkspace: facts.workspace !== undefined },
    recorded: bytes > maxTranscriptBytes ? { bytes } : hidden,
  };
}

const listTools = (list: ToolList) => (list === null ? null : [...list]);

function describeAnswer(answer: TapedAnswer): z.infer<typeof answerSchema> {
  if (answer.kind === 'result') return { result: answer.result };
  const { error } = answer;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;
  return { error: { code, message: error instanceof Error ? error.message : String(error) } };
}

/** Reads the transcripts of a report, or the line that is none. */
export function parseTranscripts(text: string): readonly Transcript[] | { line: number } {
  const transcripts: Transcript[] = [];
  // A last line without an end was being written when the gate ended.
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const parsed = transcriptSchema.safeParse(tryParseJson(line));
    if (!parsed.success) return { line: index + 1 };
    transcripts.push(parsed.data);
  }
  return transcripts;
}

/** A file of the repository has the placeholder of the workspace, as a gate writes it. */
function hideWorkspace(snapshots: Snapshots): Snapshots {
  return { ...snapshots, redact: (value) => hidePaths(snapshots.redact(value), { workspace: playedWorkspace }) };
}

/** Judges the iteration of a transcript again, with the checks of `testCase`. Null if the transcript was too long to be kept. */
export async function restoreTaped(
  { target, others, timeoutMs, startedAtMs, facts, recorded }: Transcript,
  testCase: TestCase,
  { snapshots }: { snapshots: Snapshots | null },
): Promise<TapedCase | null> {
  if ('bytes' in recorded) return null;
  const { servers, exchanges, model } = showPaths(recorded, { workspace: playedWorkspace });
  const url = 'http://127.0.0.1';
  const taped = {
    testCase,
    target: { url, ...target },
    options: {
      clock: systemClock,
      timeoutMs,
      snapshots: snapshots === null ? null : hideWorkspace(snapshots),
      facts:
        facts === null
          ? null
          : {
              iteration: facts.iteration,
              uuid: facts.uuid,
              variables: new Map(),
              workspace: facts.hasWorkspace ? playedWorkspace : undefined,
            },
      others: others.map((serverName) => ({
        target: { url, serverName, protocol: target.protocol },
        visit: null,
      })),
    },
    tape: {
      servers: new Map(
        servers.map(({ name, sharedTools, lists, ...server }) => [
          name,
          {
            ...server,
            sharedTools: sharedTools === undefined ? undefined : readTools(sharedTools),
            lists: lists.map(readTools),
          },
        ]),
      ),
      exchanges: exchanges.map(({ answer, ...exchange }) => ({
        ...exchange,
        answer: answer === null ? null : readAnswer(answer),
      })),
    },
    model,
  };
  const { outcome } = await runAgain({ ...taped, outcome: { startedAtMs } });
  return { ...taped, outcome };
}

const readTools = (list: z.infer<typeof toolsSchema>): ToolList => (list === null ? null : new Map(list));

function readAnswer(answer: z.infer<typeof answerSchema>): TapedAnswer {
  if ('result' in answer) return { kind: 'result', result: answer.result };
  const { code, message } = answer.error;
  return code === null ? { kind: 'error', error: new Error(message) } : makeErrorAnswer(code, message);
}
