import { type Command, Option } from 'commander';
import type { RenderFlags } from './render-report.ts';

const forms = ['comment', 'summary', 'code-quality'] as const satisfies ReadonlyArray<RenderFlags['as']>;

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
      const { renderReport } = await import('./render-report.ts');
      await renderReport(path, flags);
      setExitCode(0);
    });
}
