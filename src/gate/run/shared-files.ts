import { formatCount } from '../../base/text.ts';
import type { Clock } from '../../base/time.ts';
import { linkPage } from '../../base/version.ts';
import { listInnerSteps, type Step } from '../../cases/step.ts';
import type { SurfaceFile } from '../../model/surface.ts';
import type { SuiteResults } from '../../model/results.ts';
import { listAllSteps } from '../../cases/suite.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { readTargets, type SurfaceTarget } from '../plan/surface-part.ts';

// Loaded only if both sides of a comparison share files.

const page = `See "Files of the two sides" in ${linkPage('base.md')}`;
const maxNamed = 10;

/** The cases that may write files which the other side of a comparison reads. */
export interface SharedFiles {
  /** A warning that names the cases, before the first of them runs; null if there are none. */
  warning: string | null;
  /** Notes for each case that failed after one of them that a file may be the cause. */
  explain(results: readonly SuiteResults[]): string[];
}

/**
 * Finds the cases of the suites that may write: those that call a tool without `readOnlyHint`, run a command, or let a model choose among
 * such tools. If a server does not list its tools, all of them may write. `shared` names where both sides have their files.
 *
 * @throws the signal's reason once it aborts
 */
export async function findSharedFiles(
  suites: readonly PlannedSuite[],
  {
    shared,
    targets,
    ...context
  }: { shared: readonly string[]; targets: readonly SurfaceTarget[]; clock: Clock; signal: AbortSignal },
): Promise<SharedFiles> {
  const { found, unread } = await readTargets(targets, context);
  const mayWrite = createTest(unread === null ? Object.values(found) : null);
  const writers = suites
    .flatMap((planned) => (planned.kind === 'file' ? planned.suite.cases : []))
    .filter((testCase) => listInnerSteps(listAllSteps(testCase).map(({ step }) => step)).some(mayWrite))
    .map(({ title }) => title);
  const named = nameSome(writers);
  const warning = `Both sides of the comparison share ${shared.join(', ')}. ${formatCount(writers.length, 'case')} may write there, so that a file of one side can decide a result of the other: ${named}. ${page}`;
  return {
    warning: writers.length === 0 ? null : warning,
    explain: (results) => {
      if (writers.length === 0) return [];
      const failed = results.flatMap(({ cases, base }) => {
        const ofBase = new Set(base?.cases.filter((each) => each.base.includes('f')).map(({ id }) => id));
        return cases.filter(({ id, failed }) => failed > 0 || ofBase.has(id)).map(({ title }) => title);
      });
      return failed
        .slice(0, maxNamed)
        .map(
          (title) =>
            `"${title}" failed: a file of an earlier case or run may be the cause: ${named} may write. ${page}`,
        );
    },
  };
}

/** Creates the test for a step that may write. Null stands for unknown tools. */
function createTest(surfaces: ReadonlyArray<SurfaceFile['configurations'][string]> | null): (step: Step) => boolean {
  const tools = (surfaces ?? []).flatMap((surface) => surface.tools);
  const writing = new Set(
    tools.filter(({ annotations }) => annotations?.['readOnlyHint'] !== true).map(({ name }) => name),
  );
  return (step) => {
    if (step.kind === 'command') return true;
    if (step.kind === 'toolCall') return surfaces === null || writing.has(step.toolName);
    return (step.kind === 'prompt' || step.kind === 'interact') && (surfaces === null || writing.size > 0);
  };
}

function nameSome(titles: readonly string[]): string {
  const shown = titles.slice(0, maxNamed).map((title) => `"${title}"`);
  const hidden = titles.length - shown.length;
  return hidden === 0 ? shown.join(', ') : `${shown.join(', ')} and ${hidden} more`;
}
