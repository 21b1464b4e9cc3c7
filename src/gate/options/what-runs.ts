import { openGroup, type OptionRule } from './define-option.ts';
import {
  choice,
  flag,
  lines,
  optionalConcurrency,
  optionalDocument,
  optionalWords,
  optionalRuns,
  optionalShard,
  optionalText,
  words,
} from './values.ts';

const defineOption = openGroup('What runs');

/** The rules of an option for evals files that the gate runs itself. `reason` says what a hosted service does instead. */
const excludeServices = (code: string, reason: string): OptionRule[] => [
  {
    excludes: ['suite'],
    commands: ['run'],
    code,
    message: 'applies to evals files; a `suite` of the service runs as it stands. Remove it',
  },
  {
    needs: ['service: embedded'],
    unless: ['suite'],
    commands: ['run'],
    code: 'needs-embedded-service',
    message: `applies to the embedded service; the service {service} ${reason}. Remove it, or use \`service: embedded\``,
  },
];

/** What a command that only reads reports cannot have. */
const ofRuns = [
  'tests',
  'suite',
  'runs',
  'host',
  'shard',
  'concurrency',
  'server-command',
  'server-url',
  'mcp-config',
  'protocol',
  'evals',
  'cases',
  'tags',
  'dry-run',
  'upload',
  'base',
  'base-server-command',
  'behaviour',
];

/** What `publish` cannot have. A check run or an issue would vouch for a report that cannot be verified. */
export const excludedByPublish = [...ofRuns, 'merge', 'report-to: check-run', 'report-to: issue'];

export const whatRunsOptions = {
  evals: defineOption({
    schema: lines,
    hint: '<glob>',
    text: 'The evals files to run, as paths or globs relative to the working directory. Write one per line. Each file is a suite. Give this or `tests`.',
    commands: ['run', 'plan-runs'],
    rules: [
      {
        isRequired: true,
        unless: ['tests', 'suite', 'behaviour: base'],
        code: 'missing-evals',
        message: 'nothing to run; give `evals` (a path or glob), `tests` (cases written in place) or `behaviour: base`',
      },
    ],
  }),
  tests: defineOption({
    schema: optionalDocument,
    hint: '<yaml>',
    text: 'Evals written in place: a YAML list of cases, or the text of an evals file. They run after those of `evals`.',
  }),
  suite: defineOption({
    schema: optionalText,
    hint: '<id or name>',
    text: 'A suite that the hosted service keeps, by id or exact name. It runs unchanged, and excludes `evals` and `tests`.',
    rules: [
      {
        excludes: ['evals', 'tests'],
        code: 'suite-and-evals',
        message: 'runs a suite of the service as it stands; give it or evals, not both',
      },
      {
        excludes: ['service: embedded'],
        code: 'needs-hosted-service',
        message: 'names a suite of a hosted service; say which with `service`, or give `evals`',
      },
    ],
    isRepeated: true,
  }),
  suiteScope: defineOption({
    schema: choice('suite scope', ['branch', 'shared', 'run']),
    text: 'The hosted suite that keeps an evals file. `branch` has one for each branch and pull request, `shared` has one for all, and `run` has one for this run.',
    default: 'branch',
    isFlagOnly: true,
  }),
  cases: defineOption({
    schema: words,
    hint: '<id,…>',
    text: 'Run only the cases with these ids or titles, separated by commas. `*` stands for any text. By default, all cases run.',
    commands: ['run', 'plan-runs'],
    isFlagOnly: true,
  }),
  tags: defineOption({
    schema: words,
    hint: '<tag,…>',
    text: 'Run only cases with at least one of these tags, separated by commas. By default, all cases run.',
    commands: ['run', 'plan-runs'],
    rules: [
      {
        excludes: ['suite'],
        code: 'suite-without-tags',
        message: 'a suite of the service has no tags; choose its cases with `cases`',
      },
    ],
  }),
  runs: defineOption({
    schema: optionalRuns,
    hint: '<n>',
    text: 'How often every case runs, from 1 to 100, or a range such as `2..30`. The default comes from the evals files, and is 1 if they say nothing.',
    commands: ['run', 'plan-runs'],
    isRepeated: true,
  }),
  host: defineOption({
    schema: optionalWords,
    hint: '<id,…>',
    text: 'The host whose tools, instructions and results models see, such as `codex`. It replaces the one in evals files. With several, separated by commas, each case with a prompt runs with each.',
    commands: ['run', 'plan-runs'],
    rules: excludeServices('suite-and-host', 'shows models what it shows them'),
    isRepeated: true,
  }),
  workspace: defineOption({
    schema: optionalText,
    hint: '<directory>',
    text: 'A directory of which each iteration, or an examined server, gets a copy, as `{{workspace}}`. `empty` is an empty one. For evals files without the key `workspace`.',
    isEvalsKey: true,
    commands: ['run', 'doctor', 'tools'],
    rules: [
      {
        excludes: ['server-url'],
        commands: ['doctor', 'tools'],
        code: 'workspace-and-url',
        message: 'is for a server that this command starts, and `server-url` names a running one; remove one of them',
      },
      ...excludeServices('suite-and-workspace', 'starts no process for an iteration'),
    ],
    isRepeated: true,
  }),
  concurrency: defineOption({
    schema: optionalConcurrency,
    hint: '<auto|n>',
    text: 'How many iterations may run at the same time, 1 to 64 or `auto`. `auto` overlaps those that call only read-only tools. The default comes from the evals files, and is `auto` if they say nothing.',
    isFlagOnly: true,
    isEvalsKey: true,
    rules: [
      {
        needs: ['service: embedded'],
        code: 'needs-embedded-service',
        message:
          'applies to the embedded service; the service {service} decides itself how many iterations run at the same time. Leave it out, or use `service: embedded`',
      },
    ],
    isRepeated: true,
  }),
  shard: defineOption({
    schema: optionalShard,
    hint: '<i/n>',
    text: 'The part of the cases that this job runs, such as `1/4`. The action `merge` joins the reports of all parts.',
    rules: [
      {
        excludes: ['suite'],
        code: 'shard-without-evals',
        message: 'cuts evals files; a `suite` of the service is run whole',
      },
    ],
  }),
  merge: defineOption({
    schema: lines,
    hint: '<directory>',
    text: 'The directory below which every shard has its own with a report.json, or one such directory per line. Missing shards are an error.',
    commands: [],
    rules: [
      {
        excludes: ofRuns,
        commands: ['merge'],
        code: 'merge-and-run',
        message: 'joins reports and runs nothing; leave out {found}',
      },
    ],
  }),
  bail: defineOption({
    schema: flag,
    text: 'Stop at the first failed iteration of a case that counts, and fail the gate: `true` or `false`. The rest does not run.',
    default: 'false',
    isFlagOnly: true,
    rules: [
      {
        needs: ['service: embedded'],
        commands: ['run'],
        code: 'needs-embedded-service',
        message:
          'applies to the embedded service; the service {service} decides itself when a run ends. Remove it, or use `service: embedded`',
      },
    ],
  }),
  dryRun: defineOption({
    schema: flag,
    text: 'Print only what the gate would run and change, then stop: `true` or `false`.',
    default: 'false',
    isFlagOnly: true,
  }),
};
