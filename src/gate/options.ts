import { z } from 'zod';
import { ConfigurationError, type ConfigurationIssue } from '../base/errors.ts';
import {
  duration,
  environment,
  flag,
  isolation,
  lines,
  optionalDocument,
  optionalPassRate,
  optionalRuns,
  optionalText,
  words,
} from './option-values.ts';

/** What the documentation, the action's metadata and the command's help say about one option. */
interface OptionMeta {
  group: OptionGroup;
  /** How the value is written, for the help of the command: `<glob>`. */
  hint: string;
  /** One short sentence, for the help of the command. */
  brief: string;
  /** Whether the value is a list, to which a flag that is given again adds a line. */
  isList?: true;
  /** Full sentences: what it does, the format, the default, what it excludes. */
  description: string;
  /** The text that stands for an absent value; empty where absence means something of its own. */
  default: string;
}

export type OptionGroup = 'What runs' | 'The server under test' | 'The verdict' | 'Reports';

const optionMetas = z.registry<OptionMeta>();

function option<T extends z.ZodType>(schema: T, meta: OptionMeta): T {
  // A clone, since options of the same kind share a schema and the registry is keyed by it.
  const own = schema.clone();
  optionMetas.add(own, meta);
  return own;
}

/**
 * Every option of the gate: the keys are those of `GateOptions`, and the same words in kebab-case are the action's inputs
 * and the command's flags. Each value is read from text, whoever passes it.
 */
const gateOptionsSchema = z.object({
  evals: option(lines, {
    group: 'What runs',
    hint: '<glob>',
    brief: 'Evals files to run; may be given again.',
    isList: true,
    description:
      'Evals files to run, as one path or glob pattern per line, relative to the working directory, such as `evals/*.evals.yaml`. Every file is one suite. Either this or `tests` is required.',
    default: '',
  }),
  tests: option(optionalDocument, {
    group: 'What runs',
    hint: '<yaml>',
    brief: 'Evals written in place, as YAML.',
    description:
      'Evals written in place: a YAML list of cases, or the whole text of an evals file. May be given together with `evals`; the inline suite then runs last. Default: none.',
    default: '',
  }),
  cases: option(words, {
    group: 'What runs',
    hint: '<id,…>',
    brief: 'Run only the cases with these ids or titles.',
    isList: true,
    description:
      'Runs only the cases with these ids or exact titles, separated by commas or line breaks. A name that matches no case is an error. A title that holds a comma is named by its id. Default: all cases.',
    default: '',
  }),
  tags: option(words, {
    group: 'What runs',
    hint: '<tag,…>',
    brief: 'Run only the cases with one of these tags.',
    isList: true,
    description:
      'Runs only the cases that carry at least one of these tags, separated by commas or line breaks. Combines with `cases`: a case must satisfy both. Default: all cases.',
    default: '',
  }),
  runs: option(optionalRuns, {
    group: 'What runs',
    hint: '<n>',
    brief: 'Run every case this often, 1 to 100.',
    description:
      'How often every case is run, a whole number from 1 to 100, in place of what the evals files say. Default: what the evals files say, which is 1 unless they say otherwise.',
    default: '',
  }),
  serverCommand: option(optionalText, {
    group: 'The server under test',
    hint: '<command>',
    brief: 'Start the server with this command. No shell reads it, and the server is spoken to over stdio.',
    description:
      "The command that starts the MCP server, such as `node build/index.js`. It is split into words as a POSIX shell would, but no shell runs it; write `bash -c '…'` where you need one. The server is spoken to over stdio, unless `server-url` says where it listens. Either this or `server-url` is required.",
    default: '',
  }),
  serverUrl: option(optionalText, {
    group: 'The server under test',
    hint: '<url>',
    brief: 'Where the server listens on HTTP. Alone, it names a server that runs already.',
    description:
      'The http or https URL of the MCP endpoint (streamable HTTP), such as `http://127.0.0.1:3000/mcp`. Alone, it names a server that you started yourself; together with `server-command`, it says where the started server listens.',
    default: '',
  }),
  serverEnv: option(environment, {
    group: 'The server under test',
    hint: '<NAME=value>',
    brief: 'Set a variable of the server, or pass one on by its name; may be given again.',
    isList: true,
    description:
      'Environment variables for the server, one per line: `NAME=value` sets one, `NAME` alone passes the variable of the job through. The server otherwise sees only harmless variables such as PATH and HOME, never secrets of the job. Only valid with `server-command`. Default: none.',
    default: '',
  }),
  serverCwd: option(optionalText, {
    group: 'The server under test',
    hint: '<directory>',
    brief: 'Start the server in this directory.',
    description:
      'The directory the server is started in, relative to the working directory. Only valid with `server-command`. Default: the working directory.',
    default: '',
  }),
  serverReadyTimeout: option(duration, {
    group: 'The server under test',
    hint: '<duration>',
    brief: 'How long the server may take to answer.',
    description:
      'How long the server may take until it answers an MCP `initialize` or `server/discover`, as a number and a unit (`ms`, `s`, `m`, `h`). A server that does not is reported with its last words, and no eval is run.',
    default: '60s',
  }),
  isolation: option(isolation, {
    group: 'The server under test',
    hint: '<iteration|run>',
    brief: 'Give every iteration a fresh session, or keep one process for the whole run.',
    description:
      'What iterations share. `iteration` gives each one a fresh MCP session, which over stdio is a fresh process. `run` keeps one stdio process for the whole run and serves the sessions on it one after another, for servers that are slow to start and keep no state.',
    default: 'iteration',
  }),
  minPassRate: option(optionalPassRate, {
    group: 'The verdict',
    hint: '<percent>',
    brief: 'The share of iterations that must pass in every suite, such as 90%.',
    description:
      'The share of iterations that must pass in every suite, as a percentage such as `90%` or `90`, in place of what the evals files say. A bare number above 0 and up to 1 is refused, because it could mean a fraction. Default: what the evals files say, which is 100% unless they say otherwise.',
    default: '',
  }),
  timeout: option(duration, {
    group: 'The verdict',
    hint: '<duration>',
    brief: 'How long everything may take.',
    description:
      'How long the whole gate may take, as a number and a unit (`ms`, `s`, `m`, `h`). When it runs out, the run is cancelled and the verdict is inconclusive.',
    default: '30m',
  }),
  reportDir: option(optionalText, {
    group: 'Reports',
    hint: '<directory>',
    brief: 'Where report.json and junit.xml are written.',
    description:
      'The directory that report.json and junit.xml are written to, relative to the working directory. It is created when missing.',
    default: 'mcp-eval-report',
  }),
  annotations: option(flag, {
    group: 'Reports',
    hint: '<true|false>',
    brief: 'Annotate failing cases, in a GitHub workflow.',
    description:
      "Whether failing cases are annotated at their line in the evals file. `true` or `false`. Annotations are GitHub's; elsewhere nothing is printed.",
    default: 'true',
  }),
  summary: option(flag, {
    group: 'Reports',
    hint: '<true|false>',
    brief: 'Add to the job summary, in a GitHub workflow.',
    description:
      "Whether the verdict and its details are added to the job summary. `true` or `false`. Job summaries are GitHub's; elsewhere nothing is written.",
    default: 'true',
  }),
});

