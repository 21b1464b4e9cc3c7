import type { IterationMark } from '../../model/evidence.ts';
import type { CaseReport } from '../../model/case-report.ts';
import type { Report } from '../../model/report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';
import { createIterationMarks } from '../iteration-marks.ts';
import { createRepeats, describeInspection } from '../repeat.ts';
import { composeBase } from './base.ts';
import { composeBaseline } from './baseline.ts';
import { composeBehaviour } from './behaviour.ts';
import type { Block, Line } from './block.ts';
import { composeCoverage } from './coverage.ts';
import { composeHostFindings } from './host-findings.ts';
import { composeModels } from './models.ts';
import { composeSuite } from './suite.ts';
import { composeSurface } from './surface.ts';
import { composeTotals } from './totals.ts';
import { composeTrend } from './trend.ts';
import { composeMoreReasons, composeNotes, composeVerdict } from './verdict.ts';

export type SectionName =
  | 'verdict'
  | 'notes'
  | 'reasons'
  | 'suite'
  | 'models'
  | 'base'
  | 'baseline'
  | 'surface'
  | 'behaviour'
  | 'coverage'
  | 'trend'
  | 'totals'
  | 'hosts';

/** A part of the report with its blocks, in the order in which a reader wants them. Each suite is a section. */
export interface Section {
  name: SectionName;
  blocks: readonly Block[];
}

/** What a document shows in addition to the report. */
export interface DocumentContext {
  /** The job that the title names. */
  job?: string | null;
  /** Links to more, for the last line. */
  links?: readonly Line[];
  /** The outcomes of single iterations. */
  iterations?: readonly IterationMark[];
}

const outcomeRanks: Record<VerdictOutcome, number> = { failed: 0, inconclusive: 1, passed: 2 };

/**
 * Composes the whole report as blocks, once, whatever a reader sees of it: `fit.ts` leaves out what the detail does not allow, and the
 * renderers lay out the rest. The suites that decided the verdict come first.
 */
export function renderDocument(
  report: Report,
  { job = null, links = [], iterations = [] }: DocumentContext = {},
): Section[] {
  const words = {
    markIterations: createIterationMarks(iterations),
    describeRepeat: createRepeats(report),
    inspect: (testCase: Pick<CaseReport, 'failures'>) => describeInspection(testCase, report),
  };
  const suites = report.suites.toSorted((a, b) => outcomeRanks[a.verdict.outcome] - outcomeRanks[b.verdict.outcome]);
  return [
    { name: 'verdict', blocks: composeVerdict(report, job) },
    { name: 'notes', blocks: composeNotes(report) },
    ...suites.map((suite): Section => ({ name: 'suite', blocks: composeSuite(suite, report, words) })),
    { name: 'reasons', blocks: composeMoreReasons(report) },
    { name: 'models', blocks: composeModels(report) },
    { name: 'base', blocks: composeBase(report) },
    { name: 'baseline', blocks: composeBaseline(report) },
    { name: 'surface', blocks: composeSurface(report.surface) },
    { name: 'hosts', blocks: composeHostFindings(report.hosts) },
    { name: 'behaviour', blocks: composeBehaviour(report.behaviour) },
    { name: 'coverage', blocks: composeCoverage(report) },
    { name: 'trend', blocks: composeTrend(report) },
    { name: 'totals', blocks: composeTotals(report, links) },
  ];
}
