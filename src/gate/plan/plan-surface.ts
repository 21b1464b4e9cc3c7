import { ConfigurationError, type ConfigurationIssue } from '../../base/errors.ts';
import { appendAll } from '../../base/lists.ts';
import type { GateRules, MinimumCoverage } from '../../model/policy.ts';
import { applySurfaceDefaults, type SurfacePolicy } from '../../model/surface-policy.ts';
import type { SurfaceFile } from '../../model/surface.ts';
import type { LineIndex } from '../../surface/file.ts';
import { hasBase } from '../options/base.ts';
import type { GateOptions } from '../options/schema.ts';

/** What the surface of the server is compared with, and what changes mean. */
export interface PlannedSurface {
  /** The path of the file, as it is written, or `base`. */
  against: string;
  configurations: SurfaceFile['configurations'];
  /** Of the file; null where the server of the base is asked. */
  lines: LineIndex | null;
  policy: SurfacePolicy;
}

/** What the gate measures of the coverage of its evals. */
export interface PlannedCoverage {
  minimum: MinimumCoverage;
  /** Whether other jobs, or other calls of the command, run the rest of the cases. */
  isPartial: boolean;
  /** Each costs a hosted service a request. */
  maxTraces: number;
}

/** One request each, of which a hosted service answers one a second. */
const maxTraces = { hosted: 60, local: 100_000 };

/** Coverage is measured where the policy requires some, and next to a surface that is compared; null elsewhere. */
export function planCoverage(
  { surface, merge, shard, cases }: GateOptions,
  { rules: { minimumCoverage: minimum }, isHosted }: { rules: GateRules; isHosted: boolean },
): PlannedCoverage | null {
  if (merge.length > 0 || (surface === null && minimum.length === 0)) return null;
  const isPartial = shard !== null || cases.length > 0;
  return { minimum, isPartial, maxTraces: maxTraces[isHosted ? 'hosted' : 'local'] };
}

/**
 * Reads the surface file, where one is given; null where none is, and where the surface of the base is asked for and there is no base. What is
 * wrong goes to `issues`.
 */
export async function planSurface(
  options: GateOptions,
  { cwd, rules, base }: { cwd: string; rules: GateRules; base: unknown },
  issues: ConfigurationIssue[],
): Promise<PlannedSurface | null> {
  const { surface: path, merge, serverCommand, serverUrl, mcpConfig } = options;
  if (path === null || merge.length > 0) return null;
  const policy = applySurfaceDefaults(rules.surface);
  if (serverCommand === null && serverUrl === null && mcpConfig === null) {
    const message =
      'is about a server of this job, and the options name none; give `server-command`, `server-url` or `mcp-config`';
    issues.push({ input: 'surface', code: 'surface-without-server', message });
    return null;
  }
  if (path === 'base') {
    if (!hasBase(options)) {
      const message =
        'is `base`, and no base runs in this job; set `base: git`, or write ./base for a file of that name';
      issues.push({ input: 'surface', code: 'surface-without-base', message });
    }
    return base === null ? null : { against: path, configurations: {}, lines: null, policy };
  }
  // Loaded lazily: most gates compare no surface.
  const { readSurfaceFile } = await import('./surface-part.ts');
  const { indexLines } = await import('../../surface/file.ts');
  try {
    const known = await readSurfaceFile(path, cwd);
    if (known !== null) {
      const { configurations } = known.file;
      return { against: path, configurations, lines: indexLines(known.text), policy };
    }
    const message = `${JSON.stringify(path)} does not exist; write it with \`mcp-eval-ci surface --update\``;
    issues.push({ input: 'surface', code: 'missing-surface-file', message });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    appendAll(issues, error.issues);
  }
  return null;
}
