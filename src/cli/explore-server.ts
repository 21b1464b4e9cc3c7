import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigurationError } from '../base/errors.ts';
import { isDirectory, readTextFile } from '../base/files.ts';
import { findOutputRoot, writeOutput } from '../base/output-files.ts';
import type { Redactor } from '../base/redaction.ts';
import { formatCount } from '../base/text.ts';
import { isPrivateName } from '../explore/draft/checks.ts';
import { draftEvals, renderDrafted } from '../explore/draft/draft-evals.ts';
import type { Exploration, Finding, FindingSeverity } from '../explore/exploration.ts';
import { type EarlierCorpus, readCorpus } from '../explore/read-corpus.ts';
import { renderExplorationMarkdown } from '../explore/render/markdown.ts';
import { renderExplorationText } from '../explore/render/text.ts';
import { generateFiles } from '../explore/world/generated-files.ts';
import { openExploration } from '../gate/explore-planned.ts';
import { listenForInterrupts } from '../gate/host-process.ts';
import { parseDoctorOptions } from '../gate/options.ts';
import type { PlannedServer } from '../gate/plan/plan-server.ts';
import type { ExplorePolicy } from '../model/explore-policy.ts';
import { chooseDraftChecks } from '../mutate/choose-draft-checks.ts';
import { joinCommand } from '../server/split-command.ts';
import { emptyName, keepWorkspace, nameWorkspace, workspaceDirectory } from '../workspace/workspace.ts';
import { createStderrLogger, redactText } from './command-logger.ts';
import { exploreOnTerminal, readExplorationFlags } from './explore-planned.ts';
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
  const earlier = await readEarlier(flags);
  const gateOptions = parseDoctorOptions(texts);
  const kept = await findKept(flags);
  const planned = await openExploration(gateOptions, {
    cwd,
    environment: process.env,
    workspace: flags.workspace ?? null,
    kept,
    call: flags.call ?? 'ask',
  });
  const { server, policy } = planned;
  const signal = listenForInterrupts(process, (code) => process.exit(code));
  const explored = await exploreOnTerminal(server, {
    ...planned,
    ...numbers,
    safeTools: flags.safeTool,
    earlier,
    redactor,
    signal,
  });
  const { exploration, unused } = planned.waive(explored);
  const logger = createStderrLogger(redactor);
  for (const { kind, tool, source: where } of unused) {
    logger.warning(`${where}: no finding is ${kind} of ${tool ?? 'the server'}; remove the waiver.`);
  }
  const files = await writeFiles(exploration, flags, { cwd, kept, hasWorlds: server.url === null });
  const next =
    flags.write === undefined
      ? '`--write evals/explored.evals.yaml` writes evals from this'
      : !existsSync(flags.write)
        ? '`--format json` prints all that was found'
        : `mcp-eval-ci run --evals ${joinCommand([flags.write])} ${nameServer(server)}${nameVariables(texts)}`;
  process.stdout.write(redactText(render(exploration, flags, { files, next }), redactor));
  return judge(exploration, flags, policy);
}

/** Names the variables that a run of the written file needs, too, without their values, which may be secrets. */
function nameVariables({ 'server-env': variables = '' }: Record<string, string>): string {
  return variables === '' ? '' : ', with your `--server-env`';
}

/** From the least to the worst. */
const severities: readonly FindingSeverity[] = ['note', 'warning', 'error'];

/** Refuses an existing evals file before anything starts. */
function checkTargets({ write }: ExploreFlags): void {
  if (write === undefined || !existsSync(write)) return;
  const message = `${write} exists, and stays as it is; choose another path or remove it`;
  throw new ConfigurationError([{ input: 'write', code: 'file-exists', message }]);
}

/** @throws {ConfigurationError} if the file of `--corpus` exists, and is no exploration */
async function readEarlier({ corpus }: ExploreFlags): Promise<EarlierCorpus | null> {
  if (corpus === undefined || !existsSync(corpus)) return null;
  const earlier = readCorpus(await readTextFile(corpus));
  if (earlier !== null) return earlier;
  const message = `${corpus} exists, and is no exploration of this version; choose another path or remove it`;
  throw new ConfigurationError([{ input: 'corpus', code: 'no-corpus', message }]);
}

/** Writes the flags that name the server. */
function nameServer({ command, url }: PlannedServer): string {
  return [
    ...(command === null ? [] : [`--server-command ${joinCommand([command])}`]),
    ...(url === null ? [] : [`--server-url ${joinCommand([url])}`]),
  ].join(' ');
}

/** Finds the files next to the evals file, which an earlier exploration wrote; null if there are none. */
async function findKept({ write }: ExploreFlags): Promise<string | null> {
  const path = write === undefined ? null : join(dirname(write), workspaceDirectory);
  return path !== null && (await isDirectory(path)) ? path : null;
}

async function writeFiles(
  exploration: Exploration,
  flags: ExploreFlags,
  { cwd, kept, hasWorlds }: { cwd: string; kept: string | null; hasWorlds: boolean },
): Promise<string[]> {
  const { write, corpus } = flags;
  const files: string[] = [];
  if (write !== undefined) {
    const { cases: drafts, findings, left, needsWorkspace } = draftEvals(exploration, { hasWorlds });
    const cases = await chooseDraftChecks(drafts, {
      listSteps: ({ steps }) => steps,
      tools: null,
      isPrivate: isPrivateName,
    });
    const reasons = Map.groupBy(left, ({ reason }) => reason);
    const without = [...reasons].map(
      ([reason, each]) =>
        `left out: ${formatCount(each.length, 'session')} that ${each.length === 1 ? reason.replace(/^need/, 'needs').replace(/^are/, 'is') : reason}`,
    );
    if (cases.length + findings.length === 0)
      files.push(['no evals, since no session is a case', ...without].join('; '));
    else {
      const used = flags.workspace ?? kept;
      const target = join(dirname(write), workspaceDirectory);
      // Each world had a directory and a HOME of its own, which a suite without the key does not give.
      const key = needsWorkspace ? nameWorkspace(used ?? target, dirname(write)) : emptyName;
      const text = renderDrafted(exploration, { cases, findings, workspace: hasWorlds ? key : null });
      writeOutput(write, text, { root: findOutputRoot(write, cwd) });
      const isNew = needsWorkspace && used === null;
      if (isNew) await keepWorkspace((await generateFiles(exploration.addedFiles ?? [])).workspace, target);
      const written = `${write} with ${formatCount(cases.length, 'case')}${isNew ? `, ${target}/` : ''}`;
      files.push([written, ...without].join('; '));
    }
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
