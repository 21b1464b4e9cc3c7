// The entry `mcp-eval-ci/explore`.
export { explore } from '../library/functions.ts';
export type { ExploreServerOptions } from '../library/explore.ts';
export type {
  Exploration,
  ExploredSession,
  Finding,
  FindingSeverity,
  ToolCoverage,
  Unexplored,
} from '../explore/exploration.ts';
export type { Feature } from '../explore/features/feature.ts';
export type { Trait } from '../explore/features/traits.ts';
export type { ExploreProgress } from '../explore/explore.ts';
