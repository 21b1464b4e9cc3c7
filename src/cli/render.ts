import { relative, resolve, sep } from 'node:path';
import { type Command, Option } from 'commander';
import { ConfigurationError } from '../base/errors.ts';
import { readReport } from '../gate/plan/read-report.ts';
import type { Report } from '../model/report.ts';
import { renderCodeQuality } from '../report/code-quality.ts';
import { renderComment } from '../report/comment.ts';
import { renderSummary } from '../report/summary.ts';
import { writeOut } from './write-out.ts';

const forms = ['comment', 'summary', 'code-quality'] as const;

interface RenderFlags {
  as: (typeof forms)[number];
  job?: string;
  url?: string;
  out?: string;
}

/** Defines `render`: prints a report.json in a format that another system shows. */
export function defineRenderCommand(command: Command, setExitCode: (code: number) => void): void {
  command
    .argument('<report>', 'a report.json, or the directory that holds it')
    .addOption(
      new Option(`--as <${forms.join('|')}>`, 'A short comment, the whole summary, or a Code Quality report.')
        .choices([...forms])
        .makeOptionMandatory(),
    )
    .option('--job <name>', 'The job that the title of the comment names.')
    .option('--url <url>', 'The page of the job, which the comment links.')
    .option('--out <file>', 'Where to write it; replaces the file. [stdout]')
    .addHelpText(
      'after',
      `
Paths of a Code Quality report are relative to CI_PROJECT_DIR, if it is set.

Exit codes: 0 printed, whatever the verdict · 2 configuration or usage

Examples:
  $ mcp-eval-ci render mcp-eval-report --as comment
  $ mcp-eval-ci render mcp-eval-report --as code-quality`,
    )
    .action(async (path: string, flags: RenderFlags) => {
      const read = await readReport(resolve(path));
      if (read.kind !== 'report') {
        const why = read.kind === 'missing' ? 'there is no such report' : read.why;
        throw new ConfigurationError([{ file: path, code: 'bad-report', message: `Cannot be rendered: ${why}` }]);
      }
      await writeOut(renderAs(read.report, flags), { ...flags, force: true });
      setExitCode(0);
    });
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
