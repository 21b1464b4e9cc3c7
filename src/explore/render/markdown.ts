import { renderCodeSpan, renderProse } from '../../report/escape/markdown.ts';
import type { Exploration } from '../exploration.ts';
import { printSession, renderCoverage } from './text.ts';

/** Renders an exploration as Markdown, for an issue or a pull request. */
export function renderExplorationMarkdown({ server, coverage, findings, unexplored, flaky }: Exploration): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, '', ...lines, ''];
  return [
    `# Exploration of ${renderProse(server.name ?? 'the server')}`,
    '',
    `${renderCoverage(coverage)}.`,
    '',
    ...list(
      'Findings',
      findings.map(
        ({ severity, kind, tool, message, session, waived }) =>
          `- **${severity}** ${renderCodeSpan(kind)} ${renderCodeSpan(tool ?? 'the server')}: ${renderProse(message)}${session.length === 0 ? '' : ` Seen with ${renderCodeSpan(printSession(session))}.`}${waived === undefined ? '' : ` Waived: ${renderProse(waived)}`}`,
      ),
    ),
    ...list(
      'Not explored',
      unexplored.map(({ subject, reason }) => `- ${renderCodeSpan(subject)}: ${renderProse(reason)}`),
    ),
    ...list(
      'Flaky',
      flaky.map(({ requests, reason }) => `- ${renderCodeSpan(printSession(requests))}: ${renderProse(reason)}`),
    ),
  ].join('\n');
}
