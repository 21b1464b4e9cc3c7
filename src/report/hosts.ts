import type { HostsComparison } from '../model/hosts-comparison.ts';
import type { HostsReport } from '../model/hosts-report.ts';
import { screen, trim } from './document/fit.ts';
import { composeHostFindings } from './document/host-findings.ts';
import { composeHosts } from './document/hosts.ts';
import { renderMarkdown } from './markdown.ts';
import { renderTerminalBlocks, type TerminalOptions } from './terminal.ts';

const detail = { ...screen, rows: Infinity };

/** Renders what hosts make of servers for a terminal. */
export function renderHostsText(report: HostsReport, options: TerminalOptions): string {
  const section = { name: 'hosts', blocks: composeHosts(report, 'numbers') } as const;
  return renderTerminalBlocks(trim([section], detail), detail, options);
}

/** Renders what hosts make of servers as Markdown. */
export function renderHostsMarkdown(report: HostsReport): string {
  const section = { name: 'hosts', blocks: composeHosts(report, 'ids') } as const;
  return renderMarkdown(trim([section], detail), { detail, depth: 1 });
}

/** Renders what a change makes worse and better in hosts for a terminal. */
export function renderComparedHostsText(hosts: HostsComparison, options: TerminalOptions): string {
  const section = { name: 'hosts', blocks: composeHostFindings(hosts) } as const;
  return renderTerminalBlocks(trim([section], detail), detail, options);
}

/** Renders what a change makes worse and better in hosts as Markdown. */
export function renderComparedHostsMarkdown(hosts: HostsComparison): string {
  const section = { name: 'hosts', blocks: composeHostFindings(hosts) } as const;
  return renderMarkdown(trim([section], detail), { detail, depth: 1 });
}
