import { createHash } from 'node:crypto';
import { readFirstLine } from '../base/text.ts';
import type { Report } from '../model/report.ts';
import { isInWorkspace, listFailedCases } from './annotations.ts';
import { escapeJson } from './escape/json.ts';
import { stripControls } from './escape/plain.ts';
import { truncateText } from './truncate.ts';
import { describeCaseCounts, describeVerdict } from './wording.ts';

/** One entry of the file. GitLab also reads a column, which the gate does not know. */
interface QualityIssue {
  description: string;
  check_name: string;
  fingerprint: string;
  severity: 'critical' | 'major' | 'minor';
  location: { path: string; lines: { begin: number } };
}

const maxDescriptionLength = 500;

/**
 * Renders GitLab's Code Quality report: each failed case of a failed suite at its line of the evals file, and each change of the tool surface
 * that the policy does not allow at its line of the surface file. If nothing else explains a verdict other than `passed`, the verdict is a
 * separate entry at the first line of an evals file. A fingerprint does not depend on lines or counts, so that GitLab recognizes the entries
 * that the target branch has, too.
 *
 * @param options.relocate makes a path relative to the top of the repository
 */
export function renderCodeQuality(
  report: Report,
  { relocate = (path) => path }: { relocate?: (path: string) => string } = {},
): string {
  const isSevere = report.stopsJob && report.shard === null;
  const locate = (location: { file: string; line: number } | null): QualityIssue['location'] => {
    const path = location === null ? '' : relocate(location.file);
    return isInWorkspace(path)
      ? { path, lines: { begin: location?.line ?? 1 } }
      : { path: fallbackPath, lines: { begin: 1 } };
  };
  const cases = listFailedCases(report).map((testCase): QualityIssue => {
    const [reason] = testCase.failures.flatMap(({ reasons }) => reasons);
    const counts = describeCaseCounts(testCase);
    return {
      description: describe(`${testCase.title}: ${counts}${reason === undefined ? '' : `: ${readFirstLine(reason)}`}`),
      check_name: 'eval-case',
      fingerprint: hash('case', testCase.suiteId, testCase.id),
      severity: isSevere ? (testCase.required ? 'critical' : 'major') : 'minor',
      location: locate(testCase.location),
    };
  });
  const changes = [...listSurfaceIssues(report, locate), ...listHostIssues(report, locate(null))];
  const issues = [...changes, ...cases];
  const { outcome } = report.verdict;
  const isExplained = cases.length > 0 || changes.some(({ severity }) => severity === 'critical');
  if (outcome === 'inconclusive' || (outcome === 'failed' && !isExplained)) {
    const [reason] = report.verdict.reasons;
    const file = report.suites.find((suite) => suite.verdict.outcome === outcome && suite.file !== null)?.file ?? null;
    issues.unshift({
      description: describe(`${describeVerdict(report)}${reason === undefined ? '' : `: ${reason.message}`}`),
      check_name: 'eval-verdict',
      fingerprint: hash('verdict', outcome, reason?.code ?? ''),
      severity: isSevere ? 'critical' : 'minor',
      location: locate(file === null ? null : { file, line: 1 }),
    });
  }
  return `${escapeJson(JSON.stringify(issues, null, 2))}\n`;
}

/** The path for a suite of a service, which has no file: GitLab requires a path. */
const fallbackPath = 'report.json';

function listSurfaceIssues(
  { surface, policy }: Report,
  locate: (location: { file: string; line: number } | null) => QualityIssue['location'],
): QualityIssue[] {
  const { surface: effects } = policy;
  if (surface === undefined || effects === undefined) return [];
  return surface.configurations.flatMap(({ name, changes }) =>
    changes
      .filter(({ severity }) => effects[severity].value !== 'allow')
      .map((change) => ({
        description: describe(`${change.severity}: ${change.message}. ${change.reason}`),
        check_name: `surface-${change.rule}`,
        fingerprint: hash('surface', name, change.id),
        severity: effects[change.severity].value === 'fail' ? ('critical' as const) : ('minor' as const),
        location: locate(change.location),
      })),
  );
}

function listHostIssues({ hosts }: Report, location: QualityIssue['location']): QualityIssue[] {
  return (hosts?.findings ?? [])
    .filter(({ disposition }) => disposition === 'fail' || disposition === 'review')
    .map(({ id, host, kind, message, reason, disposition }) => ({
      description: describe(`${message}. ${reason}`),
      check_name: `host-${kind}`,
      fingerprint: hash('hosts', host, id),
      severity: disposition === 'fail' ? ('critical' as const) : ('minor' as const),
      location,
    }));
}

function describe(text: string): string {
  return truncateText(stripControls(text).replaceAll(/\s+/g, ' ').trim(), maxDescriptionLength);
}

function hash(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
