import {
  choice,
  flag,
  lines,
  option,
  optionalConcurrency,
  optionalDocument,
  optionalRuns,
  optionalShard,
  optionalText,
  words,
} from './values.ts';

export const whatRunsOptions = {
  evals: option(lines, {
    group: 'What runs',
    hint: '<glob>',
    brief: 'Evals files to run; may be given again.',
    isList: true,
    description:
      'Evals files to run, one path or glob per line, relative to the working directory. Each file is a suite; give this or `tests`.',
    default: '',
  }),
  tests: option(optionalDocument, {
    group: 'What runs',
    hint: '<yaml>',
    brief: 'Evals written in place, as YAML.',
    description:
      'Evals written in place: a YAML list of cases, or the text of an evals file. They run after those of `evals`.',
    default: '',
  }),
  suite: option(optionalText, {
    group: 'What runs',
    hint: '<id or name>',
    brief: 'Run a suite that the service keeps.',
    description:
      'A suite that the hosted service keeps, by id or exact name, which runs unchanged. Excludes `evals` and `tests`.',
    default: '',
  }),
  suiteScope: option(choice('suite scope', ['branch', 'shared', 'run']), {
    group: 'What runs',
    hint: '<branch|shared|run>',
    brief: 'Which hosted suite the evals are kept in.',
    description:
      'The hosted suite that keeps an evals file: `branch` has one for each branch and pull request, `shared` one for all, `run` one for this run.',
    default: 'branch',
  }),
  cases: option(words, {
    group: 'What runs',
    hint: '<id,…>',
    brief: 'Run only these cases, by id or title; * is any text.',
    isList: true,
    description:
      'Run only the cases with these ids or titles, separated by commas or line breaks; `*` stands for any text. Default: all cases.',
    default: '',
  }),
  tags: option(words, {
    group: 'What runs',
    hint: '<tag,…>',
    brief: 'Run only the cases with one of these tags.',
    isList: true,
    description:
      'Run only cases with at least one of these tags, separated by commas or line breaks. Default: all cases.',
    default: '',
  }),
  runs: option(optionalRuns, {
    group: 'What runs',
    hint: '<n>',
    brief: 'Run every case this often, 1 to 100, or 2..30.',
    description:
      'How often every case runs, from 1 to 100, or a range such as `2..30`, instead of what the evals files say. Default: the evals files, else 1.',
    default: '',
  }),
  concurrency: option(optionalConcurrency, {
    group: 'What runs',
    hint: '<auto|n>',
    brief: 'How many iterations may run at the same time, auto or 1 to 64.',
    description:
      'How many iterations may run at the same time, 1 to 64; `auto` overlaps those that call only read-only tools. Default: the evals files, else `auto`.',
    default: '',
  }),
  shard: option(optionalShard, {
    group: 'What runs',
    hint: '<i/n>',
    brief: 'Run one part of the cases, such as 1/4.',
    description:
      'The part of the cases that this job runs, such as `1/4`. The action `merge` joins the reports of all parts.',
    default: '',
  }),
  merge: option(lines, {
    group: 'What runs',
    hint: '<directory>',
    brief: 'Join reports of shards, and run nothing.',
    isList: true,
    description:
      'The directory below which every shard has its own with a report.json, or one such directory per line. Missing shards are an error.',
    default: '',
  }),
  dryRun: option(flag, {
    group: 'What runs',
    hint: '[bool]',
    brief: 'Only say what would be run and changed.',
    description: 'Whether to print only what the gate would run and change, then stop: `true` or `false`.',
    default: 'false',
  }),
};
