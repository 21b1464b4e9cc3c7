import { stat } from 'node:fs/promises';
import { dirname, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SandboxError } from '../../base/errors.ts';
import { leadsOutOfCheckout, linkOutMessage } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import { silentLogger } from '../../base/logger.ts';
import type { SourceLocation, Suite } from '../../cases/suite.ts';
import type { ModuleSource } from '../../server/check-messages.ts';
import { openSandbox, type SandboxOptions } from '../../server/sandbox/open-sandbox.ts';
import type { GateOptions } from '../options/schema.ts';
import type { BaseTree } from './base-tree.ts';
import type { CiJob } from './ci-job.ts';
import type { LoadedPolicy } from './plan-policy.ts';

/** The modules of all suites, and the processes in which they may run. */
export interface PlannedCheckModules {
  modules: readonly PlannedCheckModule[];
  /** The names of the checks of one's own that suites use. */
  usedNames: readonly string[];
  sandbox: SandboxOptions;
  /** True if the modules may run where the machine makes no sandbox. */
  mayLackSandbox: boolean;
}

interface PlannedCheckModule {
  /** The path relative to the working directory. */
  shown: string;
  /** The first suite that names it. */
  location: SourceLocation;
  source: ModuleSource;
}

interface ModuleContext {
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  ci: Pick<CiJob, 'system' | 'elevatedEvent'>;
  suites: ReadonlyArray<Pick<Suite, 'location' | 'checkModules' | 'ownChecks'>>;
  policy: Pick<LoadedPolicy, 'base' | 'notes'>;
}

const scriptNames = /\.[cm]?[jt]s$/;

/** Plans the check modules of the suites; null if they have none. Reads their files only from a base, and runs nothing of them. */
export async function planCheckModules(
  options: Pick<GateOptions, 'allowUnsandboxedChecks' | 'allowPullRequestTarget' | 'enableSandbox' | 'dryRun'>,
  { suites, ...context }: ModuleContext,
  findings: Findings,
): Promise<PlannedCheckModules | null> {
  const named = new Map<string, SourceLocation>();
  for (const { location, checkModules = [] } of suites) {
    for (const module of checkModules) {
      const shown = posix.join(dirname(location.file).replaceAll('\\', '/'), module.path.replaceAll('\\', '/'));
      if (!named.has(shown)) named.set(shown, module.location);
    }
  }
  const [first] = named.values();
  if (first === undefined) return null;
  const { elevatedEvent } = context.ci;
  if (elevatedEvent === 'pull_request_target' && !options.allowPullRequestTarget) {
    const message =
      'The code of `checkModules` would run on pull_request_target, where it can read what the job has checked out with the token of this repository; use pull_request, or set `allow-pull-request-target`';
    findings.add({ ...first, code: 'pull-request-target', message });
  }
  const modules: PlannedCheckModule[] = [];
  for (const [shown, location] of named) {
    const source = await findSource(shown, { ...context, location }, findings);
    if (source !== null) modules.push({ shown, location, source });
  }
  const planned: PlannedCheckModules = {
    modules,
    usedNames: [...new Set(suites.flatMap(({ ownChecks = [] }) => ownChecks.map(({ use }) => use.name)))],
    sandbox: {
      mode: 'required',
      network: 'off',
      isEnabled: options.enableSandbox,
      writable: [],
      protect: [],
      make: { directories: [], files: [] },
    },
    mayLackSandbox: options.allowUnsandboxedChecks || !isCiJob(context),
  };
  if (!options.dryRun) await checkSandbox(planned, { ...context, location: first }, findings);
  return planned;
}

/** Almost every CI system sets `CI`, those that the gate does not know included. */
function isCiJob({ ci, environment }: Pick<ModuleContext, 'ci' | 'environment'>): boolean {
  return ci.system !== null || !['', '0', 'false'].includes(environment['CI'] ?? '');
}

