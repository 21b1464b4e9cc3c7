import { option } from './option.ts';
import { flag, optionalText } from './values.ts';

export const reportOptions = {
  reportDir: option(optionalText, {
    group: 'Reports',
    hint: '<directory>',
    brief: 'Where report.json and junit.xml are written.',
    description:
      'The directory that report.json and junit.xml are written to, relative to the working directory. It is created when missing.',
    default: 'mcp-eval-report',
  }),
  fullReport: option(flag, {
    group: 'Reports',
    hint: '<true|false>',
    brief: 'Write every iteration to iterations.jsonl, too.',
    description:
      'Whether every iteration that was read is written to `iterations.jsonl` beside `report.json`, one JSON document a line; the report itself keeps counts and some of the failures. `true` or `false`.',
    default: 'false',
  }),
  annotations: option(flag, {
    group: 'Reports',
    hint: '<true|false>',
    brief: 'Annotate failing cases, in a GitHub workflow.',
    description:
      "Whether failing cases are annotated at their line in the evals file. `true` or `false`. Annotations are GitHub's; elsewhere nothing is printed.",
    default: 'true',
  }),
  summary: option(flag, {
    group: 'Reports',
    hint: '<true|false>',
    brief: 'Add to the job summary, in a GitHub workflow.',
    description:
      "Whether the verdict and its details are added to the job summary. `true` or `false`. Job summaries are GitHub's; elsewhere nothing is written.",
    default: 'true',
  }),
};
