/**
 * The program of the process of a check module. It answers requests on stdin with one JSON text a line on stdout. `npm run docs` makes a text
 * of it, `check-worker-source.ts`, that the server under test cannot overwrite.
 */
import { isBuiltin, registerHooks, stripTypeScriptTypes } from 'node:module';
import { createInterface } from 'node:readline';
import { describeError } from '../base/errors.ts';
import { createOwnCheck } from '../checks/create-own-check.ts';
import { fail, leaveUnmeasured, pass } from '../checks/judgement.ts';
import type { OwnCheck } from '../checks/own-check.ts';
import type { CheckReply, CheckRequest, ModuleSource } from './check-messages.ts';

const apiUrl = 'mcp-eval-ci:checks';
const apiKey = Symbol.for(apiUrl);

const answer = process.stdout.write.bind(process.stdout);
// The output of a module must not mix with the answers.
process.stdout.write = process.stderr.write.bind(process.stderr);
const reply = (given: CheckReply) => void answer(`${JSON.stringify(given)}\n`);

const defined = new Set<unknown>();
let checks: ReadonlyMap<string, OwnCheck> = new Map();

const api = {
  defineCheck: (definition: Parameters<typeof createOwnCheck>[0]) => {
    const check = createOwnCheck(definition);
    defined.add(check);
    return check;
  },
  fail,
  leaveUnmeasured,
  pass,
};
Object.defineProperty(globalThis, apiKey, { value: api });

/** Serves `mcp-eval-ci/checks` from this program: the job may have no package of that name, or another version. */
function serveApi(): void {
  const names = Object.keys(api).join(', ');
  const source = `export const { ${names} } = globalThis[Symbol.for(${JSON.stringify(apiUrl)})];`;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'mcp-eval-ci/checks'
        ? { url: apiUrl, format: 'module', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === apiUrl ? { format: 'module', source, shortCircuit: true } : next(url, context),
  });
}

/** Serves the files of a base from memory. Every other file is one of the change. */
function serveFiles(files: Readonly<Record<string, string>>): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === 'mcp-eval-ci/checks' || isBuiltin(specifier)) return next(specifier, context);
      const url = URL.parse(specifier, context.parentURL)?.href ?? '';
      const isWritten = /^\.{1,2}\//.test(specifier) || Object.hasOwn(files, specifier);
      if (isWritten && Object.hasOwn(files, url)) return { url, shortCircuit: true };
      throw new Error(
        isWritten
          ? `the base has no file ${specifier}`
          : `it imports ${specifier}, which comes from the change and not from the base`,
      );
    },
    load: (url, context, next) => {
      const text = Object.hasOwn(files, url) ? files[url] : undefined;
      if (text === undefined) return next(url, context);
      if (url.endsWith('.json')) return { format: 'json', source: text, shortCircuit: true };
      const source = /\.m?ts$/.test(url) ? stripTypeScriptTypes(text) : text;
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

async function load({ url, files }: ModuleSource): Promise<NonNullable<CheckReply['checks']>> {
  if (files !== null) serveFiles(files);
  serveApi();
  const exported: Readonly<Record<string, unknown>> = await import(url);
  const found = Object.values(exported).filter((value): value is OwnCheck => defined.has(value));
  checks = new Map(found.map((check) => [check.name, check]));
  return found.map(({ name, schema, final, timeoutMs }) => ({ name, schema, final, timeoutMs }));
}

async function judge({
  name,
  fields,
  evidence,
  tools,
  timeoutMs,
}: NonNullable<CheckRequest['judge']>): Promise<unknown> {
  const check = checks.get(name);
  if (check === undefined) throw new Error(`the module no longer exports the check ${name}`);
  const restored = { ...evidence, tools: tools === null ? null : new Map(tools) };
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(new Error(`The time of the check ${name} is over.`)), timeoutMs);
  try {
    return await check.judge(fields, restored, { signal: time.signal });
  } finally {
    clearTimeout(timer);
  }
}

async function handle({ id, module, judge: asked }: CheckRequest): Promise<void> {
  try {
    if (module !== undefined) reply({ id, checks: await load(module) });
    if (asked !== undefined) reply({ id, answer: await judge(asked) });
  } catch (error) {
    reply({ id, error: describeError(error) });
  }
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on('line', (line) => void handle(JSON.parse(line)));
lines.on('close', () => process.exit(0));
