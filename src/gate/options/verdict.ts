import { maxRetries } from '../../model/policy.ts';
import { option } from './option.ts';
import {
  choice,
  duration,
  flag,
  optionalChoice,
  optionalConfidence,
  optionalCount,
  optionalFlag,
  optionalPassRate,
  optionalRef,
  optionalText,
} from './values.ts';

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
  confidence: option(optionalConfidence, {
    group: 'The verdict',
    hint: '<percent>',
    brief: 'How sure a verdict has to be, such as 95%.',
    description:
      'How sure it has to be that a minimum pass rate is met, or is not, as a percentage such as `95%`. What the iterations leave open is then inconclusive. Default: what the policy says; without any, the count alone decides.',
    default: '',
  }),
  retryFailed: option(optionalCount('number of rounds', maxRetries), {
    group: 'The verdict',
    hint: '<n>',
    brief: 'Run failed cases again, up to n times.',
    description:
      'In how many further rounds, 0 to 5, cases that failed are run again, each round only with those that still fail. A case that then passes in full is flaky; `flaky` says how it counts. Default: what the policy says, which is 0 unless it says otherwise.',
    default: '',
  }),
  flaky: option(optionalChoice('effect', ['fail', 'pass', 'report']), {
    group: 'The verdict',
    hint: '<fail|pass|report>',
    brief: 'How a case counts that passed only when run again.',
    description:
      'How a flaky case counts: `fail` as in its first round, so that further rounds only tell what is flaky; `pass` as in its last round; `report` not at all. Default: what the policy says, which is `fail` unless it says otherwise.',
    default: '',
  }),
  stopEarly: option(flag, {
    group: 'The verdict',
    hint: '[bool]',
    brief: 'Stop when nothing outstanding can change the verdict.',
    description:
      'Whether a run of the embedded service is stopped when nothing outstanding can change its verdict. Its rate is then of the iterations that ran, and biased; the reports say so, and it is no baseline. `true` or `false`.',
    default: 'false',
  }),
  onInconclusive: option(optionalChoice('effect', ['fail', 'pass', 'warn']), {
    group: 'The verdict',
    hint: '<fail|pass|warn>',
    brief: 'What an unsettled verdict means for the exit code.',
    description:
      'What happens when the results do not settle the verdict, or only cases on probation ran: `fail` ends with exit code 3, `pass` and `warn` with 0, `warn` with a warning. Default: the policy, else `fail`.',
    default: '',
  }),
  onNothingRun: option(optionalChoice('effect', ['fail', 'pass', 'warn']), {
    group: 'The verdict',
    hint: '<fail|pass|warn>',
    brief: 'What missing results mean for the exit code.',
    description:
      'What happens when nothing ran or results are missing, such as after a server that did not start: `fail` ends with exit code 3, `pass` and `warn` with 0, `warn` with a warning. Default: the policy, else `fail`.',
    default: '',
  }),
  reportOnly: option(optionalFlag, {
    group: 'The verdict',
    hint: '[bool]',
    brief: 'Show a failed verdict and end with 0.',
    description:
      'Whether a failed verdict is only shown, and the job goes on with exit code 0. `true` or `false`. Default: what the policy says, which is `false` unless it says otherwise.',
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
