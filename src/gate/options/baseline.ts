import { option } from './option.ts';
import { count, optionalCommit, optionalPassRate, optionalRef, optionalText } from './values.ts';

const group = 'Baseline and history';

export const baselineOptions = {
  baseline: option(optionalText, {
    group,
    hint: '<source>',
    brief: 'A report.json, branch:<name>, commit:<hash> or run:<id>.',
    description:
      'What the results are compared with, case by case: the path of the report.json of an earlier gate, or of the directory that holds it; `branch:` and a name, or `commit:` and at least seven digits of its hash, for the newest conclusive gate of those in `history-path`. Of a hosted service without `history-path`: `branch:` and a name for the newest completed run of the suites of that branch, or `run:` and its id. Where there is none yet, a warning says so and nothing is compared. Default: none.',
    default: '',
  }),
  maximumRegressions: option(count('number of regressions', 100_000), {
    group,
    hint: '<n>',
    brief: 'How many cases may regress against the baseline.',
    description:
      'How many cases may regress against `baseline`, over all suites, before the verdict is `failed`. A case regresses when all of its iterations passed and now at most half do, or more than half passed and now none does.',
    default: '0',
  }),
  maximumRateDrop: option(optionalPassRate, {
    group,
    hint: '<percent>',
    brief: 'How far the pass rate may fall, as in 5%.',
    description:
      'By how much the pass rate of a suite may fall against `baseline`, in percentage points such as `5%`, over the cases that can be compared. The verdict is `failed` where it fell by more and the iterations show with 95% confidence that it fell at all. Default: no limit but that of `maximum-regressions`.',
    default: '',
  }),
  trustedAfter: option(count('number of gates', 100), {
    group,
    hint: '<n>',
    brief: 'Count a case once it passed in n gates of the history.',
    description:
      'Count only cases that are trusted: those that have passed, in every iteration and as they are defined now, in so many gates of `history-path` in a row. The others run, are shown as on trial, and decide nothing; required cases always count. `0` trusts every case.',
    default: '0',
  }),
  historyPath: option(optionalText, {
    group,
    hint: '<file>',
    brief: 'Keep a record of every gate in this file.',
    description:
      'A file, relative to the working directory, to which every gate adds one line of JSON with its verdict and the counts of its cases; the newest 100 are kept. The job summary then shows the trend of the branch, and `baseline` can name a branch or a commit. Keep it between jobs with actions/cache. Default: none.',
    default: '',
  }),
  branch: option(optionalRef, {
    group,
    hint: '<name>',
    brief: 'The branch that is tested.',
    description:
      'The branch that is tested, as the history, reports and `suite-scope` name it. Default: what the CI system says, else what git has checked out.',
    default: '',
  }),
  commit: option(optionalCommit, {
    group,
    hint: '<hash>',
    brief: 'The commit that is tested.',
    description:
      'The full hash of the commit that is tested, as the history and reports name it. Default: what the CI system says, else what git has checked out.',
    default: '',
  }),
};
