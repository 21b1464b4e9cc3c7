import { option } from './option.ts';
import { optionalOrdinal, optionalSecret, optionalText } from './values.ts';

const group = 'GitHub';

export const githubOptions = {
  commentId: option(optionalText, {
    group,
    hint: '<name>',
    brief: 'What tells this job from others of its name, such as those of a matrix.',
    description:
      'What tells the comment, issues and hosted runs of this job from those of other jobs with the same name. Default: the index of the job in its matrix.',
    default: '',
    runnerDefault: '${{ strategy.job-index }}',
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
