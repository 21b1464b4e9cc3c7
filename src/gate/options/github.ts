import { option } from './option.ts';
import { optionalOrdinal, optionalSecret, optionalText } from './values.ts';

const group = 'GitHub';

export const githubOptions = {
  commentId: option(optionalText, {
    group,
    hint: '<name>',
    brief: 'Distinguishes this job from others of its name, such as those of a matrix.',
    description:
      'Distinguishes the comment, issues and hosted runs of this job from those of jobs with the same name. Default: the index in the matrix.',
    default: '',
    runnerDefault: '${{ strategy.job-index }}',
  }),
  githubToken: option(optionalSecret, {
    group,
    hint: '<token>',
    isSecret: true,
    brief: 'The token for GitHub; better given in the variable GITHUB_TOKEN.',
    description: 'The token for comments, checks and issues. Default: the token of the job.',
    default: '',
    runnerDefault: '${{ github.token }}',
  }),
  publish: option(optionalText, {
    group,
    hint: '<report.json>',
    brief: 'Comment on a report, and run nothing.',
    description:
      'The report.json that another workflow wrote, or its directory. The gate trusts none of its text and checks its results.',
    default: '',
  }),
  pullNumber: option(optionalOrdinal('pull request'), {
    group,
    hint: '<n>',
    brief: 'The pull request of `publish`.',
    description:
      'The number of the pull request to comment on; the report must be of its newest commit. Default: the one of the `workflow_run` event.',
    default: '',
  }),
};
