import { choice, duration, option, optionalCommit, optionalPassRate, optionalRef, optionalText } from './values.ts';

export const verdictOptions = {
  minPassRate: option(optionalPassRate, {
    group: 'The verdict',
    hint: '<percent>',
    brief: 'The share of iterations that must pass in every suite, such as 90%.',
    description:
      'The share of iterations that must pass in every suite, such as `90%`. Default: the policy, else the evals files, else 100%.',
    default: '',
  }),
  policy: option(optionalText, {
    group: 'The verdict',
    hint: '<file>',
    brief: 'The requirements, in a policy file.',
    description:
      'The path of a policy file in YAML or JSON: rules for all suites and for single ones, quarantine and budgets.',
    default: '',
  }),
  surface: option(optionalText, {
    group: 'The verdict',
    hint: '<file|base>',
    brief: 'The tool surface to compare with.',
    description:
      'A file of `mcp-eval-ci surface` with the tools, prompts and resources that the server promises, or `base` for those of the base. The policy says what changes mean.',
    default: '',
  }),
  policyRef: option(choice('policy ref', ['head', 'base']), {
    group: 'The verdict',
    hint: '<head|base>',
    brief: 'Whose policy a pull request has.',
    description:
      'Whose policy applies to a pull request: `head` is the checked-out one, `base` that of the target branch, which the change cannot lower.',
    default: 'head',
  }),
  baseRef: option(optionalRef, {
    group: 'The verdict',
    hint: '<branch>',
    brief: 'Whose policy `policy-ref: base` is.',
    description:
      'The branch or commit whose policy `policy-ref: base` uses, such as `main`. Default: the target of the pull request.',
    default: '',
  }),
  timeout: option(duration, {
    group: 'The verdict',
    hint: '<duration>',
    brief: 'How long everything may take.',
    description: 'How long the whole gate may take, such as `30m`. When it expires, the verdict is inconclusive.',
    default: '30m',
  }),
};

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
