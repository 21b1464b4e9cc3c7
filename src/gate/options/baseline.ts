import { option } from './option.ts';
import { optionalCommit, optionalRef, optionalText } from './values.ts';

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
