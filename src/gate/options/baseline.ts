import type { ConfigurationIssue } from '../../base/errors.ts';
import { openGroup, type OptionValues } from './define-option.ts';
import type { evalServiceOptions } from './eval-service.ts';
import { optionalCommit, optionalRef, optionalText } from './values.ts';
import type { whatRunsOptions } from './what-runs.ts';

const defineOption = openGroup('Baseline and history');

export const baselineOptions = {
  baseline: defineOption({
    schema: optionalText,
    hint: '<source>',
    text: 'Earlier results to compare with: a report.json, `branch:<name>`, `commit:<hash>` or `run:<id>`. By default, nothing is compared.',
    commands: ['run', 'merge', 'judge'],
    rules: [
      {
        excludes: ['shard'],
        commands: ['run'],
        code: 'shard-and-baseline',
        message: 'is compared with the whole, and a shard is a part; give it where the shards are merged',
      },
    ],
  }),
  historyPath: defineOption({
    schema: optionalText,
    hint: '<file>',
    text: 'A file to which every gate adds a line with its verdict and counts. It enables the trend, `branch:` baselines and `probation`.',
    commands: ['run', 'merge', 'judge', 'plan-runs'],
  }),
  branch: defineOption({
    schema: optionalRef,
    hint: '<name>',
    text: 'The branch under test, as the history and reports name it. The default comes from the CI system, or from git.',
    isFlagOnly: true,
  }),
  commit: defineOption({
    schema: optionalCommit,
    hint: '<hash>',
    text: 'The full hash of the commit under test. The default comes from the CI system, or from git.',
    isFlagOnly: true,
  }),
};

type Values = OptionValues<typeof baselineOptions & typeof whatRunsOptions & typeof evalServiceOptions>;

/** A baseline in the service: the newest completed run of a branch, or a given run. */
export interface ServiceBaseline {
  /** Null if a run is given. */
  branch: string | null;
  runId: string | null;
}

/**
 * Reads a baseline that is a run of the hosted service: `run:` and its id, or `branch:` and a name if there is no history to look it up in.
 * Null for any other baseline, and if nothing is run.
 */
export function readServiceBaseline({
  baseline,
  historyPath,
  service,
  merge,
}: Pick<Values, 'baseline' | 'historyPath' | 'service' | 'merge'>): ServiceBaseline | null {
  const [, kind, name = ''] = /^(branch|run):(.+)$/.exec(baseline ?? '') ?? [];
  if (service === 'embedded' || merge.length > 0 || kind === undefined) return null;
  if (kind === 'run') return { branch: null, runId: name };
  return historyPath === null ? { branch: name, runId: null } : null;
}

export const baselineChecks = {
  baseline: (values: Values): ConfigurationIssue[] => {
    const inService = readServiceBaseline(values);
    const found = inService === null ? findFileProblems(values) : findServiceProblems(inService, values);
    return found.map(([code, message]) => ({ input: 'baseline', code, message }));
  },
};

type Problem = [code: string, message: string];

function findFileProblems({ baseline, historyPath }: Values): Problem[] {
  const [, kind, name = ''] = /^(branch|commit|run):(.*)$/.exec(baseline ?? '') ?? [];
  if (kind === undefined) return [];
  if (kind === 'run') {
    return [
      ['needs-hosted-service', 'names a run of a hosted service, and there is none; give the path of a report.json'],
    ];
  }
  const isRight = kind === 'branch' ? name.trim() !== '' : /^[0-9a-f]{7,64}$/.test(name);
  const problems: Problem[] = [];
  if (historyPath === null) {
    problems.push([
      'needs-history-path',
      'names a gate of the history; say with `history-path` where that is, or give the path of a report.json',
    ]);
  }
  if (!isRight) {
    problems.push([
      'bad-baseline',
      `${JSON.stringify(baseline)} names no ${kind}; write branch:main, or commit: and 7 to 64 digits of its hash`,
    ]);
  }
  return problems;
}

function findServiceProblems({ branch, runId }: ServiceBaseline, { suite, suiteScope }: Values): Problem[] {
  if (branch === null) {
    const isId = /^[\w-]{1,128}$/.test(runId ?? '');
    return isId ? [] : [['bad-baseline', `${JSON.stringify(runId)} is not the id of a run`]];
  }
  if (suite !== null) {
    return [
      [
        'baseline-of-suite',
        'names a branch, and a `suite` of the service belongs to none; name one of its runs with run:<id>',
      ],
    ];
  }
  if (suiteScope === 'branch') return [];
  const message = `names a branch, and with \`suite-scope: ${suiteScope}\` no suite belongs to one; name a run with run:<id>, or keep a \`history-path\``;
  return [['baseline-without-branches', message]];
}
