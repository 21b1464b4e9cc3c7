import { resolve } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { findOutputRoot } from '../base/output-files.ts';
import type { Redactor } from '../base/redaction.ts';
import { rejudgeReport } from '../gate/judge/rejudge.ts';
import { parseJudgeOptions } from '../gate/options.ts';
import { planRejudge } from '../gate/plan/plan-rejudge.ts';
import { publishFiles } from '../gate/publish/publish-files.ts';
import type { OutputFormat } from './format-flag.ts';
import { createTerminalLogger } from './command-logger.ts';
import { printReport } from './output-format.ts';

/** Judges a report by the rules of these options, prints and writes the results, and returns the exit code. */
export async function judgeReport(
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
