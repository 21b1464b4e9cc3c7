import { type Redactor, redactDeep } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { placeServer } from '../gate/place-server.ts';
import { examineServer, planDoctor } from '../gate/diagnose-server.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import { type Diagnosis, doctorSteps, listTakenSteps } from '../mcp/diagnosis.ts';
import { escapeTerminalText } from '../report/escape/log.ts';
import type { OutputFormat } from './format-flag.ts';
import { createStderrLogger } from './command-logger.ts';

/** Examines every server of these options, prints what it finds, and returns the exit code. */
export async function examineServers(
  texts: Readonly<Record<string, string>>,
  { format, redactor }: { format: OutputFormat; redactor: Redactor },
): Promise<number> {
  const { env: environment, stdout } = process;
  const logger = createStderrLogger(redactor);
  const options = parseDoctorOptions(texts);
  const cwd = process.cwd();
  const { servers, notes } = await planDoctor(options, { cwd, environment });
  for (const note of notes) logger.warning(note);
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const isJson = format === 'json';
  const found = [];
  for (const server of servers) {
    const generatedAt = new Date(systemClock.now()).toISOString();
    await using placed = await placeServer(server, { workspace: options.workspace, cwd });
    const examined = await examineServer(placed.server, { clock: systemClock, logger, redactor, signal, environment });
    const diagnosis = redactDeep(examined, redactor);
    const { name } = server;
    found.push({ ...(name !== null && { name }), generatedAt, ...diagnosis });
    const heading = name === null ? '' : `${found.length === 1 ? '' : '\n'}${escapeTerminalText(name)}\n`;
    if (!isJson) stdout.write(heading + renderDiagnosis(diagnosis));
  }
  const [only] = found;
  if (isJson) {
    stdout.write(`${JSON.stringify(texts['mcp-config'] === '' ? only : { servers: found }, null, 2)}\n`);
  }
  return found.every(({ status }) => status === 'ready') ? 0 : 3;
}

const marks = { ok: '✓', error: '✗', skipped: '-' };

const conclusions = {
  ready: 'The server is ready.',
  oauth_required: 'The server asks for authorization. Give `--server-headers` or `--server-oauth`.',
  partial: 'The server answers, but not everything that it declares works.',
  error: 'The server is not ready.',
};

/** Formats a diagnosis for people: one line for each step up to the first fatal failure, and the conclusion. */
export function renderDiagnosis({ checks, status }: Diagnosis): string {
  const width = Math.max(...doctorSteps.map((step) => step.length));
  const lines = listTakenSteps({ checks }).map((step) => {
    const { status: outcome, detail } = checks[step];
    return `${marks[outcome]} ${step.padEnd(width)}  ${escapeTerminalText(detail)}`;
  });
  return [...lines, '', conclusions[status], ''].join('\n');
}
