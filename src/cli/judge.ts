import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { ConfigurationError } from '../base/errors.ts';
import { findOutputRoot } from '../base/output-files.ts';
import type { Redactor } from '../base/redaction.ts';
import { listOptions, parseJudgeOptions } from '../gate/options.ts';
import { publishFiles } from '../gate/publish/publish-files.ts';
import { addGateOptions, readGateFlags } from './gate-options.ts';
import { createTerminalLogger } from './logger.ts';
import { addFormatOption, printReport, readFormat, type OutputFormat } from './output-format.ts';
import { planRejudge } from '../gate/plan/plan-rejudge.ts';
import { rejudgeReport } from '../gate/judge/rejudge.ts';

const optionNames: ReadonlySet<string> = new Set([
  'min-pass-rate',
  'policy',
  'baseline',
  'history-path',
  'report-formats',
]);

/** Adds `judge`: the verdict on a report that is there already, by other rules or the same. */
export function addJudgeCommand(program: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listOptions().filter(({ name }) => optionNames.has(name));
  const command = program
    .command('judge')
    .description('Judge the results in a report.json anew, without running anything.')
    .argument('<report>', 'a report.json, or the directory that holds it');
  addGateOptions(command, options);
  addFormatOption(command);
  command
    .addOption(
      new Option('--report-dir <directory>', 'Write the reports there. Default: nowhere.').helpGroup('Reports:'),
    )
    .addHelpText('after', '\nExit codes:\n  0 passed · 1 failed · 2 configuration or usage · 3 inconclusive')
    .action(async (path: string, flags: Record<string, unknown>) => {
      const reportDir = typeof flags['reportDir'] === 'string' ? flags['reportDir'] : null;
      setExitCode(
        await judgeReport(path, readGateFlags(flags, {}, options), { reportDir, redactor, format: readFormat(flags) }),
      );
    });
}

async function judgeReport(
  path: string,
  texts: Record<string, string>,
  { reportDir, redactor, format }: { reportDir: string | null; redactor: Redactor; format: OutputFormat },
): Promise<number> {
  const { stderr } = process;
  const logger = createTerminalLogger({
    write: (text) => stderr.write(text),
    redactor,
    color: stderr.hasColors?.() ?? false,
    isQuiet: false,
    isVerbose: false,
  });
  const options = parseJudgeOptions(texts);
  const plan = await planRejudge(path, options, { cwd: process.cwd() });
  for (const note of plan.notes) logger.warning(note);
  const { report, exit } = rejudgeReport(plan.report, plan.rules);
  for (const warning of exit.warnings) logger.warning(warning);
  printReport(report, { format, redactor });
  if (reportDir !== null) {
    const path = resolve(process.cwd(), reportDir);
    const root = findOutputRoot(path, process.cwd()) ?? path;
    const target = { path, label: reportDir, root, register: null };
    const files = await publishFiles(
      report,
      { reportDir: target, reportFormats: options.reportFormats, summary: false, history: null, page: null },
      { logger, redactor, summaryPath: null, evidence: null },
    );
    if (files.reportPath === null || files.junitPath === null) {
      const message = `${reportDir} could not be written to; name another directory`;
      throw new ConfigurationError([{ input: 'report-dir', code: 'bad-report-dir', message }]);
    }
  }
  return exit.exitCode;
}
