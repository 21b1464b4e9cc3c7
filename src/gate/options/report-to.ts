import { z } from 'zod';
import { words } from './values.ts';

/** After which verdicts the gate comments on the pull request. */
export type CommentMode = 'on-failure' | 'on-change' | 'always';

/** Where a gate reports its verdict on GitHub. */
export interface ReportTo {
  annotations: boolean;
  summary: boolean;
  /** Null for no comment. */
  comment: CommentMode | null;
  checkRun: boolean;
  /** Whether an issue is kept for every suite that fails. */
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

/** Names of destinations, or `none` alone; a comment may say after which verdicts: `comment:on-failure`. */
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
