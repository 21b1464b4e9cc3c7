import { type Redactor, redactDeep } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import { planSurfaceServers, readServerSurfaces } from '../gate/read-surfaces.ts';
import { chooseHosts } from '../hosts/choose-hosts.ts';
import { compareHosts } from '../hosts/compare-hosts.ts';
import { defaultServerName } from '../hosts/compare-with-base.ts';
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
  const { hosts, name, format } = flags;
  const profiles = chooseHosts(typeof hosts === 'string' ? hosts : null);
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
  stdout.write(redactor.redact(renderReport(compareHosts(profiles, surfaces), format)));
}

function renderReport(report: HostsReport, format: unknown): string {
  const { stdout } = process;
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (format === 'markdown') return renderHostsMarkdown(report);
  return renderHostsText(report, { color: stdout.hasColors?.() ?? false, columns: stdout.columns });
}
