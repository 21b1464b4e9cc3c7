import { z } from 'zod';
import { openGroup } from './define-option.ts';
import { optionalOrdinal, optionalSecret, optionalText, reportFormats, withForm, words } from './values.ts';
import { excludedByPublish } from './what-runs.ts';

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

const parsedReportTo = words.transform((names, context): ReportTo => {
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

/** Parses names of destinations, or `none` alone. A comment may have a mode: `comment:on-failure`. */
export const reportTo = withForm(parsedReportTo, { isList: true });

const defineReport = openGroup('Reports');

export const reportOptions = {
  reportTo: defineReport({
    schema: reportTo,
    hint: '<list>',
    text: 'Where to report on GitHub: `annotations`, `summary`, `comment`, `check-run`, `issue`, or `none`. Separate several by commas. `comment:on-failure` and `comment:on-change` comment less often.',
    default: 'annotations, summary',
    commands: ['run', 'merge', 'publish'],
  }),
  reportDir: defineReport({
    schema: optionalText,
    hint: '<directory>',
    text: 'The directory for report.json, junit.xml and the other reports, relative to the working directory.',
    default: 'mcp-eval-report',
    commands: ['run', 'merge', 'init'],
  }),
  reportFormats: defineReport({
    schema: reportFormats,
    hint: '<names>',
    text: 'Further reports, separated by commas: `html`, `ctrf`, `badge`, `otlp`, `iterations`, `transcripts`, or `none`.',
    default: 'html',
    commands: ['run', 'merge', 'judge'],
  }),
};

const defineGithub = openGroup('GitHub');

export const githubOptions = {
  commentId: defineGithub({
    schema: optionalText,
    hint: '<name>',
    text: 'Distinguishes the comment, issues and hosted runs of this job from those of jobs with the same name. The default is the index in the matrix.',
    runnerDefault: '${{ strategy.job-index }}',
    commands: ['run', 'merge', 'publish'],
  }),
  githubToken: defineGithub({
    schema: optionalSecret,
    hint: '<token>',
    text: 'The token for comments, checks and issues. The default is the token of the job.',
    runnerDefault: '${{ github.token }}',
    variables: ['GITHUB_TOKEN', 'GH_TOKEN'],
    commands: ['run', 'merge', 'publish'],
  }),
  publish: defineGithub({
    schema: optionalText,
    hint: '<report.json>',
    text: 'The report.json that another workflow wrote, or its directory. The gate trusts none of its text and checks its results.',
    commands: [],
    rules: [
      {
        excludes: excludedByPublish,
        code: 'publish-and-run',
        message: 'posts a report and runs nothing; leave out {found}',
      },
    ],
  }),
  pullNumber: defineGithub({
    schema: optionalOrdinal('pull request'),
    hint: '<n>',
    text: 'The number of the pull request to comment on. The report must be of its newest commit. The default comes from the `workflow_run` event.',
    commands: ['publish'],
    rules: [
      {
        needs: ['publish'],
        code: 'needs-publish',
        message: 'is the pull request of a report to `publish`; name that, too',
      },
    ],
  }),
};
