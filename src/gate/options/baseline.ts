import { option } from './option.ts';
import { count, optionalText } from './values.ts';

const group = 'Baseline and history';

export const baselineOptions = {
  baseline: option(optionalText, {
    group,
    hint: '<path>',
    brief: 'Compare with the report of an earlier gate.',
    description:
      'What the results are compared with, case by case: the path of the report.json of an earlier gate, or of the directory that holds it. Where there is none yet, a warning says so and nothing is compared. Default: none.',
    default: '',
  }),
  maximumRegressions: option(count('number of regressions', 100_000), {
    group,
    hint: '<n>',
    brief: 'How many cases may regress against the baseline.',
    description:
      'How many cases may regress against `baseline`, over all suites, before the verdict is `failed`. A case regresses when all of its iterations passed and now at most half do, or more than half passed and now none does.',
    default: '0',
  }),
};
