/** The names in braces of a path, as a type. */
export type PathFields<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathFields<Rest>
  : never;

// The paths that the gate uses, below the base URL, with ids in braces. The table of operations builds on them and defines the paths of the
// other operations. Each path is its own constant, so that the bundle contains no unused ones.

export const mePath = '/me';
export const projectsPath = '/projects';
export const projectPath = `${projectsPath}/{projectId}` as const;
export const serversPath = `${projectPath}/servers` as const;
export const serverPath = `${serversPath}/{serverId}` as const;
export const suitesPath = `${projectPath}/eval-suites` as const;
export const suitePath = `${suitesPath}/{suiteId}` as const;
export const suiteRunsPath = `${suitePath}/runs` as const;
export const casesPath = `${suitePath}/cases` as const;
export const caseBatchPath = `${casesPath}/batch` as const;
export const casePath = `${casesPath}/{caseId}` as const;
export const runsPath = `${projectPath}/eval-runs` as const;
export const runPath = `${runsPath}/{runId}` as const;
export const runCancelPath = `${runPath}/cancel` as const;
export const iterationsPath = `${runPath}/iterations` as const;
export const stepsPath = `${iterationsPath}/{iterationId}/steps` as const;
export const tracePath = `${iterationsPath}/{iterationId}/trace` as const;
export const tunnelsPath = `${projectPath}/tunnels` as const;
export const tunnelClosePath = `${tunnelsPath}/{serverId}/close` as const;
export const ingestPath = `${projectPath}/eval-ingest` as const;
export const ingestReportPath = `${ingestPath}/report` as const;
export const ingestStartPath = `${ingestPath}/runs/start` as const;
export const ingestIterationsPath = `${ingestPath}/runs/iterations` as const;
export const ingestFinalizePath = `${ingestPath}/runs/finalize` as const;

/** Returns the short path of an operation: that without the project. */
export function shortenPath(path: string): string {
  return path.replace(projectPath, '');
}

/** Fills ids into the segments of a path, without encoding them. `ids` may have other fields. */
export function fillPath<Path extends string>(path: Path, ids: Readonly<Record<PathFields<Path>, string>>): string[] {
  const given = new Map(Object.entries<string>(ids));
  return path
    .slice(1)
    .split('/')
    .map((segment) => (segment.startsWith('{') ? (given.get(segment.slice(1, -1)) ?? '') : segment));
}
