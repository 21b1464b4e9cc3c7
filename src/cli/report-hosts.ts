import { resolve } from 'node:path';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { type ExploredResult, readExploredResults } from '../explore/read-results.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import { readSurfaceFile } from '../gate/plan/surface-part.ts';
import { planSurfaceServers, readServerSurfaces } from '../gate/read-surfaces.ts';
import { chooseHosts } from '../hosts/choose-hosts.ts';
import { compareHosts } from '../hosts/compare-hosts.ts';
import { defaultServerName, findHostFindings } from '../hosts/compare-with-base.ts';
import type { ReceivedResult } from '../hosts/show-results.ts';
import type { ServedSurface } from '../hosts/show-surface.ts';
import type { HostsComparison } from '../model/hosts-comparison.ts';
import type { HostsReport } from '../model/hosts-report.ts';
import {
  renderComparedHostsMarkdown,
  renderComparedHostsText,
  renderHostsMarkdown,
  renderHostsText,
} from '../report/hosts.ts';
import type { SurfaceFile } from '../model/surface.ts';
import { createStderrLogger } from './command-logger.ts';

/** Reads the surfaces of servers, and prints what hosts make of them. */
export async function reportHosts(
  flags: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
  redactor: Redactor,
): Promise<void> {
  const { env: environment, stdout } = process;
  const logger = createStderrLogger(redactor);
  const { hosts, format, corpus } = flags;
  const name = readText(flags['name']) ?? defaultServerName;
  const profiles = chooseHosts(typeof hosts === 'string' ? hosts : null);
  const explored = typeof corpus === 'string' ? await readResults(corpus) : null;
  const context = { cwd: process.cwd(), environment };
  const { servers, notes, protocol } = await planSurfaceServers(parseDoctorOptions(texts), context);
  const before = await planBefore(flags, texts, context);
  for (const note of [...notes, ...(before?.notes ?? [])]) logger.warning(note);
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const reaching = { clock: systemClock, logger, redactor, signal, environment, protocol, name };
  const found = await readServerSurfaces(servers, reaching);
  const surfaces = toServed(redactDeep(found, redactor));
  if (before !== null) {
    const known = before.configurations ?? (await readServerSurfaces(before.servers, reaching));
    const [old, ...others] = toServed(redactDeep(known, redactor));
    const [own] = surfaces;
    // The name in the file is that of a configuration, which the flags do not know.
    const isOnly = others.length === 0 && surfaces.length === 1 && old !== undefined && own !== undefined;
    const sides = isOnly ? [{ ...old, name: own.name }] : toServed(known);
    const comparison = findHostFindings(surfaces, { against: before.against, before: sides }, profiles);
    stdout.write(redactor.redact(renderComparison(comparison, format)));
    return;
  }
  const results = explored === null ? null : labelResults(redactDeep(explored, redactor), surfaces);
  if (results?.length === 0) logger.warning('The exploration has no result of a tool of this server.');
  stdout.write(redactor.redact(renderReport(compareHosts(profiles, surfaces, results), format)));
}

const readText = (flag: unknown) => (typeof flag === 'string' && flag !== '' ? flag : null);

const toServed = (configurations: SurfaceFile['configurations']): ServedSurface[] =>
  Object.entries(configurations).map(([name, surface]) => ({ name, surface }));

interface PlannedBefore {
  against: string;
  /** Null if servers have to be started. */
  configurations: SurfaceFile['configurations'] | null;
  servers: PlannedServer[];
  notes: string[];
}

/**
 * Plans what to compare with; null if the flags name nothing.
 *
 * @throws {ConfigurationError} if there is no such surface file, or if the server cannot be planned
 */
async function planBefore(
  flags: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
  context: { cwd: string; environment: NodeJS.ProcessEnv },
): Promise<PlannedBefore | null> {
  const [path, command] = [readText(flags['file']), readText(flags['baseServerCommand'])];
  if (path !== null) {
    const known = await readSurfaceFile(path, context.cwd);
    if (known !== null) return { against: path, configurations: known.file.configurations, servers: [], notes: [] };
    const message = 'does not exist; write it with `mcp-eval-ci surface --update`';
    throw new ConfigurationError([{ file: path, code: 'missing-surface-file', message }]);
  }
  if (command === null) return null;
  const { 'server-url': _url, 'mcp-config': _config, ...others } = texts;
  const { servers, notes } = await planSurfaceServers(
    parseDoctorOptions({ ...others, 'server-command': command }),
    context,
  );
  return { against: 'base', configurations: null, servers, notes };
}

/** @throws {ConfigurationError} if the file is no exploration */
async function readResults(path: string): Promise<ExploredResult[]> {
  const refuse = (code: string, message: string) => new ConfigurationError([{ input: 'corpus', code, message }]);
  let text: string;
  try {
    text = await readTextFile(resolve(path));
  } catch (error) {
    throw refuse('unreadable-corpus', `${path} cannot be read: ${describeError(error)}`);
  }
  const results = readExploredResults(text);
  if (results !== null) return results;
  throw refuse(
    'no-corpus',
    `${path} is no exploration of this version; write one with \`mcp-eval-ci explore --corpus\``,
  );
}

/** Finds the tool of each result. Of several servers with a tool of that name, the exploration does not say which it was. */
function labelResults(results: readonly ExploredResult[], servers: readonly ServedSurface[]): ReceivedResult[] {
  return results.flatMap(({ tool, result }) => {
    const [server, ...others] = servers.filter(({ surface }) => surface.tools.some(({ name }) => name === tool));
    if (server === undefined || others.length > 0) return [];
    return [{ label: servers.length > 1 ? `${server.name}/${tool}` : tool, result }];
  });
}

function renderComparison(comparison: HostsComparison, format: unknown): string {
  const { stdout } = process;
  if (format === 'json') return `${JSON.stringify(comparison, null, 2)}\n`;
  if (format === 'markdown') return renderComparedHostsMarkdown(comparison);
  return renderComparedHostsText(comparison, { color: stdout.hasColors?.() ?? false, columns: stdout.columns });
}

function renderReport(report: HostsReport, format: unknown): string {
  const { stdout } = process;
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (format === 'markdown') return renderHostsMarkdown(report);
  return renderHostsText(report, { color: stdout.hasColors?.() ?? false, columns: stdout.columns });
}
