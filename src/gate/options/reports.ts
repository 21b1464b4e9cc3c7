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
      'Where to report on GitHub: `annotations`, `summary`, `comment[:always|on-failure|on-change]`, `check-run`, `issue`, separated by commas, or `none`.',
    default: 'annotations, summary',
  }),
  reportDir: option(optionalText, {
    group: 'Reports',
    hint: '<directory>',
    brief: 'Where report.json and junit.xml are written.',
    description: 'The directory for report.json, junit.xml and the other reports, relative to the working directory.',
    default: 'mcp-eval-report',
  }),
  reportFormats: option(reportFormats, {
    group: 'Reports',
    hint: '<names>',
    brief: 'Which of html, ctrf, badge and otlp are written there, too.',
    description: 'Further reports, separated by commas: `html`, `ctrf`, `badge`, `otlp`, `iterations`, or `none`.',
    default: 'html',
  }),
};
