import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createFindings } from '../base/findings.ts';
import type { Redactor } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { checkPlannedSurfaces, planSurfaceCheck } from '../gate/check-surfaces.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import { defaultConfiguration } from '../model/surface.ts';
import { renderSurfaceText } from '../report/surface.ts';
import { createStderrLogger } from './command-logger.ts';
import { readFormat } from './format-flag.ts';

/** Compares a server with a surface file, or writes the file, prints the changes, and returns the exit code. */
export async function checkSurface(
  flags: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
  redactor: Redactor,
): Promise<number> {
  const { env: environment, stdout } = process;
  const logger = createStderrLogger(redactor);
  const cwd = process.cwd();
  const parsed = parseDoctorOptions(texts);
  const { path, isUpdate, configuration } = readSurfaceFlags(flags);
  const planned = await planSurfaceCheck(parsed, { cwd, environment, file: path, isUpdate, configuration });
  const { known } = planned;
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const context = { clock: systemClock, logger, redactor, signal, environment };
  const isText = readFormat(flags) === 'text';
  const checked = await checkPlannedSurfaces(planned, { ...context, isListed: isText });
  const { report, found, text, reasons, warnings } = checked;
  if (isUpdate) {
    await mkdir(dirname(resolve(cwd, path)), { recursive: true });
    if (text !== known?.text) await writeFile(resolve(cwd, path), text);
    logger.info(text === known?.text ? `${path} is up to date.` : `Wrote ${path}.`);
  } else {
    for (const warning of warnings) logger.warning(warning);
    for (const { message } of reasons) logger.error(message);
  }
  const isFailed = !isUpdate && reasons.length > 0;
  stdout.write(
    isText
      ? redactor.redact(
          renderSurfaceText(report, {
            color: stdout.hasColors?.() ?? false,
            columns: stdout.columns,
            isFirst: isUpdate && Object.keys(found).every((name) => known?.file.configurations[name] === undefined),
          }),
        )
      : `${JSON.stringify({ ...report, reasons, warnings, written: isUpdate }, null, 2)}\n`,
  );
  return isFailed ? 1 : 0;
}

/** @throws {ConfigurationError} if the flags contradict each other */
function readSurfaceFlags(flags: Readonly<Record<string, unknown>>): {
  path: string;
  isUpdate: boolean;
  configuration: string;
} {
  const { file, update, check, configuration } = flags;
  const findings = createFindings();
  if (typeof file !== 'string' || file.trim() === '') {
    findings.add({
      input: 'file',
      code: 'missing-file',
      message: 'names no surface file; give `--file`, such as surface.json',
    });
  }
  if (update === true && check === true) {
    findings.add({
      input: 'update',
      code: 'update-and-check',
      message: 'writes the file that `--check` compares with; give one of them',
    });
  }
  findings.throwIfAny();
  return {
    path: typeof file === 'string' ? file : '',
    isUpdate: update === true,
    configuration: typeof configuration === 'string' && configuration !== '' ? configuration : defaultConfiguration,
  };
}
