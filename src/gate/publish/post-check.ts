import { clipText } from '../../base/text.ts';
import { redactDeep, type Redactor } from '../../base/redaction.ts';
import { type CheckAnnotation, type CheckRunDraft, createCheckRun } from '../../github/checks.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import type { Repository } from '../../github/repository.ts';
import type { Report } from '../../model/report.ts';
import { planAnnotations } from '../../report/annotations.ts';
import { renderSummary } from '../../report/summary.ts';
import { locateLine, type PageLinks } from '../plan/plan-github.ts';

/** GitHub accepts 65,535 characters. */
const maxSummaryBytes = 60_000;
const maxAnnotations = 50;
const maxNameLength = 100;
const maxTitleLength = 200;

/**
 * Adds a check to the commit that was tested: its summary, and failing cases at their lines. Returns null if the report names no commit.
 *
 * @throws {GitHubError} if GitHub refuses
 * @throws {NetworkError} if no answer arrives
 */
export async function postCheck(
  client: GitHubClient,
  report: Report,
  { repository, page, redactor }: { repository: Repository; page: PageLinks; redactor: Redactor },
): Promise<{ url: string | null } | null> {
  const draft = buildCheckRun(report, page);
  return draft === null ? null : await createCheckRun(client, repository, redactDeep(draft, redactor));
}

function buildCheckRun(report: Report, page: PageLinks): CheckRunDraft | null {
  const commit = report.revision?.commit ?? '';
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const { outcome, reasons } = report.verdict;
  return {
    name: clipText(`Eval gate: ${page.job ?? 'by hand'}`, maxNameLength),
    commit,
    // Uses no `neutral` for an unknown result: a required check would count it as passed.
    conclusion: outcome === 'passed' ? 'success' : report.stopsJob ? 'failure' : 'neutral',
    detailsUrl: page.run?.url ?? null,
    title: clipText(reasons[0]?.message ?? outcome, maxTitleLength),
    summary: renderSummary(report, { maxBytes: maxSummaryBytes }),
    annotations: listAnnotations(report, page),
  };
}

function listAnnotations(report: Report, page: PageLinks): CheckAnnotation[] {
  return planAnnotations(report, { maxCases: maxAnnotations }).flatMap(({ level, title, message, file, startLine }) => {
    const located = file === undefined || startLine === undefined ? null : locateLine(page, { file, line: startLine });
    return located === null
      ? []
      : [
          {
            path: located.path,
            line: located.line,
            level: level === 'error' ? ('failure' as const) : level,
            title,
            message,
          },
        ];
  });
}
