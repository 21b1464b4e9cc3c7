import { relative, resolve, sep } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { readReport } from '../gate/plan/read-report.ts';
import type { Report } from '../model/report.ts';
import { renderCodeQuality } from '../report/code-quality.ts';
import { renderComment } from '../report/comment.ts';
import { renderSummary } from '../report/summary.ts';
import { writeOut } from './write-out.ts';

export interface RenderFlags {
  as: 'comment' | 'summary' | 'code-quality';
  job?: string;
  url?: string;
  out?: string;
}

/** Writes a report.json in the form that the flags name. */
export async function renderReport(path: string, flags: RenderFlags): Promise<void> {
  const read = await readReport(resolve(path));
  if (read.kind !== 'report') {
    const why = read.kind === 'missing' ? 'there is no such report' : read.why;
    throw new ConfigurationError([{ file: path, code: 'bad-report', message: `Cannot be rendered: ${why}` }]);
  }
  await writeOut(renderAs(read.report, flags), { ...flags, force: true });
}

function renderAs(report: Report, { as, job, url }: RenderFlags): string {
  if (as === 'summary') return renderSummary(report);
  if (as === 'comment') {
    const run = url === undefined ? null : { label: 'Job', url };
    return renderComment(report, { job: job ?? null, run });
  }
  const { CI_PROJECT_DIR: top } = process.env;
  return renderCodeQuality(report, {
    relocate: (file) => (top === undefined ? file : relative(top, resolve(file)).split(sep).join('/')),
  });
}
