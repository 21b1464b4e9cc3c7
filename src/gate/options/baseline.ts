import { option } from './option.ts';
import { optionalCommit, optionalRef, optionalText } from './values.ts';

const group = 'Baseline and history';

export const baselineOptions = {
  baseline: option(optionalText, {
    group,
    hint: '<source>',
    brief: 'A report.json, branch:<name>, commit:<hash> or run:<id>.',
    description:
      'Earlier results to compare with: the path of a report.json, or `branch:<name>`, `commit:<hash>` or `run:<id>`. Default: none.',
    default: '',
  }),
  historyPath: option(optionalText, {
    group,
    hint: '<file>',
    brief: 'Keep a record of every gate in this file.',
    description:
      'A file to which every gate adds a line with its verdict and counts. It enables the trend, `branch:` baselines and `probation`.',
    default: '',
  }),
  branch: option(optionalRef, {
    group,
    hint: '<name>',
    brief: 'The branch that is tested.',
    description: 'The branch under test, as the history and reports name it. Default: the CI system, else git.',
    default: '',
  }),
  commit: option(optionalCommit, {
    group,
    hint: '<hash>',
    brief: 'The commit that is tested.',
    description: 'The full hash of the commit under test. Default: the CI system, else git.',
    default: '',
  }),
};
