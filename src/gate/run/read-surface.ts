import type { Clock } from '../../base/time.ts';
import type { CoverageReport } from '../../model/coverage-report.ts';
import type { HostsComparison } from '../../model/hosts-comparison.ts';
import type { SurfaceReport } from '../../model/surface-report.ts';
import type { SurfaceResults } from '../../verdict/judge-gate.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';
import type { BaseSide } from './base-side.ts';
import type { CoverageLog } from './coverage-log.ts';
import type { EvidenceCollector } from './evidence-log.ts';

interface SurfaceReading {
  /** The base that the surface is compared with if the plan has no file. */
  base: Pick<BaseSide, 'listSurfaceTargets' | 'giveUp' | 'problem'> | null;
  clock: Clock;
  signal: AbortSignal;
}

/** The surfaces of the job's servers, what hosts make of them, and the parts that the evals use, as far as the plan asks for each. */
export interface JobSurface {
  /**
   * Reads the surfaces of running servers. If a server does not list its surface, all of it stays unread.
   *
   * @throws the signal's reason once it aborts
   */
  read(targets: readonly SurfaceTarget[], context: SurfaceReading): Promise<void>;
  /** Returns a collector that also notes what iterations use, in addition to what `within` collects. Call it after `read`. */
  watch(within: EvidenceCollector): EvidenceCollector;
  /** Reports everything as unread if the gate ended before the surface was read. */
  report(): SurfaceResults;
}

/** Loads the code that the plan needs, before a server could overwrite it. */
export async function openJobSurface({
  surface: planned,
  hosts: judging,
  coverage: measuring,
}: Pick<GatePlan, 'surface' | 'hosts' | 'coverage'>): Promise<JobSurface> {
  const parts =
    planned === null && judging === null && measuring === null
      ? null
      : {
          ...(await import('../plan/surface-part.ts')),
          ...(await import('../../surface/report.ts')),
          ...(await import('./coverage-log.ts')),
        };
  const hosting = judging === null ? null : await import('../../hosts/compare-with-base.ts');
  let unread: string | null = 'the gate ended before it was read.';
  // Null also if the base cannot be compared with.
  let expected = planned;
  let surface: SurfaceReport | undefined;
  let hosts: HostsComparison | undefined;
  let log: CoverageLog | null = null;
  return {
    read: async (targets, { base, ...context }) => {
      if (parts === null) return;
      const read = await parts.readTargets(targets, context);
      ({ unread } = read);
      if (unread !== null) return;
      const isFile = expected !== null && expected.lines !== null;
      const needsBase = base !== null && !isFile && (expected !== null || judging !== null);
      const ofBase = needsBase ? await parts.readBaseSurfaces(base, { targets, ...context }) : null;
      const found = ofBase !== null && 'found' in ofBase ? ofBase.found : null;
      if (expected !== null && ofBase !== null && 'problem' in ofBase) {
        surface = { against: expected.against, unread: ofBase.problem, configurations: [] };
      } else if (expected !== null && !isFile) {
        expected = found === null ? null : { ...expected, configurations: found };
      }
      if (expected !== null) surface ??= parts.reportSurfaces(read.found, expected);
      const before = isFile && expected !== null ? expected.configurations : found;
      hosts = hosting?.findHostFindings(
        hosting.nameServers(read.found),
        before === null
          ? { against: null, before: null }
          : { against: expected?.against ?? 'base', before: hosting.nameServers(before) },
      );
      if (measuring !== null) log = parts.openCoverageLog(Object.values(read.found), measuring);
    },
    watch: (within) => log?.watch(within) ?? within,
    report: () => {
      const { isPartial = false } = measuring ?? {};
      const nothing = { unreadTraces: 0, items: [] };
      const coverage: CoverageReport = { unread, isPartial, ...(log?.report() ?? nothing) };
      return {
        surface: expected === null ? undefined : (surface ?? { against: expected.against, unread, configurations: [] }),
        hosts: judging === null ? undefined : (hosts ?? { against: null, unread, findings: [] }),
        coverage: measuring === null ? undefined : coverage,
      };
    },
  };
}
