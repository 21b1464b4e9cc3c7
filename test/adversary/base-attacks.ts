import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { commitFiles, runGitIn } from '../support/github/pull-request.ts';
import { commandPath } from '../support/process/bundled-command.ts';
import { plainServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { type AttackResult, type IsolationLevel, isolationLevels, type LevelledAttack, sandboxOf } from './attack.ts';
import { observeGate } from './observe-gate.ts';

/** A change that is worse than its base and makes the base look just as bad. */
export interface BaseAttack extends LevelledAttack {
  attacker: 'pull-request';
  /** The module that the server of the change runs when it starts. */
  spoil: string;
}

/** Plants a module that is not installed and replaces the words of the base. */
const plant = (directory: string) => `
const planted = join(${directory}, 'extra-words');
mkdirSync(planted, { recursive: true });
writeFileSync(join(planted, 'index.js'), 'module.exports = ["one"];');
`;

/** Replaces a directory with another one of the same name, which has another base in it. */
const replace = (directory: string) => `
const real = ${directory};
const names = readdirSync(real);
renameSync(real, real + '.real');
for (const name of names) {
  mkdirSync(join(real, name), { recursive: true });
  for (const inside of readdirSync(join(real + '.real', name))) {
    if (inside !== 'words.txt') symlinkSync(join(real + '.real', name, inside), join(real, name, inside));
  }
  writeFileSync(join(real, name, 'words.txt'), 'one');
}
`;

const customize = (home: string) => `
const site = execFileSync(process.env.PYTHON, ['-m', 'site', '--user-site'], { encoding: 'utf8', env: { ...process.env, HOME: ${home} } }).trim();
mkdirSync(site, { recursive: true });
writeFileSync(join(site, 'usercustomize.py'), 'raise SystemExit(1)');
`;

/** The path of Python itself, which a launcher may find by HOME; null if there is none. */
const pythonPath = (() => {
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
})();

const jobHome = `process.env.JOB_HOME`;
const jobTemporary = `process.env.JOB_TMPDIR`;

/** Without a sandbox, the server can reach paths that the gate does not give it, as SECURITY.md says. */
const spoils: Array<[string, string, 'everywhere' | 'in a sandbox']> = [
  ['plants a module in its temporary directory', plant(`tmpdir() + '/node_modules'`), 'everywhere'],
  ['plants a module above the checkout of the base', plant(`${jobTemporary} + '/node_modules'`), 'in a sandbox'],
  ['plants a module in its HOME', plant(`homedir() + '/.node_modules'`), 'everywhere'],
  ['plants a module in the HOME of the job', plant(`${jobHome} + '/.node_modules'`), 'in a sandbox'],
  ['customizes the Python of its HOME', customize('homedir()'), 'everywhere'],
  ['customizes the Python of the HOME of the job', customize(jobHome), 'in a sandbox'],
  ['renames its temporary directory', replace('tmpdir()'), 'everywhere'],
  ['renames the temporary directory of the job', replace(jobTemporary), 'in a sandbox'],
];

export const baseAttacks: readonly BaseAttack[] = spoils
  .filter(([name]) => pythonPath !== null || !name.includes('Python'))
  .flatMap(([name, spoil, where]) =>
    isolationLevels
      .filter((level) => where === 'everywhere' || level !== 'none')
      .map((level) => ({
        name: `${name}, at the level ${level}`,
        class: 'base',
        attacker: 'pull-request' as const,
        deserves: 'failed' as const,
        level,
        spoil,
      })),
  );

/** A server with the words of its directory, or those of a module that Node finds from there. */
const server = `
const load = () => {
  try { return createRequire(import.meta.url)('extra-words'); } catch { return readFileSync('words.txt', 'utf8').trim().split(' '); }
};
const isSpoiled = () => {
  if (!process.env.PYTHON) return false;
  try { execFileSync(process.env.PYTHON, ['-c', '0'], { stdio: 'ignore' }); return false; } catch { return true; }
};
process.argv.push(...(isSpoiled() ? ['one'] : load()));
await import(${JSON.stringify(plainServerPath)});
`;

const imports = `import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
`;

const writeCase = (says: string) => `  - title: Says ${says}
    deterministic: true
    steps:
      - toolCall: argv
      - assert: { toolResultContains: ${says} }
`;

/** Creates a repository with a change that has one word less than its base, next to a HOME and a temporary directory. */
export async function createAttackedRepository({ spoil }: Pick<BaseAttack, 'spoil'>): Promise<Workspace> {
  const workspace = await createWorkspace({ 'repository/.keep': '', 'home/.keep': '', 'tmp/.keep': '' });
  const repository = { ...workspace, path: join(workspace.path, 'repository') };
  runGitIn(repository, 'init', '-q', '--template=', '-b', 'main');
  await commitFiles(repository, {
    'x.evals.yaml': `suite: Words\ncases:\n${writeCase('one')}${writeCase('two')}`,
    'words.txt': 'one two',
    'server.mjs': imports + server,
  });
  runGitIn(repository, 'switch', '-q', '-c', 'change');
  const attempt = `try {\n${spoil}\n} catch {}\n`;
  await commitFiles(repository, { 'words.txt': 'one', 'server.mjs': imports + attempt + server });
  return workspace;
}

/**
 * A server over HTTP with one word. Like many servers, it continues if its port is taken. With `late`, it listens as soon as it can, and
 * answers late.
 */
const httpServer = `import { createServer } from 'node:http';
const [, , port, word, late] = process.argv;
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'words', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: word }] }),
};
const startedAt = Date.now();
const server = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let text = '';
  request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const { id, method, params = {} } = JSON.parse(text);
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} });
    const answer = () => id === undefined ? response.writeHead(202).end() : response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    setTimeout(answer, late === 'late' && Date.now() - startedAt < 4000 ? 4000 : 0);
  });
});
const listen = () => server.listen(Number(port), '127.0.0.1');
server.on('error', () => void (late === 'late' ? setTimeout(listen, 5) : setInterval(() => {}, 1000)));
listen();
`;

/** Starts a process that outlives the server and takes the port of the base, before the base starts or when it starts again. */
const steal = `import { spawn } from 'node:child_process';
const [, , port] = process.argv;
spawn(process.execPath, ['http.mjs', port, 'nothing', 'late'], { stdio: 'ignore' });
`;

export const portAttacks: readonly BaseAttack[] = isolationLevels.map((level): BaseAttack => ({
  name: `answers at the port of the base, at the level ${level}`,
  class: 'base port',
  attacker: 'pull-request',
  deserves: 'failed',
  level,
  spoil: steal,
}));

/** Runs the gate of a change without any word, next to a base that listens on a port. */
export async function runPortAttack(attack: BaseAttack, { slack = 1 } = {}): Promise<AttackResult> {
  const [port, own] = [await findFreePort(), await findFreePort()];
  await using workspace = await createWorkspace({
    'x.evals.yaml': `suite: Words\ncases:\n  - title: Says two\n    deterministic: true\n    steps:\n      - toolCall: say\n      - assert: { toolResultContains: two }\n`,
    'http.mjs': httpServer,
    'change.mjs': `${attack.spoil}process.argv.splice(2, 9, '${own}', 'nothing');\nawait import('./http.mjs');\n`,
    'base/http.mjs': httpServer,
  });
  const { exitCode, report, output } = await observeGate({
    args: [
      commandPath,
      'run',
      '--sandbox',
      sandboxOf[attack.level],
      '--format',
      'json',
      '--timeout',
      `${120 * slack}s`,
      '--min-pass-rate',
      '0%',
      '--server-command',
      `${process.execPath} change.mjs ${port}`,
      '--server-url',
      `http://127.0.0.1:${own}/mcp`,
      '--base-server-command',
      `${process.execPath} http.mjs ${port} two`,
      '--base-server-cwd',
      'base',
      '--base',
      `url=http://127.0.0.1:${port}/mcp`,
      'x.evals.yaml',
    ],
    workspace: workspace.path,
    env: {},
    limitS: 200 * slack,
  });
  const found = `exit code ${exitCode}, ${report?.verdict.reasons.map(({ code }) => code).join() ?? output.slice(-2000)}`;
  const isRight = exitCode === 1 || (exitCode === 3 && found.includes('base-not-compared'));
  return { attack, found, problems: isRight ? [] : [found] };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a server without a port');
  return address.port;
}

/** Runs the gate of the change next to its base. */
export async function runBaseAttack(attack: BaseAttack, { slack = 1 } = {}): Promise<AttackResult> {
  await using workspace = await createAttackedRepository(attack);
  const python = attack.name.includes('Python') ? pythonPath : null;
  const args = ['--base=git', '--base-ref=main'];
  const { exitCode, worse, found } = await runBaseGate(workspace, { level: attack.level, args, python, slack });
  const isRight = exitCode === 1 && worse.join() === lostCase;
  return { attack, found, problems: isRight ? [] : [found] };
}

/** The case that fails with the change. */
export const lostCase = 'Says two';

interface BaseGate {
  level: IsolationLevel;
  args: readonly string[];
  /** The Python that the server calls; null for none. */
  python?: string | null;
  env?: Readonly<Record<string, string>>;
  slack: number;
}

/** Runs a gate of the repository, and lists the cases in which the change is worse. */
export async function runBaseGate(
  workspace: Workspace,
  { level, args, python = null, env = {}, slack }: BaseGate,
): Promise<{ exitCode: number | null; worse: string[]; found: string }> {
  const at = (name: string) => join(workspace.path, name);
  const { exitCode, report, output } = await observeGate({
    args: [
      commandPath,
      'run',
      `--sandbox=${sandboxOf[level]}`,
      '--format=json',
      `--timeout=${120 * slack}s`,
      '--min-pass-rate=30%',
      `--report-dir=${at('reports')}`,
      `--server-env=JOB_HOME=${at('home')}`,
      `--server-env=JOB_TMPDIR=${at('tmp')}`,
      `--server-env=PYTHON=${python ?? ''}`,
      `--server-command=${process.execPath} server.mjs`,
      ...args,
      'x.evals.yaml',
    ],
    workspace: at('repository'),
    env: { HOME: at('home'), TMPDIR: at('tmp'), ...env },
    limitS: 200 * slack,
  });
  const comparison = report?.baseComparison;
  const worse = comparison?.cases.filter(({ isWorse }) => isWorse).map(({ title }) => title) ?? [];
  const reasons = report?.verdict.reasons.map(({ code }) => code) ?? [];
  const details = report === null ? `\n${output.slice(-2000)}` : '';
  const found = `exit code ${exitCode}, ${reasons.join()}, worse: ${worse.join() || 'none'} ${comparison?.problem ?? ''}${details}`;
  return { exitCode, worse, found: found.trim() };
}
