import { z } from 'zod';
import type { ConfigurationIssue } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { joinCommand } from '../../server/split-command.ts';
import { findHeaderProblem } from '../../base/written-headers.ts';
import { explainIssues } from '../../suite/explain-issues.ts';
import { suggestNearest } from '../../suite/findings.ts';
import { type DocumentPath, parseSource, type SourceDocument } from '../../suite/source-document.ts';

const texts = z.record(z.string(), z.string());

/** Ignores other keys: clients keep their own settings next to these. */
const entrySchema = z.object({
  type: z.enum(['stdio', 'http', 'streamable-http', 'sse']).optional(),
  command: z.string().optional(),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: z.string().optional(),
  url: z.string().optional(),
  headers: texts.default({}),
});
type Entry = z.infer<typeof entrySchema>;

/** VS Code uses `servers`. */
const rootKeys = ['mcpServers', 'servers'] as const;

/** A server of the file, with its variables filled in. */
export interface McpConfigServer {
  name: string;
  /** A command that `splitCommand` splits into the words of the file; null for a server that runs elsewhere. */
  command: string | null;
  url: string | null;
  /** True if the file says that it speaks HTTP+SSE. */
  isSse: boolean;
  /** Relative to the directory of the file; null for that directory. */
  cwd: string | null;
  environment: ReadonlyMap<string, string>;
  headers: ReadonlyMap<string, string>;
  /** The variables in its URL and headers. They are sent to the server, wherever it runs. */
  sentVariables: ReadonlySet<string>;
}

export interface McpConfigReading {
  /** Empty if there are issues. */
  servers: McpConfigServer[];
  issues: readonly ConfigurationIssue[];
  /** One sentence each. */
  warnings: string[];
}

/** Finds the value of a variable: `withheld` if the job has it and does not pass it on; undefined if it is not set. */
export type FindVariable = (name: string) => { value: string } | 'withheld' | undefined;

/**
 * Reads the file in which clients of MCP list their servers, and reports everything that is wrong with it at once. Returns the servers in
 * `names`, in the order of the file; without names, all servers of the file. Never throws, whatever the text.
 */
export function readMcpConfig(
  text: string,
  { file, names, findVariable }: { file: string; names: readonly string[]; findVariable: FindVariable },
): McpConfigReading {
  const { document, findings } = parseSource(text, file);
  const fail = (more: readonly ConfigurationIssue[]) => ({ servers: [], issues: more, warnings: [] });
  if (document === null || findings.length > 0) return fail(explainUnreadable(findings));
  const { value: root } = document;
  const rootKey = rootKeys.find((key) => isRecord(root) && key in root);
  if (rootKey === undefined) {
    const message = 'The key `mcpServers` is missing; write the servers below it, each with a `command` or a `url`';
    return fail([{ ...document.locateValue([]), code: 'missing-key', message }]);
  }
  const schema = z.object({ [rootKey]: z.record(z.string(), entrySchema) });
  const parsed = schema.safeParse(root);
  if (!parsed.success) return fail(explainIssues(schema, document, parsed.error.issues));
  const written = parsed.data[rootKey] ?? {};
  const known = Object.keys(written);
  if (known.length === 0) {
    const message = 'The file lists no server; add one, or name another file';
    return fail([{ ...document.locateKey([rootKey]), code: 'no-servers', message }]);
  }
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const describe = (name: string) => `${file} has no server ${JSON.stringify(name)}${suggestNearest(name, known)}`;
    return fail(unknown.map((name) => ({ input: 'mcp-config', code: 'unknown-server', message: describe(name) })));
  }
  const chosen = known.filter((name) => names.length === 0 || names.includes(name));
  const readings = chosen.map((name) =>
    readEntry(name, written[name] ?? entrySchema.parse({}), { document, path: [rootKey, name], findVariable }),
  );
  const issues = readings.flatMap((reading) => reading.issues);
  const warnings = readings.flatMap((reading) => reading.warnings);
  return { servers: issues.length > 0 ? [] : readings.map(({ server }) => server), issues, warnings };
}

/** Reports only the first finding if the file is no valid JSON, since the others follow from it. */
function explainUnreadable([first, ...others]: readonly ConfigurationIssue[]): ConfigurationIssue[] {
  if (first?.code === 'empty-file') {
    return [{ ...first, message: 'The file is empty; write `mcpServers` and the servers below it' }, ...others];
  }
  if (first?.code !== 'yaml-syntax') return first === undefined ? [] : [first, ...others];
  return [{ ...first, code: 'json-syntax', message: `The file is not valid JSON. ${first.message}` }];
}

interface EntrySource {
  document: SourceDocument;
  path: DocumentPath;
  findVariable: FindVariable;
}

