import { type Command, Option } from 'commander';
import { listOptions, type OptionDescription } from '../gate/options/list.ts';

/** The variables that hold secrets if no flag does. Every user of the machine can see flags. */
const secretVariables: Readonly<Record<string, readonly string[]>> = {
  'api-key': ['MCP_EVAL_API_KEY'],
  'base-cache-key': ['MCP_EVAL_BASE_CACHE_KEY'],
  'server-headers': ['MCP_EVAL_SERVER_HEADERS'],
  'server-oauth-secret': ['MCP_EVAL_SERVER_OAUTH_SECRET'],
  'github-token': ['GITHUB_TOKEN', 'GH_TOKEN'],
};

/** Options that start or reach a single server. */
const serverOptionNames: ReadonlySet<string> = new Set([
  'server-command',
  'server-url',
  'server-headers',
  'server-oauth',
  'server-oauth-secret',
  'oauth-token-origin',
  'server-env',
  'allow-env-hosts',
  'server-cwd',
  'server-ready-timeout',
]);

/** Lists the options of a command that starts or reaches a server and runs no evals. `others` are added to them. */
export function listServerOptions(...others: string[]): OptionDescription[] {
  const names = new Set([...serverOptionNames, ...others]);
  const options = listOptions().filter(({ name }) => names.delete(name));
  if (names.size > 0) throw new Error(`There is no option ${[...names].join(', ')}.`);
  return options;
}

/** Adds options of the gate to a command, as flags with the same names. */
export function addGateOptions(command: Command, options: readonly OptionDescription[]): void {
  for (const { name, group, hint, brief, isList, default: fallback, runnerDefault } of options) {
    const option = new Option(`--${name} ${hint}`, fallback === '' ? brief : `${brief} [${fallback}]`)
      // A repeated list flag adds a line, as in the action's inputs. The last value of any other flag applies.
      .argParser((value: string, earlier: string | undefined) =>
        isList !== true || earlier === undefined ? value : `${earlier}\n${value}`,
      )
      .helpGroup(`${group}:`);
    // Hides options that the runner fills in, because people need not set them.
    command.addOption(option.hideHelp(runnerDefault !== undefined));
  }
}

/** Reads the flags of a command into the texts of the gate's options. Absent flags are empty. */
export function readGateFlags(
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
  options: readonly OptionDescription[],
): Record<string, string> {
  const texts = readTexts(flags, options);
  for (const [name, variables] of Object.entries(secretVariables)) {
    texts[name] ||= variables.map((variable) => environment[variable]).find((value) => value) ?? '';
  }
  return texts;
}

/** Reads flags by the names of options. Absent flags are empty. */
function readTexts(
  flags: Readonly<Record<string, unknown>>,
  options: ReadonlyArray<{ name: string }>,
): Record<string, string> {
  return Object.fromEntries(
    options.map(({ name }) => {
      const value = flags[name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
      return [name, typeof value === 'string' ? value : ''];
    }),
  );
}
