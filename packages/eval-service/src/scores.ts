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
/** What a scorer said of an iteration. A value is from 0 to 1. */
export type Score = z.infer<typeof scoreSchema>;

const definitionSchema = z.object({
  scorerId: z.string().min(1),
  role: z.string().nullish(),
  deterministic: z.boolean().nullish(),
});
const configSchema = z.object({ hash: z.string(), definitions: z.array(z.unknown()) });

/** What the scorers of an iteration said, as far as it can be read. */
export interface IterationScores {
  scores: Score[];
  /** How many rows could not be read, or were marked so by their sender. They count in no rate. */
  quarantined: number;
  /** Of the configuration of scorers; null where none was sent. */
  configHash: string | null;
  /** Scorers whose verdict decides. */
  gating: string[];
}

/** Reads the scores in the metadata of a result; null where it has none. */
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

/** Whether all scores of a run could be read; null where there are none, which is no evidence either. */
export function judgeIntegrity(scores: Iterable<IterationScores>): 'valid' | 'invalid' | null {
  const all = [...scores].filter((each) => each.scores.length + each.quarantined > 0);
  if (all.length === 0) return null;
  return all.some(({ quarantined }) => quarantined > 0) ? 'invalid' : 'valid';
}
