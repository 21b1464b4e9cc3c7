import { openGroup } from './define-option.ts';
import { choice, duration, optionalPassRate, optionalRef, optionalText } from './values.ts';

const defineOption = openGroup('The verdict');

export const verdictOptions = {
  minPassRate: defineOption({
    schema: optionalPassRate,
    hint: '<percent>',
    text: 'The share of iterations that must pass in every suite, such as `90%`. The default comes from the policy, then from the evals files, and is 100% without both.',
    commands: ['run', 'merge', 'publish', 'judge', 'plan-runs'],
  }),
  policy: defineOption({
    schema: optionalText,
    hint: '<file>',
    text: 'The path of a policy file in YAML or JSON. It holds rules for all suites and for single ones, quarantine and budgets.',
    commands: ['run', 'merge', 'publish', 'judge', 'plan-runs', 'surface', 'explore'],
  }),
  surface: defineOption({
    schema: optionalText,
    hint: '<file|base>',
    text: 'The surface to compare with: a file of `mcp-eval-ci surface`, or `base` for that of the base. It has tools, prompts and resources. The policy says what changes mean.',
  }),
  behaviour: defineOption({
    schema: choice('behaviour', ['off', 'base']),
    text: 'Whether to compare what the server answers with the `base`. `base` explores it, repeats its calls on the change, and needs no `evals`.',
    default: 'off',
    rules: [
      {
        is: 'base',
        needs: ['base', 'base-server-command'],
        code: 'behaviour-without-base',
        message:
          'is `base`, and no base runs in this job; set `base: git` for the merge base, `base: package` for the last release, or `base-server-command`',
      },
      {
        is: 'base',
        excludes: ['server-url'],
        code: 'behaviour-needs-command',
        message:
          'starts the server over stdio in copies of a workspace, which a server at `server-url` is not; give `server-command` alone, or leave `behaviour` out',
      },
      {
        is: 'base',
        excludes: ['shard'],
        code: 'behaviour-and-shard',
        message: 'compares the whole server; run it in a job of its own, without `shard`',
      },
    ],
  }),
  behaviourTimeLimit: defineOption({
    schema: duration,
    text: 'How long `behaviour: base` explores the base at most, such as `5m`. A longer exploration is cut, and the report says so.',
    default: '2m',
    rules: [
      {
        needs: ['behaviour: base'],
        code: 'needs-behaviour',
        message: 'has no effect without `behaviour: base`; set that, or remove it',
      },
    ],
  }),
  policyRef: defineOption({
    schema: choice('policy ref', ['head', 'base']),
    text: 'Whose policy applies to a pull request. `head` is the checked-out one, `base` that of the target branch, which the change cannot lower.',
    default: 'head',
    commands: ['run', 'merge'],
  }),
  baseRef: defineOption({
    schema: optionalRef,
    hint: '<branch>',
    text: 'The branch or commit whose policy `policy-ref: base` uses, such as `main`. The default is the target of the pull request.',
    isFlagOnly: true,
    rules: [
      {
        needs: ['policy-ref: base', 'base: git'],
        code: 'needs-policy-ref',
        message: 'has no effect with `policy-ref: head`; set `policy-ref: base` or `base: git`, or remove it',
      },
    ],
  }),
  timeout: defineOption({
    schema: duration,
    text: 'How long the whole gate may take, such as `30m`. When it expires, the verdict is inconclusive.',
    default: '30m',
    isRepeated: true,
  }),
};
