import { relative, resolve, sep } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { readReport } from '../gate/plan/read-report.ts';
import type { Report } from '../model/report.ts';
import { renderAs } from '../report/render-as.ts';
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
  await writeOut(await renderFlags(read.report, flags), { ...flags, force: true });
}

async function renderFlags(report: Report, { as, job, url }: RenderFlags): Promise<string> {
  if (as === 'summary') return await renderAs(report, as, {});
  if (as === 'comment') {
    const run = url === undefined ? null : { label: 'Job', url };
    return await renderAs(report, as, { job: job ?? null, run });
  }
  const { CI_PROJECT_DIR: top } = process.env;
  return await renderAs(report, as, {
    relocate: (file) => (top === undefined ? file : relative(top, resolve(file)).split(sep).join('/')),
  });
}
