import { z } from 'zod';
import { isRecord } from '../../../src/base/json.ts';

const fraction = z.number().min(0).max(1);

const scoreSchema = z.object({
  scorerId: z.string().min(1),
  definitionHash: z.string().min(1),
  status: z.enum(['scored', 'error', 'skipped', 'not_applicable']),
  value: fraction.nullish(),
  passThreshold: fraction.nullish(),
  passed: z.boolean().nullish(),
  deterministic: z.boolean().nullish(),
});
/** The result of a scorer for an iteration. Values are from 0 to 1. */
export type Score = z.infer<typeof scoreSchema>;

const definitionSchema = z.object({
  scorerId: z.string().min(1),
  role: z.string().nullish(),
  deterministic: z.boolean().nullish(),
});
const configSchema = z.object({ hash: z.string(), definitions: z.array(z.unknown()) });

/** The readable results of the scorers of an iteration. */
export interface IterationScores {
  scores: Score[];
  /** The number of rows that were unreadable, or that their sender marked as such. They count in no rate. */
  quarantined: number;
  /** The hash of the scorers' configuration; null if none was sent. */
  configHash: string | null;
  /** The scorers whose verdict decides. */
  gating: string[];
}

/** Reads the scores in the metadata of a result; null if there are none. */
export function readScores(metadata: Readonly<Record<string, unknown>> | null | undefined): IterationScores | null {
  const { scores, scoresQuarantined, evaluationConfig } = metadata ?? {};
  const config = configSchema.safeParse(evaluationConfig).data;
  const rows: unknown[] = Array.isArray(scores) ? scores : [];
  const marked: unknown[] = Array.isArray(scoresQuarantined) ? scoresQuarantined : [];
  if (rows.length === 0 && marked.length === 0 && config === undefined) return null;
  const read = rows.flatMap((row) => (isRecord(row) ? (scoreSchema.safeParse(row).data ?? []) : []));
  const definitions = (config?.definitions ?? []).flatMap((row) => definitionSchema.safeParse(row).data ?? []);
  return {
    scores: read,
    quarantined: rows.length - read.length + marked.length,
    configHash: config?.hash ?? null,
    gating: definitions.flatMap(({ role, scorerId }) => (role === 'gating' ? [scorerId] : [])),
  };
}

/** Judges whether all scores of a run were readable; null without scores, because that is no evidence. */
export function judgeIntegrity(scores: Iterable<IterationScores>): 'valid' | 'invalid' | null {
  const all = [...scores].filter((each) => each.scores.length + each.quarantined > 0);
  if (all.length === 0) return null;
  return all.some(({ quarantined }) => quarantined > 0) ? 'invalid' : 'valid';
}
