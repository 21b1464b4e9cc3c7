import { settle } from '../base/settle.ts';
import type { Exploration } from '../explore/exploration.ts';
import type { MeasuredBehaviour } from '../model/behaviour.ts';
import type { Report } from '../model/report.ts';
import type { RenderReportOptions } from '../report/render-as.ts';
import type { CaptureOptions, CaptureSession } from './capture.ts';
import type { CompareBehaviourOptions } from './compare-behaviour.ts';
import type { CompareSurfacesOptions, SurfaceComparison } from './compare-surfaces.ts';
import type { ExploreServerOptions } from './explore.ts';
import type { RunGateOptions } from './run-gate.ts';

// The functions that programs call. Each loads what it needs when it is called, so that importing them costs next to nothing.

/**
 * Runs a gate and returns its report, whatever happens to the server. Writes the files of `reportDir` and posts the reports that the options
 * ask for. Writes nothing to the streams of this process, leaves its signals alone, and has stopped everything that it started when it
 * returns. Several gates may run at once.
 *
 * @throws {ConfigurationError} with everything that is wrong with options and files; nothing has started then
 * @example
 * import { runGate } from 'mcp-eval-ci';
 *
 * const report = await runGate({ serverCommand: 'node build/index.js', evals: 'evals/*.evals.yaml', runs: 3 });
 * process.exitCode = report.verdict.outcome === 'passed' ? 0 : 1;
 */
export async function runGate(options: RunGateOptions): Promise<Report> {
  const { runGateOf } = await import('./run-gate.ts');
  return await settle(runGateOf(options));
}

/**
 * Explores a server: finds calls that work, chains of calls, and refusals, each in a process that works in a copy of the workspace. The result
 * is a value; it writes no file. Times in it are in milliseconds.
 *
 * @throws {ConfigurationError} for options, a policy or a workspace that cannot be used
 * @throws {ServerStartError} if the server does not answer
 * @throws {CancelledError} once the signal aborts
 * @example
 * import { explore } from 'mcp-eval-ci/explore';
 *
 * const { coverage, findings } = await explore({ serverCommand: 'node build/index.js', timeLimit: 60_000 });
 * console.log(coverage, findings.filter(({ severity }) => severity === 'error'));
 */
export async function explore(options: ExploreServerOptions): Promise<Exploration> {
  const { exploreServerOf } = await import('./explore.ts');
  return await settle(exploreServerOf(options));
}

/**
 * Reads what a server shows its clients (tools, prompts, resources, instructions) and compares it with a surface file. Writes the file only
 * with `update`. A change that the policy fails is in `reasons`, and no error.
 *
 * @throws {ConfigurationError} for options, a policy or a file that cannot be used
 * @throws {ServerStartError} if the server does not answer
 * @throws {CancelledError} once the signal aborts
 * @example
 * import { compareSurfaces } from 'mcp-eval-ci';
 *
 * const { configurations, reasons } = await compareSurfaces({ serverCommand: 'node build/index.js', file: 'surface.json' });
 * for (const { changes } of configurations) for (const { severity, message } of changes) console.log(severity, message);
 * if (reasons.length > 0) process.exitCode = 1;
 */
export async function compareSurfaces(options: CompareSurfacesOptions): Promise<SurfaceComparison> {
  const { compareSurfacesOf } = await import('./compare-surfaces.ts');
  return await settle(compareSurfacesOf(options));
}

/**
 * Explores the server of the base, repeats its calls on that of the change, and returns the differences that repeat in new processes of both.
 * Durations are in milliseconds. Writes no file.
 *
 * @throws {ConfigurationError} for options or a workspace that cannot be used
 * @throws {ServerStartError} if one of the servers does not answer
 * @throws {CancelledError} once the signal aborts
 * @example
 * import { compareBehaviour } from 'mcp-eval-ci';
 *
 * const serverCommand = 'node build/index.js';
 * const { differences } = await compareBehaviour({ serverCommand, base: { serverCommand, serverCwd: '../base' } });
 * for (const { kind, tool } of differences) console.log(kind, tool);
 */
export async function compareBehaviour(options: CompareBehaviourOptions): Promise<MeasuredBehaviour> {
  const { compareBehaviourOf } = await import('./compare-behaviour.ts');
  return await settle(compareBehaviourOf(options));
}

/**
 * Serves a server over HTTP on this machine and records what a client does with it, until `end` writes evals of the session. Writes no
 * file. The server starts with all variables of `env`, as it does for its user.
 *
 * @throws {ConfigurationError} for options that cannot be used, such as a port that is taken
 * @throws {ServerStartError} if the server does not answer
 * @throws {CancelledError} once the signal aborts
 * @example
 * import { writeFile } from 'node:fs/promises';
 * import { capture } from 'mcp-eval-ci';
 *
 * const session = await capture({ serverCommand: 'node build/index.js' });
 * console.log(`Connect your client to ${session.url}, and press Enter when you are done.`);
 * for await (const _ of process.stdin) break;
 * const { text, cases } = await session.end();
 * if (cases > 0 && text !== null) await writeFile('captured.evals.yaml', text);
 */
export async function capture(options: CaptureOptions): Promise<CaptureSession> {
  const { captureOf } = await import('./capture.ts');
  return await settle(captureOf(options));
}

/**
 * Writes a report in another format: for a terminal, as Markdown, as a page, for a test reporter or for a code review. Foreign text in the
 * report is escaped for the format. Reads and writes no file.
 *
 * @throws {ConfigurationError} for a format that does not exist
 * @example
 * import { readFile } from 'node:fs/promises';
 * import { parseReport, renderReport } from 'mcp-eval-ci/report';
 *
 * const report = await parseReport(JSON.parse(await readFile('mcp-eval-report/report.json', 'utf8')));
 * console.log(await renderReport(report, { as: 'comment' }));
 */
export async function renderReport(report: Report, options: RenderReportOptions): Promise<string> {
  const { renderReportAs } = await import('./render-report.ts');
  return await renderReportAs(report, options);
}

/**
 * Checks that a value is a report of this version, and returns it as one.
 *
 * @throws {ProtocolError} with the path of the first mismatch in its `path`
 * @example
 * import { readFile } from 'node:fs/promises';
 * import { parseReport } from 'mcp-eval-ci/report';
 *
 * const report = await parseReport(JSON.parse(await readFile('mcp-eval-report/report.json', 'utf8')));
 * for (const { title, passed, total } of report.cases) console.log(`${title}: ${passed} of ${total}`);
 */
export async function parseReport(value: unknown): Promise<Report> {
  const { parseReport: parse } = await import('../report/report-json.ts');
  return parse(value);
}
