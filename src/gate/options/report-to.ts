import { z } from 'zod';
import { option, optionalOrdinal, optionalSecret, optionalText, reportFormats, words } from './values.ts';

/** The verdicts after which the gate comments on the pull request. */
export type CommentMode = 'on-failure' | 'on-change' | 'always';

/** The destinations of a verdict on GitHub. */
export interface ReportTo {
  annotations: boolean;
  summary: boolean;
  /** Null for no comment. */
  comment: CommentMode | null;
  checkRun: boolean;
  /** True if the gate keeps an issue for every suite that fails. */
  issue: boolean;
}

const commentModes: readonly CommentMode[] = ['always', 'on-failure', 'on-change'];
const destinations = {
  annotations: 'annotations',
  summary: 'summary',
  'check-run': 'checkRun',
  issue: 'issue',
} as const;
const entries = 'annotations, summary, comment, check-run or issue, or none alone';

/** Parses names of destinations, or `none` alone. A comment may have a mode: `comment:on-failure`. */
export const reportTo = words.transform((names, context): ReportTo => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const found: ReportTo = { annotations: false, summary: false, comment: null, checkRun: false, issue: false };
  if (names.length === 1 && names[0] === 'none') return found;
  for (const entry of names) {
    const [name = '', mode] = entry.split(/\s*:\s*/, 2);
    if (isDestination(name)) {
      if (mode !== undefined)
        return refuse(`${JSON.stringify(entry)} has a mode, and only \`comment\` takes one; write ${name}`);
      found[destinations[name]] = true;
      continue;
    }
    if (name !== 'comment') return refuse(`${JSON.stringify(entry)} is not a destination; write ${entries}`);
    const chosen = mode === undefined ? 'always' : commentModes.find((each) => each === mode);
    if (chosen === undefined) {
      const modes = commentModes.map((each) => `comment:${each}`).join(', ');
      return refuse(`${JSON.stringify(entry)} has no such mode; write comment, which is always, or one of ${modes}`);
    }
    if (found.comment !== null && found.comment !== chosen) {
      return refuse(`has two modes for the comment, ${found.comment} and ${chosen}; write one of them`);
    }
    found.comment = chosen;
  }
  return found;
});

function isDestination(name: string): name is keyof typeof destinations {
  return Object.hasOwn(destinations, name);
}

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

const group = 'GitHub';

export const githubOptions = {
  commentId: option(optionalText, {
    group,
    hint: '<name>',
    brief: 'Distinguishes this job from others of its name, such as those of a matrix.',
    description:
      'Distinguishes the comment, issues and hosted runs of this job from those of jobs with the same name. Default: the index in the matrix.',
    default: '',
    runnerDefault: '${{ strategy.job-index }}',
  }),
  githubToken: option(optionalSecret, {
    group,
    hint: '<token>',
    isSecret: true,
    brief: 'The token for GitHub; better given in the variable GITHUB_TOKEN.',
    description: 'The token for comments, checks and issues. Default: the token of the job.',
    default: '',
    runnerDefault: '${{ github.token }}',
  }),
  publish: option(optionalText, {
    group,
    hint: '<report.json>',
    brief: 'Comment on a report, and run nothing.',
    description:
      'The report.json that another workflow wrote, or its directory. The gate trusts none of its text and checks its results.',
    default: '',
  }),
  pullNumber: option(optionalOrdinal('pull request'), {
    group,
    hint: '<n>',
    brief: 'The pull request of `publish`.',
    description:
      'The number of the pull request to comment on; the report must be of its newest commit. Default: the one of the `workflow_run` event.',
    default: '',
  }),
};
