import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConfigurationIssue } from '../base/errors.ts';
import { checkPlannedSurfaces, planSurfaceCheck } from '../gate/check-surfaces.ts';
import { defaultConfiguration, type SurfaceFile } from '../model/surface.ts';
import type { SurfaceReport } from '../model/surface-report.ts';
import type { VerdictReason } from '../model/verdict.ts';
import type { ServerFactory } from '../server/in-process-server.ts';
import type { PolicyInput } from '../suite/policy-schema.ts';
import { refuseType, requireOptions } from './option-texts.ts';
import { cancelWith, checkText, readServerOptions, type ServerOptions, type Surroundings } from './server-options.ts';

/** The options of `compareSurfaces`. */
export interface CompareSurfacesOptions extends ServerOptions, Surroundings {
  /** Makes the server in this process, as in `runGate`. */
  server?: ServerFactory | undefined;
  /** The path of a surface file, or its value. */
  file: string | SurfaceFile;
  /** True writes the file, if `file` is a path and something changed. Default: false. */
  update?: boolean | undefined;
  /** What the file calls a server without a name of its own. Default: `default`. */
  configuration?: string | undefined;
  /** A policy file, or its value: `surface` says which changes fail. */
  policy?: string | PolicyInput | undefined;
}

/** The changes between surfaces. */
export interface SurfaceComparison extends SurfaceReport {
  /** What the policy fails; empty if nothing. */
  reasons: readonly VerdictReason[];
  /** What the policy only warns of. */
  warnings: readonly string[];
  /** What the server shows now, for the next comparison. */
  file: SurfaceFile;
}

const own = ['server', 'file', 'update', 'configuration'] as const;

/** As `compareSurfaces` in functions.ts says. */
export async function compareSurfacesOf(given: CompareSurfacesOptions): Promise<SurfaceComparison> {
  requireOptions(given);
  const { server, file, update = false, configuration = defaultConfiguration } = given;
  const { options, cwd, context } = readServerOptions(
    { ...given },
    { more: ['policy'], own, issues: checkFile(given) },
  );
  return await cancelWith(context.signal, async () => {
    const planned = await planSurfaceCheck(options, {
      cwd,
      environment: context.environment,
      file,
      isUpdate: update,
      configuration,
      ...(server && { inProcess: server }),
    });
    const checked = await checkPlannedSurfaces(planned, context);
    if (update && typeof file === 'string' && checked.text !== planned.known?.text) {
      await mkdir(dirname(resolve(cwd, file)), { recursive: true });
      await writeFile(resolve(cwd, file), checked.text);
    }
    const { report, reasons, warnings } = checked;
    return { ...report, reasons, warnings, file: checked.file };
  });
}

function checkFile({ file, update, configuration }: CompareSurfacesOptions): ConfigurationIssue[] {
  const issues = checkText('configuration', configuration, 'the name of a configuration');
  const isObject = typeof file === 'object' && file !== null;
  if (!isObject && (typeof file !== 'string' || file.trim() === '')) {
    const message = refuseType(file, 'the path of a surface file, or its value');
    issues.push({ input: 'file', code: 'missing-file', message });
  }
  if (update !== undefined && typeof update !== 'boolean') {
    issues.push({
      input: 'update',
      code: 'bad-option-type',
      message: refuseType(update, 'true or false'),
    });
  }
  return issues;
}
