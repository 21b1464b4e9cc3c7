import { existsSync } from 'node:fs';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import { createFindings } from '../base/findings.ts';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import type { Redactor } from '../base/redaction.ts';
import { formatCount } from '../base/text.ts';
import { draftEvals } from '../explore/draft/draft-evals.ts';
import type { Exploration, Finding, FindingSeverity } from '../explore/exploration.ts';
import { waiveFindings } from '../explore/findings/waive-findings.ts';
import { renderExplorationMarkdown } from '../explore/render/markdown.ts';
import { renderExplorationText } from '../explore/render/text.ts';
import { generatedWorkspace } from '../explore/world/generated-files.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import type { GateOptions } from '../gate/options/schema.ts';
import { readPolicyOption } from '../gate/plan/plan-policy.ts';
import { planOneServer } from '../gate/reach-server.ts';
import { applyExploreDefaults, type ExplorePolicy } from '../model/explore-policy.ts';
import { joinCommand } from '../server/split-command.ts';
import { readWorkspace } from '../workspace/workspace.ts';
import { createStderrLogger, redactText } from './command-logger.ts';
import { explorePlanned, readExplorationFlags } from './explore-planned.ts';
import type { ExplorationFlags } from './exploration-flags.ts';

export interface ExploreFlags extends ExplorationFlags {
  format: 'text' | 'json' | 'markdown';
  write?: string;
  corpus?: string;
  findingsOnly?: true;
  severity?: FindingSeverity;
}

/** Explores the server that the flags describe, writes files and prints the result; returns the exit code. */
export async function runExplore(
  flags: ExploreFlags,
  texts: Record<string, string>,
  redactor: Redactor,
): Promise<number> {
  const cwd = process.cwd();
  const numbers = readExplorationFlags(flags);
  checkTargets(flags);
  const gateOptions = parseDoctorOptions(texts);
  const policy = await readExplorePolicy(gateOptions, cwd);
  const server = await planOneServer(gateOptions, { cwd, environment: process.env });
  const { command } = server;
  if (command === null || server.url !== null) throw refuseUrl();
  const workspace = flags.workspace === undefined ? generatedWorkspace : await readWorkspace(flags.workspace, cwd);
  const signal = listenForInterrupts(process, (code) => process.exit(code));
  const explored = await explorePlanned(
    { ...server, command },
    {
      ...numbers,
      call: flags.call ?? null,
      sandbox: gateOptions.sandbox,
      isSandboxEnabled: gateOptions.enableSandbox,
      workspace,
      redactor,
      signal,
    },
  );
  const { findings, unused } = waiveFindings(explored.findings, policy);
  const logger = createStderrLogger(redactor);
  for (const { kind, tool, source: where } of unused) {
    logger.warning(`${where}: no finding is ${kind} of ${tool ?? 'the server'}; remove the waiver.`);
  }
  const exploration = { ...explored, findings };
  const files = writeFiles(exploration, flags, cwd);
  const next =
    flags.write === undefined
      ? '`--write evals/explored.evals.yaml` writes evals from this'
      : `mcp-eval-ci run --evals ${joinCommand([flags.write])} --server-command ${joinCommand([command])}${nameOwnParts(texts)}`;
  process.stdout.write(redactText(render(exploration, flags, { files, next }), redactor));
  return judge(exploration, flags, policy);
}

/** @throws {ConfigurationError} with every problem of the policy file */
async function readExplorePolicy({ policy: written }: GateOptions, cwd: string): Promise<ExplorePolicy> {
  const findings = createFindings();
  const policy = await readPolicyOption(written, cwd, findings);
  findings.throwIfAny();
  return applyExploreDefaults(policy?.gate.explore ?? null);
}

/** Names what a run of the written file needs in addition: it starts the server outside of a world. */
function nameOwnParts({ 'server-env': variables, ...texts }: Record<string, string>): string {
  const parts = [
    ...(variables === undefined ? [] : ['your `--server-env`']),
    ...([variables, ...Object.values(texts)].some((text) => text?.includes('{{workspace}}') === true)
      ? ['your directory instead of `{{workspace}}`']
      : []),
  ];
  return parts.length === 0 ? '' : `, with ${parts.join(' and ')}`;
}

/** From the least to the worst. */
const severities: readonly FindingSeverity[] = ['note', 'warning', 'error'];

/** Refuses existing files before anything starts. */
function checkTargets({ write, corpus }: ExploreFlags): void {
  const issues = Object.entries({ write, corpus }).flatMap(([input, path]): ConfigurationIssue[] =>
    path !== undefined && existsSync(path)
      ? [
          {
            input,
            code: 'file-exists',
            message: `${path} exists, and stays as it is; choose another path or remove it`,
          },
        ]
      : [],
  );
  if (issues.length > 0) throw new ConfigurationError(issues);
}

function refuseUrl(): ConfigurationError {
  const message =
    'explore starts the server itself, over stdio, in copies of a workspace; give `--server-command` without `--server-url`';
  return new ConfigurationError([{ input: 'server-url', code: 'needs-command', message }]);
}

function writeFiles(exploration: Exploration, { write, corpus }: ExploreFlags, cwd: string): string[] {
  const files: string[] = [];
  if (write !== undefined) {
    const { text, cases, left } = draftEvals(exploration);
    writeOutput(write, text, { root: findOutputRoot(write, cwd) });
    const reasons = Map.groupBy(left, ({ reason }) => reason);
    const without = [...reasons].map(
      ([reason, each]) =>
        `left out: ${formatCount(each.length, 'session')} that ${each.length === 1 ? reason.replace(/^need/, 'needs').replace(/^are/, 'is') : reason}`,
    );
    files.push([`${write} with ${formatCount(cases, 'case')}`, ...without].join('; '));
  }
  if (corpus !== undefined) {
    writeOutput(corpus, `${JSON.stringify(exploration, null, 2)}\n`, { root: findOutputRoot(corpus, cwd) });
    files.push(corpus);
  }
  return files;
}

function render(
  exploration: Exploration,
  { format }: ExploreFlags,
  outcome: { files: string[]; next: string },
): string {
  if (format === 'json') return `${JSON.stringify(exploration, null, 2)}\n`;
  return format === 'markdown' ? renderExplorationMarkdown(exploration) : renderExplorationText(exploration, outcome);
}

/** Returns 1 with `--findings-only` if a finding fails: by `--severity`, or else by the policy. */
function judge(
  { findings }: Exploration,
  { findingsOnly, severity: least }: ExploreFlags,
  policy: ExplorePolicy,
): number {
  const fails = ({ severity }: Finding) =>
    least === undefined ? policy[severity].value === 'fail' : severities.indexOf(severity) >= severities.indexOf(least);
  const isMet = findings.some((finding) => finding.waived === undefined && fails(finding));
  return findingsOnly === true && isMet ? 1 : 0;
}
