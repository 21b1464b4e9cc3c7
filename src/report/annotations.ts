import { clipLines, formatCount } from '../base/text.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report } from '../model/report.ts';
import { stripControls } from './escape/plain.ts';
import { describeFailures } from './failures.ts';
import { describeFlaky } from './rounds.ts';
import { truncateText } from './truncate.ts';
import { describeCaseCounts, describePart, describeVerdict, nameReasons } from './wording.ts';

/** An annotation with the fields of the runner's `error` command. The code that writes it escapes it for that command. */
export interface Annotation {
  level: 'error' | 'warning' | 'notice';
  title: string;
  message: string;
  /** Relative to the workspace. */
  file?: string;
  /** Counted from 1. */
  startLine?: number;
}

/** GitHub keeps ten annotations of a level per step and silently drops the rest; one of them is the verdict. */
const maxCaseAnnotations = 9;
const maxSurfaceAnnotations = 5;
const maxHostAnnotations = 3;
const maxBehaviourAnnotations = 4;
/** The runner cuts at 4,096 characters; this leaves space for the redactor to lengthen a text. */
const maxMessageLength = 4000;
const maxTitleLength = 200;
const maxReasons = 10;
/** Limits the last output of the server; the reason itself has to fit as well. */
const maxOutputLength = 2500;

/**
 * Plans at most ten annotations, or one more than `maxCases`: the verdict, then the worst cases at their location in the evals file. They
 * are errors if the verdict of a whole gate stops the job, and else warnings. An inconclusive gate names its cause and blames no case; a
 * gate that passed needs none.
 */
export function planAnnotations(
  report: Report,
  options: { fileExists?: (path: string) => boolean; maxCases?: number } = {},
): Annotation[] {
  const { outcome } = report.verdict;
  const fileExists = options.fileExists ?? (() => true);
  const surface = [...annotateSurface(report, fileExists), ...annotateHosts(report), ...annotateBehaviour(report)];
  const maxCases = (options.maxCases ?? maxCaseAnnotations) - surface.length;
  if (outcome === 'passed') return surface;
  // A shard does not decide about the gate; if shards are merged, the failures become errors.
  const level: Annotation['level'] = report.stopsJob && report.shard === null ? 'error' : 'warning';
  const verdict: Annotation = {
    level,
    title: describeVerdict(report),
    message: cleanMessage([...listReasons(report), ...[describePart(report) ?? []].flat()].join('\n')),
    ...locate(
      report.verdict.reasons.map(({ source }) => source),
      fileExists,
    ),
  };
  if (outcome === 'inconclusive') return [verdict, ...surface];
  const failed = listFailedCases(report);
  const shown = failed.length > maxCases ? failed.slice(0, maxCases - 1) : failed;
  const hidden = failed.length - shown.length;
  const rest: Annotation = {
    level,
    title: `+${formatCount(hidden, 'more failed case')}`,
    message: 'The job summary lists them.',
  };
  return [
    verdict,
    ...surface,
    ...shown.map((testCase) => ({ ...annotateCase(testCase, fileExists), level })),
    ...(hidden > 0 ? [rest] : []),
  ];
}

/** Annotates the surface changes that the policy does not simply allow, the worst first, at their line in the surface file. */
function annotateSurface({ surface, policy, shard }: Report, fileExists: (path: string) => boolean): Annotation[] {
  if (surface === undefined || policy.surface === undefined) return [];
  const { surface: effects } = policy;
  const changes = surface.configurations.flatMap((each) => each.changes);
  return changes
    .filter(({ severity }) => effects[severity].value !== 'allow')
    .slice(0, maxSurfaceAnnotations)
    .map((change) => ({
      level: effects[change.severity].value === 'fail' && shard === null ? 'error' : 'warning',
      title: cleanTitle(`${change.severity}: ${change.message}`),
      message: cleanMessage(
        [
          change.id,
          change.reason,
          ...(change.before === null ? [] : [`- ${change.before}`]),
          ...(change.after === null ? [] : [`+ ${change.after}`]),
        ].join('\n'),
      ),
      ...locate([change.location], fileExists),
    }));
}

