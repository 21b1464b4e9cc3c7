import type { Command } from 'commander';
import { formatCount } from '../base/text.ts';
import { ConfigurationError } from '../base/errors.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import { findCasesWithoutModel } from '../suite/model-settings.ts';
import { loadSuites } from '../suite/load.ts';
import { loadSnapshots } from '../suite/load-snapshots.ts';

/** Adds `validate`: reads evals files and reports every finding, without starting anything. */
export function addValidateCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('validate')
    .description('Check evals files and report every finding with its file, line and column.')
    .argument('<files...>', 'paths or glob patterns of evals files')
    .addHelpText('after', '\nExit codes: 0 valid · 2 invalid')
    .configureOutput({
      // The flag of `run`.
      outputError: (text, write) => {
        const isEvals = text.includes("unknown option '--evals'");
        write(isEvals ? `${text}Give the files without a flag: mcp-eval-ci validate evals/*.evals.yaml\n` : text);
      },
    })
    .action(async (patterns: string[]) => {
      const { suites, findings } = await loadSuites(patterns, { cwd: process.cwd() });
      const snapshots = await loadSnapshots(suites, process.cwd());
      const all = [...findings, ...snapshots.issues, ...snapshots.missing];
      if (all.length > 0) throw new ConfigurationError(all);
      for (const suite of suites) {
        const iterations = suite.cases.reduce((sum, { runs }) => sum + runs, 0);
        const counts = `${formatCount(suite.cases.length, 'case')}, ${formatCount(iterations, 'iteration')}`;
        process.stdout.write(`${escapeTerminalText(`${suite.location.file}: ${suite.name}, ${counts}`)}\n`);
      }
      for (const { file, line, column, message } of suites.flatMap(findCasesWithoutModel)) {
        const what = `${file}:${line}:${column}: ${message}. Only a hosted service with a model of its own can run it.`;
        process.stderr.write(`Warning: ${escapeTerminalText(what)}\n`);
      }
      process.stdout.write(`${suites.length} ${suites.length === 1 ? 'file is' : 'files are'} valid.\n`);
      setExitCode(0);
    });
}
