import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { type Redactor, redactDeep } from '../base/redaction.ts';
import { systemClock } from '../base/time.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import { readPolicyOption } from '../gate/plan/plan-policy.ts';
import { readSurfaceFile } from '../gate/plan/surface-part.ts';
import { planSurfaceServers, readServerSurfaces } from '../gate/read-surfaces.ts';
import { defaultConfiguration, surfaceFileVersion } from '../model/surface.ts';
import { applySurfaceDefaults, type SurfacePolicy } from '../model/surface-policy.ts';
import { renderSurfaceText } from '../report/surface.ts';
import { indexLines, renderSurfaceFile } from '../surface/file.ts';
import { reportSurfaces } from '../surface/report.ts';
import { judgeSurface } from '../verdict/judge-surface.ts';
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
  const { servers, notes, protocol } = await planSurfaceServers(parsed, { cwd, environment });
  const policy = await readSurfacePolicy(parsed.policy, cwd);
  const known = await readSurfaceFile(path, cwd);
  if (known === null && !isUpdate)
    throw refuse(path, 'does not exist; write it with `--update`', 'missing-surface-file');
  for (const note of notes) logger.warning(note);
  const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
  const context = { clock: systemClock, logger, redactor, signal, environment, protocol };
  const found = redactDeep(await readServerSurfaces(servers, { ...context, name: configuration }), redactor);
  // A new configuration is compared with itself, so that it has no changes.
  const configurations = { ...(isUpdate && found), ...known?.file.configurations };
  const report = reportSurfaces(found, {
    against: path,
    configurations,
    lines: known === null ? null : indexLines(known.text),
  });
  const isText = readFormat(flags) === 'text';
  const { reasons, warnings } = judgeSurface(report, policy, { isListed: isText });
  if (isUpdate) {
    const file = {
      ...known?.file,
      version: surfaceFileVersion,
      configurations: { ...configurations, ...found },
    } as const;
    const text = renderSurfaceFile(file);
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

function refuse(path: string, message: string, code: string): ConfigurationError {
  return new ConfigurationError([{ file: path, code, message }]);
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

/** @throws {ConfigurationError} if the policy file is not valid */
async function readSurfacePolicy(option: Parameters<typeof readPolicyOption>[0], cwd: string): Promise<SurfacePolicy> {
  const findings = createFindings();
  const policy = await readPolicyOption(option, cwd, findings);
  findings.throwIfAny();
  return applySurfaceDefaults(policy?.gate.surface ?? null);
}
