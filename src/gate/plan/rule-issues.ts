import type { ConfigurationIssue } from '../../base/errors.ts';
import { describeSource, type Sourced } from '../../model/source.ts';
import type { GateRules, MinimumCoverage } from '../../model/policy.ts';
import type { GateOptions } from '../options/schema.ts';
import type { PlannedSuite } from './plan-suites.ts';
import { placeIssue } from './resolve-names.ts';

interface RuledGate {
  options: Pick<GateOptions, 'service' | 'shard' | 'baseline' | 'historyPath' | 'suite'>;
  suites: readonly PlannedSuite[];
}

/** Finds rules of the policy about the whole gate that contradict its options or its suites. */
export function findRuleIssues(
  { stopEarly, probation, minimumCoverage }: GateRules,
  gate: RuledGate,
): ConfigurationIssue[] {
  return [
    ...(stopEarly?.value === true ? findEarlyStopIssues(stopEarly, minimumCoverage, gate) : []),
    ...(probation === null || probation.value === 0 ? [] : findProbationIssues(probation, gate)),
    ...gate.suites.flatMap((planned) => findRangeIssues(planned, gate)),
  ];
}

/** Finds what a range of runs lacks, and what it cannot be combined with: its rounds follow the requirements of the whole suite. */
function findRangeIssues(planned: PlannedSuite, { options: { shard } }: RuledGate): ConfigurationIssue[] {
  const location = locateRange(planned);
  if (location === null) return [];
  const { confidence, retryFailed } = planned.requirements;
  const add = (code: string, message: string): ConfigurationIssue => ({ ...location, code, message });
  return [
    ...(confidence === null
      ? [
          add(
            'range-without-confidence',
            'A range of `runs` ends when a `confidence` decides the minimum; add `confidence: 95%` to the policy, or write a number of runs',
          ),
        ]
      : []),
    ...(shard === null
      ? []
      : [
          add(
            'range-and-shard',
            'A range of `runs` judges a part, and the whole may need more; write a number of runs',
          ),
        ]),
    ...(retryFailed.value === 0
      ? []
      : [
          add(
            'range-and-retries',
            `A range of \`runs\` repeats cases already; leave out \`retryFailed\` (${describeSource(retryFailed.source)}), or write a number of runs`,
          ),
        ]),
  ];
}

/** Finds the location of a suite's range of runs; null if it has none. */
function locateRange(planned: PlannedSuite): Pick<ConfigurationIssue, 'file' | 'line' | 'column' | 'input'> | null {
  if (planned.kind === 'stored') return planned.maxRuns === null ? null : { input: 'runs' };
  const first = planned.suite.cases.find(({ maxRuns }) => maxRuns !== undefined);
  return first === undefined ? null : { ...first.location };
}

/**
 * Finds what `stopEarly` cannot be combined with. The gate would have to poll a remote service all the time, and a part of the results
 * settles nothing about the whole.
 */
function findEarlyStopIssues(
  { source }: Sourced<boolean>,
  [coverage]: MinimumCoverage,
  { options, suites }: RuledGate,
): ConfigurationIssue[] {
  const { service, shard, baseline } = options;
  const issues: ConfigurationIssue[] = [];
  const add = (code: string, message: string) => void issues.push({ ...placeIssue(source), code, message });
  if (service !== 'embedded') {
    add(
      'needs-embedded-service',
      `\`stopEarly\` stops runs of the embedded service alone; leave it out with the service ${service}, or use \`service: embedded\``,
    );
  }
  if (shard !== null) {
    add('stop-early-and-shard', '`stopEarly` judges a part, and the whole may need the rest; leave it out of shards');
  }
  if (baseline !== null) {
    add(
      'stop-early-and-baseline',
      '`stopEarly` leaves out iterations that would be compared with `baseline`; give one of the two',
    );
  }
  if (coverage !== undefined) {
    const message = `\`stopEarly\` leaves out iterations that may cover what \`minimumCoverage\` requires (${describeSource(coverage.source)}); leave out one of the two`;
    add('stop-early-and-coverage', message);
  }
  const retrying = suites.find(({ requirements }) => requirements.retryFailed.value > 0);
  if (retrying !== undefined) {
    // Failed cases run again only when all results are known, and a retry may change how a flaky case counts.
    const name = retrying.kind === 'file' ? retrying.suite.name : retrying.suite;
    add(
      'stop-early-and-retries',
      `\`stopEarly\` stops before everything has run, and ${name} runs failed cases again (\`retryFailed\`, ${describeSource(retrying.requirements.retryFailed.source)}); leave out one of the two`,
    );
  }
  return issues;
}

/** Finds what probation lacks: the history shows when a case is stable, and an evals file defines the case. */
function findProbationIssues(
  { source }: Sourced<number>,
  { options: { historyPath, suite } }: RuledGate,
): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  if (historyPath === null) {
    const message = '`probation` counts gates of the history; name its file with `history-path`';
    issues.push({ ...placeIssue(source), code: 'needs-history-path', message });
  }
  if (suite !== null) {
    const message = '`probation` is for the cases of evals files; every case of a hosted `suite` counts';
    issues.push({ ...placeIssue(source), code: 'probation-without-evals', message });
  }
  return issues;
}