/** Says before anything starts that the machine makes no sandbox. */
async function checkSandbox(
  { sandbox, mayLackSandbox }: PlannedCheckModules,
  { cwd, environment, location }: Pick<ModuleContext, 'cwd' | 'environment'> & { location: SourceLocation },
  findings: Findings,
): Promise<void> {
  // It says once in a job what `enable-sandbox` changed.
  const logger = {
    ...silentLogger,
    info: (message: string) => findings.remark(message),
    warning: (message: string) => findings.note(message),
  };
  try {
    await using _opened = await openSandbox(sandbox, { cwd, environment, logger });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const why = error.message.replace(/^.*?cannot be met: /, '').replace(/\.$/, '');
    if (mayLackSandbox) {
      findings.note(`The \`checkModules\` of ${location.file} run without a sandbox, with your rights: ${why}.`);
      return;
    }
    const message = `The code of \`checkModules\` needs a sandbox, and this machine makes none: ${why}. Set \`enable-sandbox\` on a hosted Linux runner, or \`allow-unsandboxed-checks\` where you trust every change`;
    findings.add({ ...location, code: 'no-check-sandbox', message });
  }
}

async function findSource(
  shown: string,
  { cwd, policy, location }: Pick<ModuleContext, 'cwd' | 'policy'> & { location: SourceLocation },
  findings: Findings,
): Promise<ModuleSource | null> {
  const refuse = (code: string, message: string) => {
    findings.add({ ...location, code, message });
    return null;
  };
  if (!scriptNames.test(shown)) {
    return refuse(
      'bad-check-module',
      `${JSON.stringify(shown)} is no TypeScript or JavaScript file; name one, such as ./my-checks.ts`,
    );
  }
  const { base } = policy;
  if (base !== null) {
    const source = await readBaseModule(base.tree, shown, findings);
    if (source !== 'missing') return source;
    policy.notes.push(`${base.names.base} has no ${shown} yet, so that the one of this ${base.names.noun} counts.`);
  }
  const path = resolve(cwd, shown);
  const found = await stat(path).catch(() => null);
  if (found?.isFile() !== true) {
    return refuse('no-check-module', `${JSON.stringify(shown)} does not exist; the path is relative to the evals file`);
  }
  if (await leadsOutOfCheckout(shown, cwd)) return refuse('link-out-of-checkout', linkOutMessage);
  return { url: pathToFileURL(path).href, files: null };
}

/** Far more than checks need. Each file is read on its own. */
const maxFiles = 200;

/** The directory of URLs that stands for the working directory, so deep that imports reach the directories above it. */
const baseDirectory = `base:///${'-/'.repeat(16)}`;

/**
 * Reads a module of the base with every file that a relative import in it names. An import that this search does not see finds no file
 * then, and never the file of the change.
 */
async function readBaseModule(
  tree: BaseTree,
  shown: string,
  findings: Findings,
): Promise<ModuleSource | 'missing' | null> {
  const files: Record<string, string> = {};
  const open = [shown];
  const seen = new Set(open);
  for (const path of open) {
    const file = await tree.read(path, findings);
    if (file.kind === 'unreadable') return null;
    if (file.kind === 'missing') continue;
    files[locateInBase(path)] = file.text;
    for (const specifier of listRelativeImports(file.text)) {
      const imported = posix.join(posix.dirname(path), specifier);
      if (seen.has(imported) || seen.size >= maxFiles) continue;
      seen.add(imported);
      open.push(imported);
    }
  }
  const url = locateInBase(shown);
  return Object.hasOwn(files, url) ? { url, files } : 'missing';
}

function locateInBase(path: string): string {
  // The parser escapes the other characters, as it does when an import is resolved.
  return new URL(path.replaceAll(/[%?#]/g, encodeURIComponent), baseDirectory).href;
}

/** Lists texts that look like relative imports. One that is none costs a search for a file that does not exist. */
function listRelativeImports(text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*(["'])(\.{1,2}\/[^"'\n]{1,500})\1/g)].map(
    ([, , path = '']) => path,
  );
}
