import type { FindingSeverity, ObservedStep } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';
import type { Inventory, ListedTool } from '../inventory.ts';

/** A problem that a session shows. */
export interface Problem {
  /** The step that shows it. */
  step: number;
  tool: string | null;
  message: string;
  /** A request whose answers must not differ by themselves for this to be a problem. */
  control?: ExploredRequest;
}

export interface FindingContext {
  inventory: Inventory;
  findTool: (name: string) => ListedTool | undefined;
  /** Checks structured content against the output schema of its tool; the mismatches, or null if it fits or cannot be judged. */
  findMismatch: (tool: ListedTool, value: unknown) => Promise<string | null>;
  isHarmless: (tool: string) => boolean;
  /** True if the server knows which files it may use. */
  isGivenWorkspace: boolean;
  /** The arguments of calls that worked, by tool, to compare others with. */
  worked: ReadonlyMap<string, ReadonlyArray<Readonly<Record<string, unknown>>>>;
}

/** One kind of finding, with its severity and the way to see it in the steps of a session. */
export interface FindingDefinition {
  kind: string;
  severity: FindingSeverity;
  find(steps: readonly ObservedStep[], context: FindingContext): Promise<Problem[]> | Problem[];
}

/** Defines a kind of finding. */
export function defineFinding(definition: FindingDefinition): FindingDefinition {
  return definition;
}

/** Finds the problem of each step alone, for kinds that need no other step. */
export function eachStep(
  judge: (step: ObservedStep, context: FindingContext) => Promise<string | null> | string | null,
): FindingDefinition['find'] {
  return async (steps, context) => {
    const problems: Problem[] = [];
    for (const [index, step] of steps.entries()) {
      const message = await judge(step, context);
      if (message !== null) problems.push({ step: index, tool: readTool(step.request), message });
    }
    return problems;
  };
}

/** Names the tool that a request calls; null for another request. */
export function readTool(request: ExploredRequest): string | null {
  return request.kind === 'tool' ? request.tool : null;
}
