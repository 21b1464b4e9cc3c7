import { isJsonEqual } from '../base/json.ts';
import type { TestCase } from '../cases/case.ts';
import type { Snapshots } from '../checks/judgement.ts';
import { mapServerSteps, type Step } from '../cases/step.ts';
import type { LeftOut } from './observe-cases.ts';
import type { TapedCase } from './taped-case.ts';
import { maxTranscriptBytes, restoreTaped, type Transcript } from './transcripts.ts';

/** The cases of evals files with what a report has of their first two iterations. */
interface MatchedCases {
  runs: [TapedCase[], TapedCase[]];
  leftOut: LeftOut[];
}

/**
 * Finds the transcripts of cases. The checks are those of the files now, so that checks that were changed after the report can be measured,
 * too. A case whose requests were changed has no transcript.
 */
export async function matchTranscripts(
  cases: readonly TestCase[],
  transcripts: readonly Transcript[],
  options: { snapshots: Snapshots | null },
): Promise<MatchedCases> {
  const matched: MatchedCases = { runs: [[], []], leftOut: [] };
  for (const testCase of cases) {
    const named = transcripts.filter((each) => each.testCase.title === testCase.title);
    const own = named.filter((each) => isJsonEqual(listRequests(each.testCase), listRequests(testCase)));
    const [first, second] = own;
    const taped = first === undefined ? null : await restoreTaped(first, nameServers(testCase, first), options);
    if (taped === null) {
      matched.leftOut.push({ subject: testCase.title, reason: explain(named, own) });
      continue;
    }
    matched.runs[0].push(taped);
    const again = second === undefined ? null : await restoreTaped(second, nameServers(testCase, second), options);
    if (again !== null) matched.runs[1].push(again);
  }
  return matched;
}

function explain(named: readonly Transcript[], own: readonly Transcript[]): string {
  if (named.length === 0) return 'the report has no transcript of it';
  if (own.length === 0) return 'its requests were changed after the report';
  return `its transcript was above the limit of ${maxTranscriptBytes / 1024 / 1024} MiB and is not in the report`;
}

/** The steps that decide what the servers answer. The names of the servers differ in each run. */
function listRequests({ steps, advancedConfig }: TestCase): unknown {
  const { setup = [], teardown = [], client } = advancedConfig ?? {};
  const list = (all: readonly Step[]) => all.filter(({ kind }) => kind !== 'assert').map(dropServerName);
  return JSON.parse(JSON.stringify([list(setup), list(steps), list(teardown), client ?? null]));
}

function dropServerName(step: Step): unknown {
  const { id: _id, ...others } = step;
  if (!('serverName' in others)) return others;
  const { serverName: _, ...request } = others;
  return request;
}

/** Gives the steps of a case the names that its servers had in the run. A case with several servers stays as it ran. */
function nameServers(testCase: TestCase, { target, others, testCase: ran }: Transcript): TestCase {
  if (others.length > 0) return ran;
  const name = (step: Step) => mapServerSteps(step, (asking) => ({ ...asking, serverName: target.serverName }));
  const { setup, teardown } = testCase.advancedConfig ?? {};
  return {
    ...testCase,
    steps: testCase.steps.map(name),
    advancedConfig: {
      ...testCase.advancedConfig,
      ...(setup && { setup: setup.map(name) }),
      ...(teardown && { teardown: teardown.map(name) }),
    },
  };
}
