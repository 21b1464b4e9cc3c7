import { option } from './option.ts';
import { choice, flag, optionalOrdinal, optionalSecret, optionalText } from './values.ts';

const group = 'GitHub';

export const githubOptions = {
  comment: option(choice('comment mode', ['off', 'on-failure', 'on-change', 'always']), {
    group,
    hint: '<mode>',
    brief: 'Comment on the pull request: always, on-change, on-failure or off.',
    description:
      'When the verdict is told in a comment on the pull request, of which every job keeps one up to date. `on-failure`: when it is not `passed`, and once it is again. `on-change`: when it is another than the one told last. Needs the permission `pull-requests: write`; where that is missing there is a warning, and the verdict stands.',
    default: 'off',
  }),
  checkRun: option(flag, {
    group,
    hint: '[bool]',
    brief: 'Add a check to the commit.',
    description:
      'Whether a check with the summary and annotations is added to the commit, `true` or `false`: `success` where the verdict is `passed`, `neutral` where it is not and the policy lets the job go on, else `failure`. Needs the permission `checks: write`.',
    default: 'false',
  }),
  openIssueOn: option(choice('verdict', ['off', 'failed']), {
    group,
    hint: '<off|failed>',
    brief: 'Keep an issue while a suite fails.',
    description:
      'Whether an issue is opened for every suite that fails, `failed` or `off`: it is updated with every further failure and closed once the suite passes. Not on pull requests; meant for nightly runs. Needs the permission `issues: write`.',
    default: 'off',
  }),
  githubToken: option(optionalSecret, {
    group,
    hint: '<token>',
    isSecret: true,
    brief: 'The token for GitHub; better given in the variable GITHUB_TOKEN.',
    description:
      "The token with which comments, checks and issues are written. Default: the job's own; the command reads it from the variable `GITHUB_TOKEN` or `GH_TOKEN`.",
    default: '',
    runnerDefault: '${{ github.token }}',
  }),
  publish: option(optionalText, {
    group,
    hint: '<report.json>',
    brief: 'Comment on a report, and run nothing.',
    description:
      'The path of a report.json that another workflow has written, or of its directory. It is told in a comment on its pull request, in place of running anything: for pull requests of forks, whose own jobs may not comment. Default: none.',
    default: '',
  }),
  pullNumber: option(optionalOrdinal('pull request'), {
    group,
    hint: '<n>',
    brief: 'The pull request of `publish`.',
    description:
      'The number of the pull request that `publish` comments on, whose newest commit must be the one of the report. Default: found by its branch, in a workflow on `workflow_run`.',
    default: '',
  }),
};
