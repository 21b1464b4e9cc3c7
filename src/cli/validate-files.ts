import { formatCount } from '../base/text.ts';
import { ConfigurationError } from '../base/errors.ts';
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
  for (const change of describeOffer(
    suites.map((suite) => ({ suite })),
    known?.file.configurations ?? {},
  )) {
    process.stderr.write(`Warning: ${escapeTerminalText(change)}\n`);
  }
  process.stdout.write(`${suites.length} ${suites.length === 1 ? 'file is' : 'files are'} valid.\n`);
}
