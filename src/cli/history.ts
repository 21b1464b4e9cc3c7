import type { Command } from 'commander';
import type { HistoryFlags } from './render-history.ts';

/** Defines `history`: renders a history file as a page. */
export function defineHistoryCommand(command: Command, setExitCode: (code: number) => void): void {
  command
    .argument('<file>', 'the history file that gates write with --history-path')
    .option('--branch <name>', 'The branch whose gates the page shows. [that of the newest gate]')
    .option('--repository <url>', 'The web page of the repository, for links to commits. [that of the CI job]')
    .option('--currency <name>', 'The currency of costs. [USD]')
    .option('--out <file>', 'Where to write the page; replaces the file. [stdout]')
    .addHelpText(
      'after',
      `
The page shows pass rates with intervals, flaky cases, latency, cost and what
changed when. It is one file without scripts.

Exit codes: 0 printed · 2 configuration or usage

Examples:
  $ mcp-eval-ci history eval-history/history.jsonl --out site/index.html
  $ mcp-eval-ci history history.jsonl --branch main > history.html`,
    )
    .action(async (path: string, flags: HistoryFlags) => {
      const { renderHistory } = await import('./render-history.ts');
      await renderHistory(path, flags);
      setExitCode(0);
    });
}
