import { option } from './option.ts';
import { choice, duration, optionalPassRate, optionalRef, optionalText } from './values.ts';

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
    brief: 'What is demanded, in a policy file.',
    description:
      'The path of a policy file in YAML or JSON: rules for all suites and for single ones, quarantine and budgets.',
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