function readEntry(name: string, entry: Entry, source: EntrySource) {
  const { document, path } = source;
  const issues: ConfigurationIssue[] = [];
  const warnings: string[] = [];
  const report = (at: DocumentPath, code: string, message: string) =>
    issues.push({ ...document.locateValue([...path, ...at]), code, message });
  const sentVariables = new Set<string>();
  const fill = (text: string, at: DocumentPath): string =>
    fillVariables(text, {
      findVariable: (variable) => {
        if (at[0] === 'url' || at[0] === 'headers') sentVariables.add(variable);
        return source.findVariable(variable);
      },
      fail: (code, message) => report(at, code, message),
      warn: (message) => warnings.push(`${describePlace(document, [...path, ...at])}: ${message}.`),
    });
  const fillMap = (values: Readonly<Record<string, string>>, key: string) =>
    new Map(Object.entries(values).map(([each, value]) => [each, fill(value, [key, each])]));

  for (const [at, message] of findContradictions(name, entry)) report(at, 'bad-server', message);
  for (const key of listUnknownKeys(document, path)) {
    warnings.push(`${describePlace(document, [...path, key])}: the gate does not know \`${key}\`, and ignores it.`);
  }
  const { command, args, url, cwd } = entry;
  const server: McpConfigServer = {
    name,
    command:
      command === undefined
        ? null
        : joinCommand([fill(command, ['command']), ...args.map((word, index) => fill(word, ['args', index]))]),
    url: url === undefined ? null : fill(url, ['url']),
    isSse: entry.type === 'sse',
    cwd: cwd === undefined ? null : fill(cwd, ['cwd']),
    environment: fillMap(entry.env, 'env'),
    headers: fillMap(entry.headers, 'headers'),
    sentVariables,
  };
  for (const [header, value] of issues.length === 0 ? server.headers : []) {
    const problem = findHeaderProblem(header, value);
    if (problem !== null) report(['headers', header], 'bad-header', `\`headers\` ${problem}`);
  }
  if (server.url !== null && !/^https?:$/.test(URL.parse(server.url)?.protocol ?? '') && issues.length === 0) {
    // Does not quote the URL, which may hold a key.
    report(['url'], 'bad-url', '`url` is not an http or https URL; write one such as http://127.0.0.1:3000/mcp');
  }
  return { server, issues, warnings };
}

/** Finds keys of an entry that contradict each other, each with its path. */
function findContradictions(name: string, entry: Entry): Array<[at: DocumentPath, message: string]> {
  const { type, command, args, env, cwd, url, headers } = entry;
  if (command === undefined && url === undefined) {
    return [[[], `The server \`${name}\` has neither \`command\` nor \`url\`; write what starts it, or where it runs`]];
  }
  const found: Array<[DocumentPath, string]> = [];
  if (type === 'stdio' && command === undefined) {
    found.push([['type'], 'A server of the type `stdio` needs a `command`; write it, or leave `type` out']);
  }
  if (type === 'stdio' && url !== undefined) {
    found.push([['url'], 'A server of the type `stdio` has no `url`; leave one of the two out']);
  }
  if (type !== undefined && type !== 'stdio' && url === undefined) {
    found.push([['type'], `A server of the type \`${type}\` needs a \`url\`; write it, or leave \`type\` out`]);
  }
  if (Object.keys(headers).length > 0 && url === undefined) {
    found.push([['headers'], '`headers` need a `url`; pass what a server over stdio needs in `env`']);
  }
  const started = { args: args.length > 0, env: Object.keys(env).length > 0, cwd: cwd !== undefined };
  for (const [key, isGiven] of Object.entries(started)) {
    if (isGiven && command === undefined) found.push([[key], `\`${key}\` needs a \`command\`; leave it out`]);
  }
  return found;
}

function listUnknownKeys(document: SourceDocument, path: DocumentPath): string[] {
  const entry = path.reduce<unknown>(
    (value, key) => (isRecord(value) ? value[String(key)] : undefined),
    document.value,
  );
  return isRecord(entry) ? Object.keys(entry).filter((key) => !(key in entrySchema.shape)) : [];
}

function describePlace(document: SourceDocument, path: DocumentPath): string {
  const { file, line, column } = document.locateKey(path);
  return `${file}:${line}:${column}`;
}

/** Fills in `${NAME}`, `${NAME:-default}`, and VS Code's `${env:NAME}`. A default also replaces an empty variable. */
function fillVariables(
  text: string,
  {
    findVariable,
    fail,
    warn,
  }: Pick<EntrySource, 'findVariable'> & {
    fail: (code: string, message: string) => void;
    warn: (message: string) => void;
  },
): string {
  return text.replaceAll(/\$\{([^}]*)\}/g, (whole, inner: string) => {
    const [, name, fallback] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner) ?? [];
    if (name === undefined) {
      fail(
        'bad-variable',
        `\`${whole}\` is no variable of the environment; write \`\${NAME}\` or \`\${NAME:-default}\``,
      );
      return '';
    }
    const found = findVariable(name);
    if (typeof found === 'object' && (found.value !== '' || fallback === undefined)) return found.value;
    const pass = `pass it on with \`server-env: ${name}\``;
    if (fallback !== undefined) {
      if (found === 'withheld') warn(`\`${whole}\` is its default; the job has ${name}: to use that, ${pass}`);
      return fallback;
    }
    const [code, message] =
      found === 'withheld'
        ? ['withheld-variable', `The server may not get ${name} of the job; ${pass}`]
        : ['missing-variable', `${name} is not set; set it in the job and ${pass}, or write \`\${${name}:-default}\``];
    fail(code, message);
    return '';
  });
}