/** Annotates what the change makes worse in hosts, what fails first. No file has it. */
function annotateHosts({ hosts, shard }: Report): Annotation[] {
  const findings = hosts?.findings ?? [];
  return ['fail', 'review']
    .flatMap((disposition) => findings.filter((finding) => finding.disposition === disposition))
    .slice(0, maxHostAnnotations)
    .map(({ id, host, kind, message, reason, disposition }) => ({
      level: disposition === 'fail' && shard === null ? 'error' : 'warning',
      title: cleanTitle(`${host}: ${kind}`),
      message: cleanMessage(`${message}\n${reason}\nid: ${id}`),
    }));
}

/** Annotates the differences from the base that the policy does not ignore, the worst first. No file has them. */
function annotateBehaviour({ behaviour, shard }: Report): Annotation[] {
  const differences = behaviour?.compared?.differences ?? [];
  return differences
    .filter(({ disposition }) => disposition === 'fail' || disposition === 'review')
    .slice(0, maxBehaviourAnnotations)
    .map(({ id, kind, tool, message, before, after, disposition }) => ({
      level: disposition === 'fail' && shard === null ? 'error' : 'warning',
      title: cleanTitle(`${kind}: ${tool ?? 'the server'}`),
      message: cleanMessage(`${message}\nbase: ${before}\nchange: ${after}\nid: ${id}`),
    }));
}

/** Lists the failed cases of suites that failed, required ones first. In a suite that passed, its minimum tolerates them. */
export function listFailedCases(report: Report): CaseReport[] {
  const failedSuites = new Set(report.suites.filter(({ verdict }) => verdict.outcome === 'failed').map(({ id }) => id));
  return report.cases
    .filter(({ disposition, suiteId }) => disposition === 'failed' && failedSuites.has(suiteId))
    .toSorted((a, b) => Number(b.required) - Number(a.required));
}

function annotateCase(testCase: CaseReport, fileExists: (path: string) => boolean): Omit<Annotation, 'level'> {
  const source = testCase.failures.find((failure) => failure.source !== undefined)?.source;
  const flaky = describeFlaky(testCase);
  const counts = `${describeCaseCounts(testCase)}${flaky === null ? '' : ` (${flaky})`}${testCase.required ? ', required' : ''}`;
  return {
    title: `${cleanTitle(testCase.title)}: ${counts}`,
    message: cleanMessage(describeFailures(testCase) || counts),
    ...locate([source, testCase.location], fileExists),
  };
}

/** Finds the first of some places that is in a file of the workspace. */
function locate(
  places: ReadonlyArray<{ file: string; line: number } | null | undefined>,
  fileExists: (path: string) => boolean,
): Pick<Annotation, 'file' | 'startLine'> {
  const place = places.find((each) => each != null && isInWorkspace(each.file) && fileExists(each.file));
  return place == null ? {} : { file: place.file, startLine: place.line };
}

function listReasons(report: Report): string[] {
  const { reasons } = report.verdict;
  const hidden = reasons.length - maxReasons;
  return [
    ...nameReasons(report, reasons.slice(0, maxReasons)).flatMap(({ suiteName, message, output }) => [
      suiteName === null ? message : `${suiteName}: ${message}`,
      ...clipLines(output, maxOutputLength).map((line) => `  ${line}`),
    ]),
    ...(hidden > 0 ? [`and ${formatCount(hidden, 'more reason')}`] : []),
  ];
}

/** Checks if a path stays in the workspace. Any other path names no file of the pull request. */
export function isInWorkspace(path: string): boolean {
  return path !== '' && !/^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|\p{Cc}/u.test(path);
}

function cleanTitle(text: string): string {
  return truncateText(stripControls(text).replaceAll(/\s+/g, ' ').trim() || 'Untitled case', maxTitleLength);
}

function cleanMessage(text: string): string {
  return truncateText(stripControls(text).trim(), maxMessageLength);
}
