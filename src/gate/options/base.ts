import type { ConfigurationIssue } from '../../base/errors.ts';
import type { Secret } from '../../base/redaction.ts';
import { lines, option, optionalSecret, optionalText, words } from './values.ts';

/** Settings of the comparison with a base in the same job. */
export interface BaseOption {
  /** True if the merge base is checked out. */
  isGit: boolean;
  /** The URL of the base's server; null for stdio. */
  url: string | null;
  /** The directory that keeps results of the base; null for none. */
  cachePath: string | null;
  /** The seed for the order of the two sides in each round; null for a random order. */
  seed: number | null;
}

const maxSeed = 2 ** 32 - 1;
const entries = 'git, url=<url>, cache=<directory> or seed=<number>';

/** Parses `git` and settings of the comparison; null if there is no entry. */
const base = words.transform((found, context): BaseOption | null => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  const result: BaseOption = { isGit: false, url: null, cachePath: null, seed: null };
  for (const entry of found) {
    const [, key = entry, value = ''] = /^([a-z]+)=\s*(.*)$/.exec(entry) ?? [];
    if (entry === 'git') result.isGit = true;
    else if (key === 'url' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')) result.url = value;
    // Does not quote the URL, because it may hold a key.
    else if (key === 'url')
      refuse('has a `url` that is no http or https URL; write one such as http://127.0.0.1:3001/mcp');
    else if (key === 'cache' && value !== '') result.cachePath = value;
    else if (key === 'seed' && /^\d{1,10}$/.test(value) && Number(value) <= maxSeed) result.seed = Number(value);
    else if (key === 'seed')
      refuse(`${JSON.stringify(value)} is not a seed; write a whole number from 0 to ${maxSeed}`);
    else refuse(`${JSON.stringify(entry)} is no entry of it; write ${entries}`);
  }
  return found.length === 0 ? null : result;
});

const group = 'Baseline and history';

export const baseOptions = {
  base: option(base, {
    group,
    hint: '<git|key=value>',
    brief: 'Run the base in the same job: git for the merge base; url=, cache=, seed=.',
    isList: true,
    description:
      'Runs the base in the same job and compares case by case: `git` checks out the merge base. Further lines: `url=`, where its server listens, `cache=` a directory, `seed=`.',
    default: '',
  }),
  baseServerCommand: option(optionalText, {
    group,
    hint: '<command>',
    brief: "Start the base's server with this command.",
    description:
      "The command that starts the base's server. Default: `server-command`, in the checkout of `base: git`.",
    default: '',
  }),
  baseServerCwd: option(optionalText, {
    group,
    hint: '<directory>',
    brief: "Start the base's server in this directory.",
    description:
      "The directory to start the base's server in, relative to the working directory; with `base: git`, in its checkout. Default: `server-cwd`.",
    default: '',
  }),
  baseCacheKey: option(optionalSecret, {
    group,
    hint: '<key>',
    isSecret: true,
    brief: 'The key that signs the `cache` of `base`; better given in the variable MCP_EVAL_BASE_CACHE_KEY.',
    description:
      'A secret that the results in the `cache` of `base` are signed with. In a pull request, the gate uses no cache without it.',
    default: '',
  }),
  baseSetup: option(lines, {
    group,
    hint: '<command>',
    brief: 'Run this in the checkout of the base first; may be given again.',
    isList: true,
    description:
      'Commands to run in the checkout of `base: git` before its server starts, one per line, such as `npm ci`. No shell runs them.',
    default: '',
  }),
};

/** The options about the base. */
export interface BaseOptions {
  base: BaseOption | null;
  baseServerCommand: string | null;
  baseServerCwd: string | null;
  baseCacheKey: Secret | null;
  baseSetup: readonly string[];
}

/** Checks if the options define a base to compare with. */
export function hasBase({ base: given, baseServerCommand }: Pick<BaseOptions, 'base' | 'baseServerCommand'>): boolean {
  return baseServerCommand !== null || (given !== null && (given.isGit || given.url !== null));
}

const issue = (input: string, code: string, message: string): ConfigurationIssue => ({ input, code, message });

/** Finds contradictions between the options about the base. */
export function findBaseIssues(
  options: BaseOptions & {
    suite: string | null;
    serverCommand: string | null;
    serverUrl: string | null;
    mcpConfig: unknown;
  },
): ConfigurationIssue[] {
  const { base: given, baseServerCommand, baseServerCwd, baseSetup, suite, mcpConfig } = options;
  const isGit = given?.isGit === true;
  const issues: ConfigurationIssue[] = [];
  if (!isGit && baseSetup.length > 0) {
    issues.push(
      issue('base-setup', 'needs-base', 'runs in the checkout of the merge base; set `base: git`, or remove it'),
    );
  }
  if (!isGit && given?.cachePath != null) {
    issues.push(issue('base', 'cache-without-git', 'has a `cache`, which is kept by commit; add `git`, or remove it'));
  }
  if (options.baseCacheKey !== null && given?.cachePath == null) {
    issues.push(
      issue(
        'base-cache-key',
        'needs-base-cache',
        'signs the `cache` of `base`, which is not set; add it, or remove this',
      ),
    );
  }
  if (baseServerCwd !== null && !isGit && baseServerCommand === null) {
    issues.push(
      issue(
        'base-server-cwd',
        'needs-base',
        'has no effect without a base that is started; set `base-server-command` or `base: git`',
      ),
    );
  }
  if (!hasBase(options)) {
    if (given !== null)
      issues.push(issue('base', 'missing-base', 'names no base; add `git`, or set `base-server-command`'));
    return issues;
  }
  if (suite !== null) {
    issues.push(
      issue(
        'base',
        'base-without-evals',
        'compares the cases of evals files; a `suite` of the service has its own servers. Give `evals`, or remove `base`',
      ),
    );
  }
  if (mcpConfig !== null && (baseServerCommand !== null || given?.url != null)) {
    issues.push(
      issue(
        'base-server-command',
        'mcp-config-and-base',
        'describes one server, and `mcp-config` has its own; use `base: git`, which starts those of the file in its checkout',
      ),
    );
  }
  if (mcpConfig === null && given?.url == null && options.serverUrl !== null && (isGit || baseServerCommand !== null)) {
    issues.push(
      issue(
        'base',
        'base-needs-url',
        "needs a `url` of its own: the base's server runs next to the one at `server-url`. Start it on another port with `base-server-command`, and add `url=` and that address",
      ),
    );
  }
  if (isGit && baseServerCommand === null && options.serverCommand === null && mcpConfig === null) {
    issues.push(
      issue(
        'base',
        'base-needs-command',
        'checks out the base, and nothing starts its server; set `base-server-command`',
      ),
    );
  }
  return issues;
}
