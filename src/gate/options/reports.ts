import { option } from './option.ts';
import { reportTo } from './report-to.ts';
import { optionalText, reportFormats } from './values.ts';

export const reportOptions = {
  reportTo: option(reportTo, {
    group: 'Reports',
    hint: '<list>',
    brief: 'Where to report on GitHub: annotations, summary, comment, check-run, issue.',
    isList: true,
    description:
      'Where to report on GitHub: `annotations`, `summary`, `comment[:always|on-failure|on-change]`, `check-run`, `issue`, separated by commas, or `none`. A comment, a check run and an issue each need a permission.',
    default: 'annotations, summary',
  }),
  reportDir: option(optionalText, {
    group: 'Reports',
    hint: '<directory>',
    brief: 'Where report.json and junit.xml are written.',
    description:
      'The directory that report.json and junit.xml are written to, relative to the working directory. It is created when missing.',
    default: 'mcp-eval-report',
  }),
  reportFormats: option(reportFormats, {
    group: 'Reports',
    hint: '<names>',
    brief: 'Which of html, ctrf, badge and otlp are written there, too.',
    description:
      'What is written beside report.json and junit.xml, separated by commas: `html` (report.html, one page that needs no network), `ctrf` (ctrf.json, the Common Test Report Format), `badge` (badge.svg), `otlp` (traces.otlp.jsonl, the traces as spans of OpenTelemetry). `none` for none of them.',
    default: 'html',
  }),
};
