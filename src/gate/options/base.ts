import type { ConfigurationIssue } from '../../base/errors.ts';
import { openGroup, type OptionValues } from './define-option.ts';
import type { serverOptions } from './server-under-test.ts';
import { lines, optionalSecret, optionalText, withForm, words } from './values.ts';
import type { whatRunsOptions } from './what-runs.ts';

/** A package of a registry. Null for what the files of the project say. */
export interface PackageOption {
  name: string | null;
  version: string | null;
}

/** Settings of the comparison with a base in the same job. */
export interface BaseOption {
  /** True if the merge base is checked out. */
  isGit: boolean;
  /** The last release of the server's package, or the version of a package that is named; null for none. */
  package: PackageOption | null;
  /** The URL of the base's server; null for stdio. */
  url: string | null;
  /** The directory that keeps results of the base; null for none. */
  cachePath: string | null;
  /** The seed for the order of the two sides in each round; null for a random order. */
  seed: number | null;
}

const maxSeed = 2 ** 32 - 1;
const entries = 'git, package, package=<name@version>, url=<url>, cache=<directory> or seed=<number>';

/** Parses `git` and settings of the comparison; null if there is no entry. */
const parsedBase = words.transform((found, context): BaseOption | null => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  const result: BaseOption = { isGit: false, package: null, url: null, cachePath: null, seed: null };
  for (const entry of found) {
    const [, key = entry, value = ''] = /^([a-z]+)=\s*(.*)$/.exec(entry) ?? [];
    const named = key === 'package' ? readPackage(value) : null;
    if (entry === 'git') result.isGit = true;
    else if (entry === 'package') result.package = { name: null, version: null };
    else if (named !== null) result.package = named;
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

/** Reads `name` or `name@version`; null if it is neither. */
function readPackage(text: string): PackageOption | null {
  const [, name, version = null] = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@(\d[\w.+-]*))?$/.exec(text) ?? [];
  return name === undefined ? null : { name, version };
}

const defineOption = openGroup('Baseline and history');

export const baseOptions = {
  base: defineOption({
    schema: withForm(parsedBase, { isList: true }),
    hint: '<git|package|key=value>',
    text: 'Run the base in the same job and compare with it. `git` checks out the merge base, and `package` installs the last release. More lines are possible: `url=` says where the server of the base listens, `cache=` names a directory that keeps results of bases, and `seed=` fixes the order of the runs.',
  }),
  baseServerCommand: defineOption({
    schema: optionalText,
    hint: '<command>',
    text: "The command that starts the base's server. The default is `server-command`, in the checkout of `base: git`.",
  }),
  baseServerCwd: defineOption({
    schema: optionalText,
    hint: '<directory>',
    text: "The directory to start the base's server in. It is relative to the working directory, or to the checkout of `base: git`. The default is `server-cwd`.",
    isFlagOnly: true,
    rules: [
      {
        needs: ['base: git', 'base-server-command'],
        code: 'needs-base',
        message: 'has no effect without a base that is started; set `base-server-command` or `base: git`',
      },
    ],
  }),
  baseCacheKey: defineOption({
    schema: optionalSecret,
    hint: '<key>',
    text: 'A secret that signs the results in the `cache` of `base`. In a pull request, the gate uses no cache without it.',
    variables: ['MCP_EVAL_BASE_CACHE_KEY'],
  }),
  baseSetup: defineOption({
    schema: lines,
    hint: '<command>',
    text: 'Commands to run in the checkout of `base: git` before its server starts, such as `npm ci`. Write one per line. No shell runs them.',
    rules: [
      {
        needs: ['base: git'],
        code: 'needs-base',
        message: 'runs in the checkout of the merge base; set `base: git`, or remove it',
      },
    ],
  }),
};

type Values = OptionValues<typeof baseOptions & typeof serverOptions & typeof whatRunsOptions>;

/** Checks if the options define a base to compare with. */
export function hasBase({ base: given, baseServerCommand }: Pick<Values, 'base' | 'baseServerCommand'>): boolean {
  return (
    baseServerCommand !== null || (given !== null && (given.isGit || given.package !== null || given.url !== null))
  );
}

export const baseChecks = {
  base: (values: Values): ConfigurationIssue[] => {
    const { base: given } = values;
    const issues = hasBase(values) ? findSideProblems(values) : [];
    if (given !== null && given.cachePath !== null && !given.isGit && given.package === null) {
      const message = 'has a `cache`, which is kept by commit or release; add `git` or `package`, or remove it';
      issues.push({ input: 'base', code: 'cache-without-git', message });
    }
    if (given !== null && !hasBase(values)) {
      const message = 'names no base; add `git` or `package`, or set `base-server-command`';
      issues.push({ input: 'base', code: 'missing-base', message });
    }
    return issues;
  },
  baseCacheKey: ({ base: given, baseCacheKey }: Values): ConfigurationIssue[] => {
    if (baseCacheKey === null || given?.cachePath != null) return [];
    const message = 'signs the `cache` of `base`, which is not set; add it, or remove this';
    return [{ input: 'base-cache-key', code: 'needs-base-cache', message }];
  },
};

/** Finds what keeps the two sides from running next to each other. */
function findSideProblems(options: Values): ConfigurationIssue[] {
  const { base: given, baseServerCommand, suite, mcpConfig, serverUrl, serverCommand } = options;
  const issues: ConfigurationIssue[] = [];
  const refuse = (code: string, message: string, input = 'base') => issues.push({ input, code, message });
  const isGit = given?.isGit === true;
  if (suite !== null) {
    refuse(
      'base-without-evals',
      'compares the cases of evals files; a `suite` of the service has its own servers. Give `evals`, or remove `base`',
    );
  }
  if (mcpConfig !== null && (baseServerCommand !== null || given?.url != null)) {
    refuse(
      'mcp-config-and-base',
      'describes one server, and `mcp-config` has its own; use `base: git`, which starts those of the file in its checkout',
      'base-server-command',
    );
  }
  if (mcpConfig === null && given?.url == null && serverUrl !== null && (isGit || baseServerCommand !== null)) {
    refuse(
      'base-needs-url',
      "needs a `url` of its own: the base's server runs next to the one at `server-url`. Start it on another port with `base-server-command`, and add `url=` and that address",
    );
  }
  if (isGit && baseServerCommand === null && serverCommand === null && mcpConfig === null) {
    refuse('base-needs-command', 'checks out the base, and nothing starts its server; set `base-server-command`');
  }
  if (given?.package != null) {
    const other = isGit
      ? '`git`'
      : given.url !== null
        ? '`url`'
        : baseServerCommand !== null
          ? '`base-server-command`'
          : null;
    if (other !== null)
      refuse('two-bases', `names the base twice, by \`package\` and by ${other}; give one of the two`);
    if (serverCommand === null || serverUrl !== null) {
      refuse(
        'package-needs-command',
        'with `package` starts the release with the arguments of `server-command`, over stdio; give `server-command` alone, or `base: git`',
      );
    }
  }
  return issues;
}
