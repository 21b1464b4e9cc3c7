import { clipText, formatCount } from '../../base/text.ts';
import { escapeTerminalText } from '../../report/escape/log.ts';
import { type Counted, type Exploration, type Finding } from '../exploration.ts';
import { type ExploredRequest, printRequest } from '../../model/explored-request.ts';

/** The files that a command has written, and the next command. */
export interface Outcome {
  files: readonly string[];
  next: string | null;
}

const longestSession = 200;

/** Renders an exploration for a terminal. Its last lines are a summary that fits on one screen. */
export function renderExplorationText(exploration: Exploration, { files, next }: Outcome): string {
  const { server, sandbox, seed, requests, isCutByTime, findings, unexplored, flaky, sessions } = exploration;
  const name = [server.name ?? 'the server', server.version].filter((part) => part !== null).join(' ');
  const head = [
    `Explored ${name} with seed ${seed} at sandbox level ${sandbox}: ${requests.sent} of ${requests.budget} requests, ${formatCount(sessions.length, 'session')} kept.`,
    ...(isCutByTime ? ['Cut by time: another run may find more. Raise `--time-limit`.'] : []),
  ];
  const list = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', `${title}:`, ...lines]);
  return [
    ...head,
    ...list(
      'Not explored',
      unexplored.map(({ subject, reason }) => `  ${subject}: ${reason}`),
    ),
    ...list(
      'Flaky, and left out',
      flaky.map(({ requests: sent, reason }) => `  ${printSession(sent)}: ${reason}`),
    ),
    ...list('Findings', findings.flatMap(renderFinding)),
    '',
    renderCoverage(exploration.coverage),
    `Findings: ${countFindings(findings)}`,
    ...(files.length === 0 ? [] : [`Files: ${files.join(', ')}`]),
    ...(next === null ? [] : [`Next: ${next}`]),
    '',
  ]
    .map((line) => escapeTerminalText(line))
    .join('\n');
}

function renderFinding({ severity, kind, tool, message, session, waived }: Finding): string[] {
  return [
    `  ${severity}  ${kind}  ${tool ?? 'the server'}: ${message}`,
    // A finding of the start needs no request.
    ...(session.length === 0 ? [] : [`    seen with: ${printSession(session)}`]),
    ...(waived === undefined ? [] : [`    waived: ${waived}`]),
  ];
}

/** Renders the line that says how much was reached. */
export function renderCoverage({ tools, parameters, errorPaths }: Exploration['coverage']): string {
  const print = ({ reached, of }: Counted, noun: string) => `${reached} of ${formatCount(of, noun)}`;
  return `Coverage: ${print(tools, 'tool')}, ${print(parameters, 'parameter')}, ${print(errorPaths, 'error path')}`;
}

/** Counts findings by their severity. */
export function countFindings(findings: readonly Finding[]): string {
  const severities = ['error', 'warning', 'note'] as const;
  const counts = severities.map((severity) => ({
    severity,
    count: findings.filter((finding) => finding.severity === severity && finding.waived === undefined).length,
  }));
  const waived = findings.filter((finding) => finding.waived !== undefined).length;
  const found = [
    ...counts.filter(({ count }) => count > 0).map(({ severity, count }) => formatCount(count, severity)),
    ...(waived === 0 ? [] : [`${waived} waived`]),
  ];
  return found.length === 0 ? 'none' : found.join(', ');
}

/** Prints the requests of a session on one line. */
export function printSession(requests: readonly ExploredRequest[]): string {
  return clipText(requests.map(printRequest).join(', then '), longestSession);
}
