import { type Command, Option } from 'commander';
import { ConfigurationError } from '../base/errors.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { listFlags, listOptions } from '../gate/options/list.ts';
import { addRunFlags, type GateProcess, readRunFlags } from './run-flags.ts';
import { runAgain, watchFlag, watchRuns } from './watch.ts';

/** Defines `run`: the gate, with the action's inputs as flags. */
export function defineRunCommand(command: Command, setExitCode: (code: number) => void, context: GateProcess): void {
  const options = listFlags('run');
  addRunFlags(command, options);
  command
    .addOption(
      new Option('--update', 'Write what failed checks of tool results got into the evals files and snapshots.'),
    )
    .addOption(new Option('--update-snapshots', 'Write the files of `toMatchFile` instead of comparing with them.'))
    .addOption(new Option('--failed', 'Run only the cases that did not pass last time, by the last report.'))
    .addOption(new Option('--list', 'List the cases that would run, with their files and lines, and start nothing.'))
    .addOption(new Option('--watch', 'Run again after each change of a file, the failed cases first.'))
    .addOption(
      new Option(
        '--reporter <file>',
        'Hand the report to the reporters that a file exports, in this process. Repeat it for several files.',
      ).argParser((file: string, files: readonly string[] | undefined) => [...(files ?? []), file]),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ mcp-eval-ci run --server-command "node build/index.js" evals/*.evals.yaml
  $ mcp-eval-ci run --server-url http://127.0.0.1:3000/mcp --tags smoke evals/*
  $ mcp-eval-ci run --server-command "node build/index.js" --failed --list

Exit codes:
  0 passed · 1 failed · 2 configuration or usage · 3 inconclusive`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const updatesLiterals = flags['update'] === true;
      const updatesSnapshots = updatesLiterals || flags['updateSnapshots'] === true;
      if (updatesLiterals) (await import('./update.ts')).checkUpdate(process.env, flags['watch'] === true);
      const isListing = flags['list'] === true;
      const reporters = listTextsOf(flags['reporter']);
      if (isListing && flags['watch'] === true) refuseListWithWatch();
      const run = { ...readRunFlags(files, flags, options), updatesSnapshots, updatesLiterals, isListing, reporters };
      if (flags['watch'] === true) {
        setExitCode(await watchGate(run.texts['report-dir'] || defaultReportDir));
        return;
      }
      const texts = flags['failed'] === true ? await selectFailedCases(run.texts) : run.texts;
      if (texts === null) process.stdout.write('Every case passed last time; nothing was run.\n');
      const { runGate } = await import('./run-gate.ts');
      setExitCode(texts === null ? 0 : await runGate({ ...run, texts }, context));
    });
}

function listTextsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function refuseListWithWatch(): never {
  const message = 'starts nothing, so that there is nothing to repeat; give it without `--watch`';
  throw new ConfigurationError([{ input: '--list', code: 'list-and-watch', message }]);
}

const defaultReportDir = listOptions().find(({ name }) => name === 'report-dir')?.default ?? '';

async function selectFailedCases(texts: Record<string, string>): Promise<Record<string, string> | null> {
  const { selectFailed } = await import('./failed-cases.ts');
  return await selectFailed(texts, { cwd: process.cwd(), defaultReportDir });
}

/** Runs this command again for each change, in its own process with its own supervisor. */
async function watchGate(reportDir: string): Promise<number> {
  const args = process.argv.slice(2).filter((word) => word !== watchFlag && word !== '--failed');
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  return await watchRuns({
    directory: process.cwd(),
    ignored: [reportDir],
    run: async ({ isFailedOnly }) => await runAgain(isFailedOnly ? [...args, '--failed'] : args),
    print: (line) => process.stderr.write(`${line}\n`),
    signal,
  });
}
