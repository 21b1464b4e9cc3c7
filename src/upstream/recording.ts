import { z } from 'zod';
import { tryParseJson } from '../base/json.ts';
import { bodySchema } from './body.ts';

/** The version of the format that this gate reads and writes. */
export const recordingVersion = 1;

const requestSchema = z.strictObject({
  method: z.string(),
  /** Without secrets; the query is sorted. */
  url: z.string(),
  /** Only the headers that the suite compares. */
  headers: z.record(z.string(), z.string()).exactOptional(),
  body: bodySchema.exactOptional(),
});

const answerSchema = z.strictObject({
  status: z.int().min(100).max(999),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).exactOptional(),
  body: bodySchema.exactOptional(),
});

const exchangeSchema = z.strictObject({ request: requestSchema, response: answerSchema });

/** The requests of one iteration, in the order in which they arrived. */
const sessionSchema = z.strictObject({
  /** Counts from 1. */
  iteration: z.int().min(1),
  exchanges: z.array(exchangeSchema),
});

const recordingSchema = z.strictObject({
  version: z.literal(recordingVersion),
  /** The title of the case, for people. */
  case: z.string(),
  /** The first iteration, and each other one whose requests differ from those of the first. */
  sessions: z.array(sessionSchema),
});

export type WrittenRequest = z.output<typeof requestSchema>;
export type WrittenAnswer = z.output<typeof answerSchema>;
export type WrittenExchange = z.output<typeof exchangeSchema>;
export type RecordedSession = z.output<typeof sessionSchema>;
export type Recording = z.output<typeof recordingSchema>;

/** The name of the file with the recording of a case. */
export function nameRecording(caseId: string): string {
  return `${caseId}.json`;
}

/** Reads a recording, or says in half a sentence why it cannot be used. */
export function readRecording(text: string): Recording | { problem: string } {
  const value = tryParseJson(text);
  if (value === undefined) return { problem: 'is not JSON; record it again' };
  const version: unknown = typeof value === 'object' && value !== null && 'version' in value ? value.version : null;
  if (typeof version === 'number' && version !== recordingVersion) {
    return {
      problem: `has version ${version}, and this gate reads version ${recordingVersion}; update the gate, or record it again`,
    };
  }
  const parsed = recordingSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : ` at /${issue.path.map(String).join('/')}`;
  return { problem: `is damaged${at}: ${issue?.message ?? 'unknown'}; record it again` };
}

export function printRecording(recording: Recording): string {
  return `${JSON.stringify(recording, null, 2)}\n`;
}
