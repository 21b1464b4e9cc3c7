import { z } from 'zod';
import { type BaselineCase, baselineSchema } from '../../model/comparison.ts';
import { count, type Counts, countsSchema } from '../../model/quantities.ts';
import { parseReportText } from './read-report.ts';

/** The fields of a report that a baseline needs. */
export interface BaselineReport {
  startedAt: string;
  commit: string | null;
  branch: string | null;
  isStoppedEarly: boolean;
  cases: BaselineCase[];
}

export type BaselineReading = { kind: 'report'; report: BaselineReport } | { kind: 'bad'; why: string };

/**
 * Reads the report of an earlier gate as a baseline. It also reads reports of the previous schemaVersion: a baseline needs only counts, and
 * after an update a gate would otherwise have nothing to compare with until its default branch has run.
 *
 * @throws if it is no JSON, or no report
 */
export function parseBaselineReport(text: string): BaselineReading {
  const earlier = earlierReportSchema.safeParse(JSON.parse(text));
  if (earlier.success) return { kind: 'report', report: earlier.data };
  const read = parseReportText(text);
  if (read.kind === 'report') return { kind: 'report', report: takeBaseline(read.report) };
  return { kind: 'bad', why: read.kind === 'bad' ? read.why : 'it is empty' };
}

const caseSchema = baselineSchema.shape.cases.element.omit({ definitionHash: true, replayed: true }).extend({
  failed: count,
  definitionHash: z.string().nullable().default(null),
  replayed: countsSchema.default({ passed: 0, total: 0 }),
});

const earlierReportSchema = z
  .object({
    schemaVersion: z.literal('2'),
    startedAt: z.string(),
    revision: z.object({ commit: z.string().nullable(), branch: z.string().nullable() }).nullable().default(null),
    suites: z.array(z.object({ stoppedEarly: z.object({}).nullable().default(null) })),
    cases: z.array(caseSchema.refine(({ passed, failed, total }) => passed + failed === total)),
  })
  .transform(takeBaseline);

function takeBaseline({
  startedAt,
  revision,
  suites,
  cases,
}: {
  startedAt: string;
  revision: { commit: string | null; branch: string | null } | null;
  suites: ReadonlyArray<{ stoppedEarly: object | null }>;
  cases: ReadonlyArray<Omit<BaselineCase, 'replayed'> & { replayed: Counts }>;
}): BaselineReport {
  return {
    startedAt,
    commit: revision?.commit ?? null,
    branch: revision?.branch ?? null,
    isStoppedEarly: suites.some(({ stoppedEarly }) => stoppedEarly !== null),
    cases: cases.map(({ suiteId, id, title, passed, total, definitionHash, replayed }) => {
      return { suiteId, id, title, passed, total, definitionHash, replayed: replayed.total };
    }),
  };
}