/** The gate's options, parsed: durations in milliseconds, rates as fractions, null for "not given". */
export type GateOptions = z.output<typeof gateOptionsSchema>;

export interface OptionDescription extends OptionMeta {
  /** Kebab-case: the action's input and, after two dashes, the command's flag. */
  name: string;
}

/** Describes every option in the order in which people should read them. */
export function listOptions(): OptionDescription[] {
  return Object.entries(gateOptionsSchema.shape).flatMap(([key, schema]) => {
    const meta = optionMetas.get(schema);
    return meta === undefined ? [] : [{ ...meta, name: toOptionName(key) }];
  });
}

/**
 * Reads the texts of an action's inputs or a command's flags, keyed by kebab-case name, into options. An absent or
 * blank value means the default.
 *
 * @throws {ConfigurationError} with every problem of every option.
 */
export function parseGateOptions(texts: Readonly<Record<string, string | undefined>>): GateOptions {
  const descriptions = listOptions();
  const parsed = gateOptionsSchema.safeParse(
    Object.fromEntries(
      descriptions.map(({ name, default: fallback }) => {
        const text = texts[name] ?? '';
        return [toOptionKey(name), text.trim() === '' ? fallback : text];
      }),
    ),
  );
  const issues = [
    ...(parsed.success ? [] : parsed.error.issues.map(toConfigurationIssue)),
    ...(parsed.success ? findContradictions(parsed.data) : []),
  ];
  if (!parsed.success || issues.length > 0) throw new ConfigurationError(issues);
  return parsed.data;
}

function findContradictions(options: GateOptions): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = [];
  const add = (input: string, code: string, message: string) => issues.push({ input, code, message });
  if (options.evals.length === 0 && options.tests === null) {
    add('evals', 'missing-evals', 'nothing to run; give `evals` (a path or glob) or `tests` (cases written in place)');
  }
  if (options.serverCommand === null && options.serverUrl === null) {
    add(
      'server-command',
      'missing-server',
      'no server to test; give `server-command` to start one or `server-url` to name one',
    );
  }
  if (options.serverCommand === null && options.serverEnv.size > 0) {
    add(
      'server-env',
      'needs-server-command',
      'has no effect without `server-command`; remove it or start the server here',
    );
  }
  if (options.serverCommand === null && options.serverCwd !== null) {
    add(
      'server-cwd',
      'needs-server-command',
      'has no effect without `server-command`; remove it or start the server here',
    );
  }
  if (options.serverUrl !== null && !/^https?:$/.test(URL.parse(options.serverUrl)?.protocol ?? '')) {
    // The URL may hold a key, so it is not quoted.
    add('server-url', 'bad-url', 'is not an http or https URL; write one such as http://127.0.0.1:3000/mcp');
  }
  return issues;
}

function toConfigurationIssue(zodIssue: z.core.$ZodIssue): ConfigurationIssue {
  const input = toOptionName(String(zodIssue.path[0]));
  return { input, code: `bad-${input}`, message: zodIssue.message };
}

function toOptionName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toOptionKey(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
