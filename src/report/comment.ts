import type { Report } from '../model/report.ts';
import { asCode, type Line, text } from './document/block.ts';
import { renderDocument, type Section, type SectionName } from './document/document.ts';
import { fit, ladder, trim } from './document/fit.ts';
import { renderMarkdown } from './markdown.ts';

export interface CommentOptions {
  /** In UTF-8. GitHub refuses a comment of more than about 64 KiB; the default stays below it. */
  maxBytes?: number;
  /** The name of the job: a pull request may have comments of several jobs. */
  job?: string | null;
  /** The run in which the gate ran. */
  run?: { label: string; url: string } | null;
  /** What changed since the comment that this one replaces. */
  since?: string | null;
  /** Returns the URL of a line of the commit that was tested; null if unknown. */
  linkLine?: (place: { file: string; line: number }) => string | null;
}

const defaultMaxBytes = 60_000;
const details = ladder.filter(({ level }) => level === 'brief' || level === 'title');
/** The sections in the order of a comment: the other reasons and the notes do not belong to the first ten seconds. */
const order: readonly SectionName[] = [
  'verdict',
  'suite',
  'reasons',
  'models',
  'base',
  'baseline',
  'surface',
  'hosts',
  'behaviour',
  'notes',
  'totals',
];

/**
 * Renders the comment on a pull request in Markdown, to be read in ten seconds on a phone: the brief parts of the document. A text that is too large has less detail.
 */
export function renderComment(report: Report, options: CommentOptions = {}): string {
  const { maxBytes = defaultMaxBytes, job = null, run = null, since = null, linkLine } = options;
  const document = renderDocument(report, { job, links: listLinks(report, run) });
  const [verdict = [], ...others] = order.map((name) => document.filter((section) => section.name === name));
  const change: Section = { name: 'verdict', blocks: since === null ? [] : [text('brief', since)] };
  const sections = [...verdict, change, ...others.flat()];
  return fit(details, maxBytes, (detail) => renderMarkdown(trim(sections, detail), { detail, depth: 3, linkLine }));
}

function listLinks({ revision }: Report, run: CommentOptions['run']): Line[] {
  const commit = revision?.commit ?? '';
  return [
    ...(run == null ? [] : [[{ kind: 'link' as const, ...run }]]),
    ...(/^[0-9a-f]{7,64}$/.test(commit) ? [['commit ', asCode(commit.slice(0, 7))]] : []),
  ];
}
