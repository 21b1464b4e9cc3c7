import type { Findings } from '../../base/findings.ts';
import type { GateRules, MinimumCoverage } from '../../model/policy.ts';
import { applySurfaceDefaults, type SurfacePolicy } from '../../model/surface-policy.ts';
import { applyHostDefaults, type HostsPolicy } from '../../model/hosts-policy.ts';
import type { SurfaceFile } from '../../model/surface.ts';
import type { LineIndex } from '../../surface/file.ts';
import { hasBase } from '../options/base.ts';
import type { GateOptions } from '../options/schema.ts';
import type { PlannedService } from './plan-service.ts';

/** The surface that the server's is compared with, and the rules for changes. */
export interface PlannedSurface {
  /** The path of the file as the user wrote it, or `base`. */
  against: string;
  configurations: SurfaceFile['configurations'];
  /** The lines of the file; null if the surface comes from the server of the base. */
  lines: LineIndex | null;
  policy: SurfacePolicy;
}

/** The rules for what a change makes worse in hosts. */
export interface PlannedHosts {
  policy: HostsPolicy;
}

/** How the gate measures the coverage of its evals. */
export interface PlannedCoverage {
  minimum: MinimumCoverage;
  /** True if other jobs, or other calls of the command, run the remaining cases. */
  isPartial: boolean;
  /** The most traces that are read; each costs a hosted service a request. */
  maxTraces: number;
}

/** Limits the time: a hosted service answers one of these requests per second. */
const maxTraces = { hosted: 60, local: 100_000 };

/** Plans the coverage, which is measured if the policy requires some, and if cases run and a surface is compared; else null. */
export function planCoverage(
  { surface, merge, shard, cases }: GateOptions,
  {
    rules: { minimumCoverage: minimum },
    service: { hosted },
    suites,
  }: { rules: GateRules; service: Pick<PlannedService, 'hosted'>; suites: readonly unknown[] },
): PlannedCoverage | null {
  const isShown = surface !== null && suites.length > 0;
  if (merge.length > 0 || (!isShown && minimum.length === 0)) return null;
  const isPartial = shard !== null || cases.length > 0;
  return { minimum, isPartial, maxTraces: maxTraces[hosted === null ? 'local' : 'hosted'] };
}

/**
 * Reads the surface file, if one is given. Null if the options name none, or if they ask for the surface of the base and there is no base.
 */
export async function planSurface(
  options: GateOptions,
  { cwd, rules, base }: { cwd: string; rules: GateRules; base: unknown },
  findings: Findings,
): Promise<PlannedSurface | null> {
  const { surface: path, merge, serverCommand, serverUrl, mcpConfig } = options;
  if (path === null || merge.length > 0) return null;
  const policy = applySurfaceDefaults(rules.surface);
  if (serverCommand === null && serverUrl === null && mcpConfig === null) {
    const message =
      'is about a server of this job, and the options name none; give `server-command`, `server-url` or `mcp-config`';
    findings.add({ input: 'surface', code: 'surface-without-server', message });
    return null;
  }
  if (path === 'base') {
    if (!hasBase(options)) {
      const message =
        'is `base`, and no base runs in this job; set `base: git`, or write ./base for a file of that name';
      findings.add({ input: 'surface', code: 'surface-without-base', message });
    }
    return base === null ? null : { against: path, configurations: {}, lines: null, policy };
  }
  // Loaded lazily: most gates compare no surface.
  const { readSurfaceFile } = await import('./surface-part.ts');
  const { indexLines } = await import('../../surface/file.ts');
  const known = await readSurfaceFile(path, cwd).catch(findings.absorb);
  if (known === undefined) return null;
  if (known === null) {
    const message = `${JSON.stringify(path)} does not exist; write it with \`mcp-eval-ci surface --update\``;
    findings.add({ input: 'surface', code: 'missing-surface-file', message });
    return null;
  }
  return { against: path, configurations: known.file.configurations, lines: indexLines(known.text), policy };
}

/** Plans what hosts make of the servers; null if the policy names no host, or if the job has no server whose surface could be read. */
export function planHosts(
  { merge, serverCommand, serverUrl, mcpConfig }: GateOptions,
  { rules }: { rules: GateRules },
  findings: Findings,
): PlannedHosts | null {
  const policy = applyHostDefaults(rules.hosts);
  if (merge.length > 0 || Object.values(policy).every(({ value }) => value === 'off')) return null;
  if (serverCommand === null && serverUrl === null && mcpConfig === null) {
    findings.note('The rules `hosts` have no effect: they are about a server of this job, and the options name none.');
    return null;
  }
  return { policy };
}
