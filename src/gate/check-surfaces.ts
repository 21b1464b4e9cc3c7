import { ConfigurationError } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { redactDeep } from '../base/redaction.ts';
import { type SurfaceFile, surfaceFileVersion } from '../model/surface.ts';
import { applySurfaceDefaults, type SurfacePolicy } from '../model/surface-policy.ts';
import type { SurfaceReport } from '../model/surface-report.ts';
import { indexLines, parseSurfaceFile, renderSurfaceFile } from '../surface/file.ts';
import { reportSurfaces } from '../surface/report.ts';
import { judgeSurface, type SurfaceJudgement } from '../verdict/judge-surface.ts';
import type { GateOptions } from './options/schema.ts';
import { readPolicyOption } from './plan/plan-policy.ts';
import type { PlannedServer } from './plan/plan-server.ts';
import { readSurfaceFile } from './plan/surface-part.ts';
import type { ReachContext } from './reach-server.ts';
import { planSurfaceServers, readServerSurfaces } from './read-surfaces.ts';

/** What surfaces are compared with. */
interface KnownSurfaces {
  /** Names the file in the report. */
  against: string;
  file: SurfaceFile;
  /** Null for a value that no file has. */
  text: string | null;
}

interface PlannedSurfaceCheck {
  servers: readonly PlannedServer[];
  notes: readonly string[];
  protocol: NonNullable<ReachContext['protocol']>;
  policy: SurfacePolicy;
  against: string;
  known: KnownSurfaces | null;
  /** Takes a surface that is not known yet as it is, so that it has no changes. */
  isUpdate: boolean;
  /** The name of a server without one. */
  configuration: string;
}

/**
 * Plans the servers of the options, and reads the policy and the surface file.
 *
 * @throws {ConfigurationError} with everything that is wrong; a file that does not exist is wrong unless it is written
 */
export async function planSurfaceCheck(
  options: GateOptions,
  {
    file,
    isUpdate,
    configuration,
    ...context
  }: Parameters<typeof planSurfaceServers>[1] & {
    file: string | SurfaceFile;
    isUpdate: boolean;
    configuration: string;
  },
): Promise<PlannedSurfaceCheck> {
  const { cwd } = context;
  const planned = await planSurfaceServers(options, context);
  const findings = createFindings();
  const policy = await readPolicyOption(options.policy, cwd, findings);
  findings.throwIfAny();
  const against = typeof file === 'string' ? file : 'the given surfaces';
  const read =
    typeof file === 'string'
      ? await readSurfaceFile(file, cwd)
      : { file: parseSurfaceFile(JSON.stringify(file), against), text: null };
  if (read === null && !isUpdate) {
    const message = 'does not exist; write it with `update` (on a command line `--update`)';
    throw new ConfigurationError([{ file: against, code: 'missing-surface-file', message }]);
  }
  return {
    ...planned,
    policy: applySurfaceDefaults(policy?.gate.surface ?? null),
    against,
    known: read === null ? null : { against, ...read },
    isUpdate,
    configuration,
  };
}

/** The changes of surfaces, what they mean, and the surfaces as a file. */
interface CheckedSurfaces extends SurfaceJudgement {
  report: SurfaceReport;
  found: SurfaceFile['configurations'];
  /** The known configurations, with those that were found. */
  file: SurfaceFile;
  text: string;
}

/**
 * Reads the surfaces of the servers and compares them. With `isListed`, the reader has a list of the changes, which reasons need not name.
 * @throws as `readServerSurfaces`
 */
export async function checkPlannedSurfaces(
  { servers, notes, protocol, policy, against, known, isUpdate, configuration }: PlannedSurfaceCheck,
  { isListed = false, ...context }: Omit<ReachContext, 'protocol'> & { isListed?: boolean },
): Promise<CheckedSurfaces> {
  for (const note of notes) context.logger.warning(note);
  const reading = readServerSurfaces(servers, { ...context, protocol, name: configuration });
  const found = redactDeep(await reading, context.redactor);
  // A new configuration is compared with itself, so that it has no changes.
  const configurations = { ...(isUpdate && found), ...known?.file.configurations };
  const lines = known === null || known.text === null ? null : indexLines(known.text);
  const report = reportSurfaces(found, { against, configurations, lines });
  const file = {
    ...known?.file,
    version: surfaceFileVersion,
    configurations: { ...configurations, ...found },
  } as const;
  return { report, found, file, text: renderSurfaceFile(file), ...judgeSurface(report, policy, { isListed }) };
}
