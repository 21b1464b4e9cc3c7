import { formatCount } from '../base/text.ts';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import type { Suite } from '../cases/suite.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { readSurfaceFile } from '../gate/plan/surface-part.ts';
import { describeOffer } from '../gate/preview-models.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import { findCasesWithoutModel } from '../suite/model-settings.ts';
import { loadSuites } from '../suite/load.ts';
import { loadSnapshots } from '../suite/load-snapshots.ts';

/** Reads evals files, and prints what they hold. @throws {ConfigurationError} with every finding */
export async function validateFiles(patterns: string[], surface: string | undefined): Promise<void> {
  const { suites, findings } = await loadSuites(patterns, { cwd: process.cwd() });
  const known = surface === undefined ? null : await readSurfaceFile(surface, process.cwd());
  if (surface !== undefined && known === null) {
    const message = `${JSON.stringify(surface)} does not exist; write it with \`mcp-eval-ci surface --update\``;
    throw new ConfigurationError([{ input: 'surface', code: 'missing-surface-file', message }, ...findings]);
  }
  const snapshots = await loadSnapshots(suites, process.cwd());
  const own = await checkModules(suites);
  const all = [...findings, ...snapshots.issues, ...snapshots.missing, ...own.issues];
  if (all.length > 0) throw new ConfigurationError(all);
  for (const suite of suites) {
    const iterations = suite.cases.reduce((sum, { runs }) => sum + runs, 0);
    const counts = `${formatCount(suite.cases.length, 'case')}, ${formatCount(iterations, 'iteration')}`;
    process.stdout.write(`${escapeTerminalText(`${suite.location.file}: ${suite.name}, ${counts}`)}\n`);
  }
  for (const warning of own.warnings) process.stderr.write(`Warning: ${escapeTerminalText(warning)}\n`);
  for (const { file, line, column, message } of suites.flatMap(findCasesWithoutModel)) {
    const what = `${file}:${line}:${column}: ${message}. Only a hosted service with a model of its own can run it.`;
    process.stderr.write(`Warning: ${escapeTerminalText(what)}\n`);
  }
  for (const change of describeOffer(
    suites.map((suite) => ({ suite })),
    known?.file.configurations ?? {},
  )) {
    process.stderr.write(`Warning: ${escapeTerminalText(change)}\n`);
  }
  process.stdout.write(`${suites.length} ${suites.length === 1 ? 'file is' : 'files are'} valid.\n`);
}

async function checkModules(
  suites: readonly Suite[],
): Promise<{ issues: readonly ConfigurationIssue[]; warnings: readonly string[] }> {
  if (suites.every((suite) => suite.checkModules === undefined)) return { issues: [], warnings: [] };
  const { checkOwnChecks } = await import('../gate/check-own-checks.ts');
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  return await checkOwnChecks(suites, { cwd: process.cwd(), environment: process.env, signal });
}
