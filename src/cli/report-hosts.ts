import { resolve } from 'node:path';
import { ConfigurationError, describeError } from '../base/errors.ts';
import { readTextFile } from '../base/files.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { type ExploredResult, readExploredResults } from '../explore/read-results.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import { planSurfaceServers, readServerSurfaces } from '../gate/read-surfaces.ts';
import { chooseHosts } from '../hosts/choose-hosts.ts';
import { compareHosts } from '../hosts/compare-hosts.ts';
import { defaultServerName } from '../hosts/compare-with-base.ts';
import type { ReceivedResult } from '../hosts/show-results.ts';
import type { ServedSurface } from '../hosts/show-surface.ts';
import type { HostsReport } from '../model/hosts-report.ts';
import { renderHostsMarkdown, renderHostsText } from '../report/hosts.ts';
import { createStderrLogger } from './command-logger.ts';

/** Reads the surfaces of servers, and prints what hosts make of them. */
export async function reportHosts(
  flags: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
  redactor: Redactor,
): Promise<void> {
  const { env: environment, stdout } = process;
  const logger = createStderrLogger(redactor);
  const { hosts, name, format, corpus } = flags;
  const profiles = chooseHosts(typeof hosts === 'string' ? hosts : null);
  const explored = typeof corpus === 'string' ? await readResults(corpus) : null;
  const context = { cwd: process.cwd(), environment };
  const { servers, notes, protocol } = await planSurfaceServers(parseDoctorOptions(texts), context);
  for (const note of notes) logger.warning(note);
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const found = await readServerSurfaces(servers, {
    clock: systemClock,
    logger,
    redactor,
    signal,
    environment,
    protocol,
    name: typeof name === 'string' && name !== '' ? name : defaultServerName,
  });
  const surfaces = Object.entries(redactDeep(found, redactor)).map(([server, surface]) => ({ name: server, surface }));
  const results = explored === null ? null : labelResults(redactDeep(explored, redactor), surfaces);
  if (results?.length === 0) logger.warning('The exploration has no result of a tool of this server.');
  stdout.write(redactor.redact(renderReport(compareHosts(profiles, surfaces, results), format)));
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

function renderReport(report: HostsReport, format: unknown): string {
  const { stdout } = process;
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (format === 'markdown') return renderHostsMarkdown(report);
  return renderHostsText(report, { color: stdout.hasColors?.() ?? false, columns: stdout.columns });
}
