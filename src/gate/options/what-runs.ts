import { option } from './option.ts';
import {
  choice,
  flag,
  lines,
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
      'Evals files to run, as one path or glob pattern per line, relative to the working directory, such as `evals/*.evals.yaml`. Every file is one suite. Either this or `tests` is required.',
    default: '',
  }),
  tests: option(optionalDocument, {
    group: 'What runs',
    hint: '<yaml>',
    brief: 'Evals written in place, as YAML.',
    description:
      'Evals written in place: a YAML list of cases, or the whole text of an evals file. May be given together with `evals`; the inline suite then runs last. Default: none.',
    default: '',
  }),
  suite: option(optionalText, {
    group: 'What runs',
    hint: '<id or name>',
    brief: 'Run a suite that the service keeps.',
    description:
      'A suite that the hosted service keeps, by its id or exact name, which is run as it stands; nothing in it is changed. Where the job has a server, that one is tested in place of the servers saved in the suite. Excludes `evals` and `tests`. Default: none.',
    default: '',
  }),
  suiteScope: option(choice('suite scope', ['branch', 'shared', 'run']), {
    group: 'What runs',
    hint: '<branch|shared|run>',
    brief: 'Which hosted suite the evals are kept in.',
    description:
      'Which suite of the hosted service an evals file is kept in. `branch` gives each branch and each pull request its own, named after it, and the default branch the plain name. `shared` uses the plain name everywhere. `run` makes a suite for this run alone.',
    default: 'branch',
  }),
  cases: option(words, {
    group: 'What runs',
    hint: '<id,…>',
    brief: 'Run only these cases, by id or title.',
    isList: true,
    description:
      'Runs only the cases with these ids or exact titles, separated by commas or line breaks. A name that matches no case is an error. A title that holds a comma is named by its id. Default: all cases.',
    default: '',
  }),
  tags: option(words, {
    group: 'What runs',
    hint: '<tag,…>',
    brief: 'Run only the cases with one of these tags.',
    isList: true,
    description:
      'Runs only the cases that carry at least one of these tags, separated by commas or line breaks. Combines with `cases`: a case must satisfy both. Default: all cases.',
    default: '',
  }),
  runs: option(optionalRuns, {
    group: 'What runs',
    hint: '<n>',
    brief: 'Run every case this often, 1 to 100.',
    description:
      'How often every case is run, a whole number from 1 to 100, in place of what the evals files say. Default: what the evals files say, which is 1 unless they say otherwise.',
    default: '',
  }),
  concurrency: option(optionalConcurrency, {
    group: 'What runs',
    hint: '<auto|n>',
    brief: 'How many iterations may run at the same time, auto or 1 to 64.',
    description:
      'How many iterations may run at the same time, 1 to 64. `auto` overlaps those that call only tools declared read-only (docs/state.md). Default: what the evals files say, or `auto`.',
    default: '',
  }),
  shard: option(optionalShard, {
    group: 'What runs',
    hint: '<i/n>',
    brief: 'Run one part of the cases, such as 1/4.',
    description:
      'Which part of the cases this job runs, such as `1/4` for the first of four. Every case is in exactly one part, and the parts take about equally long where `history-path` knows how long the cases take. The reports of all parts are joined with `merge`. Default: all cases.',
    default: '',
  }),
  merge: option(lines, {
    group: 'What runs',
    hint: '<directory>',
    brief: 'Join reports of shards, and run nothing.',
    isList: true,
    description:
      'Joins the reports of shards into one verdict, in place of running anything: the directory below which every shard has its own with a report.json, or one such directory per line. Shards that are missing, or do not belong together, are an error. Excludes everything that says what to run. Default: none.',
    default: '',
  }),
  dryRun: option(flag, {
    group: 'What runs',
    hint: '[bool]',
    brief: 'Only say what would be run and changed.',
    description:
      'Whether to say only what would be run and what would be changed in the hosted service, and stop there. Nothing is started, created or changed. `true` or `false`.',
    default: 'false',
  }),
};
