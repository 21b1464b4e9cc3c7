import { option } from './option.ts';
import { choice, duration, optionalPassRate, optionalRef, optionalText } from './values.ts';

export const verdictOptions = {
  minPassRate: option(optionalPassRate, {
    group: 'The verdict',
    hint: '<percent>',
    brief: 'The share of iterations that must pass in every suite, such as 90%.',
    description:
      'The share of iterations that must pass in every suite, as a percentage such as `90%` or `90`, in place of what the evals files say. A bare number above 0 and up to 1 is refused, because it could mean a fraction. Default: what the evals files say, which is 100% unless they say otherwise.',
    default: '',
  }),
  policy: option(optionalText, {
    group: 'The verdict',
    hint: '<file>',
    brief: 'What is demanded, in a policy file.',
    description:
      'The path of a policy file, in YAML or JSON: what is demanded of every suite and of single ones, quarantine, budgets. What it says goes before what the evals files say; the other inputs of this group go before both. Default: none.',
    default: '',
  }),
  policyRef: option(choice('policy ref', ['head', 'base']), {
    group: 'The verdict',
    hint: '<head|base>',
    brief: 'Whose policy a pull request has.',
    description:
      'Whose policy counts in a pull or merge request. `head` uses the checked-out policy; `base` uses the target branch, so that a change cannot lower its own bar. Without the base, the gate ends with exit code 2.',
    default: 'head',
  }),
  baseRef: option(optionalRef, {
    group: 'The verdict',
    hint: '<branch>',
    brief: 'Whose policy `policy-ref: base` is.',
    description:
      'The branch or commit whose policy `policy-ref: base` uses, such as `main`. Git must have it. Default: the target of the pull or merge request, where the CI system names it.',
    default: '',
  }),
  timeout: option(duration, {
    group: 'The verdict',
    hint: '<duration>',
    brief: 'How long everything may take.',
    description:
      'How long the whole gate may take, as a number and a unit (`ms`, `s`, `m`, `h`). When it runs out, the run is cancelled and the verdict is inconclusive.',
    default: '30m',
  }),
};
