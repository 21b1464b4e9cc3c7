import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandPath, entryDirectory } from '../support/process/bundled-command.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import {
  type AttackResult,
  type IsolationLevel,
  isDeserved,
  listExitCodes,
  type Outcome,
  sandboxOf,
  type ServerAttack,
} from './attack.ts';
import { type ObservedGate, observeGate } from './observe-gate.ts';
import { answers, type Order, type Targets } from './payload.ts';
import { decisiveFiles } from './server-attacks.ts';

const server = fileURLToPath(new URL('attacking-server.ts', import.meta.url));

/** The limit of the gate and of its supervisor, each. */
const maxMemoryMiB = 512;

export interface AttackedGate {
  results: AttackResult[];
  /** Problems of the gate as a whole. */
  problems: string[];
  observed: ObservedGate;
  /** The outcome of the case without an attack, if there is one. */
  bystander: Outcome | null;
  evidence: string;
}

export interface AttackOptions {
  level: IsolationLevel;
  /** The factor by which a gate may exceed its promised time on a slow machine. */
  slack?: number;
  /** Runs a copy of the command, which the attack may overwrite. */
  isCopied?: boolean;
  /** True if one process of the server makes all attacks. By default, each attack has its own process. */
  isShared?: boolean;
  timeoutS?: number;
}

const bystanderTitle = 'is not attacked';

/** Runs one gate with a case for each attack, or with a single attack that needs its own gate. */
export async function runServerAttacks(
  attacks: readonly ServerAttack[],
  { level, slack = 1, isCopied = false, isShared = false, timeoutS = 20 }: AttackOptions,
): Promise<AttackedGate> {
  const isAlone = attacks.length === 1 && attacks[0]?.isAlone === true;
  await using copy = await createWorkspace();
  await using workspace = await createAttackedWorkspace(attacks, isAlone);
  const entry = isCopied ? await copyCommand(copy) : commandPath;
  const targets: Targets = {
    workspace: workspace.path,
    files: Object.fromEntries(Object.entries(decisiveFiles).map(([name, file]) => [name, join(workspace.path, file)])),
    code: isCopied ? [join(copy.path, 'cli')] : [],
    evidence: join(workspace.path, 'state/evidence.txt'),
    errors: join(workspace.path, 'state/errors.txt'),
  };
  const targetsFile = join(workspace.path, 'state/targets.json');
  await writeFile(targetsFile, JSON.stringify(targets));
  const [attack] = attacks;
  const order = isAlone && attack !== undefined ? [`'${JSON.stringify(orderOf(attack))}'`] : [];
  const limitS = (timeoutS + 6) * slack;
  const observed = await observeGate({
    args: [
      entry,
      'run',
      '--sandbox',
      sandboxOf[level],
      ...(isShared ? ['--isolation', 'run'] : []),
      '--format',
      'json',
      '--timeout',
      `${timeoutS}s`,
      '--server-command',
      [process.execPath, server, targetsFile, ...order].join(' '),
      '--server-env',
      `NODE_COMPILE_CACHE=${process.env['NODE_COMPILE_CACHE'] ?? ''}`,
      '--report-dir',
      join(workspace.path, 'reports'),
      '--history-path',
      'history.jsonl',
      '--policy',
      'policy.yml',
      'a.yaml',
    ],
    workspace: workspace.path,
    env: { ...runnerVariables(workspace), MCP_EVAL_API_KEY: 'canary-key' },
    limitS: limitS * 3,
  });
  const evidence = await readFile(targets.evidence, 'utf8').catch(() => '');
  const problems = listGateProblems(observed, attacks, { level, evidence, limitS });
  const outcomes = new Map(observed.report?.cases.map(({ title, outcome }) => [title, outcome]));
  const results = attacks.map((one): AttackResult => {
    if (isAlone) return judgeLone(one, observed, problems);
    const found = outcomes.get(one.name);
    const wrong = found === undefined ? !isSafe(one, observed) : !isDeserved(one.deserves, found);
    return {
      attack: one,
      found: found ?? 'no outcome',
      problems: wrong ? [`deserves ${one.deserves}, is ${found}`] : [],
    };
  });
  return { results, problems, observed, bystander: outcomes.get(bystanderTitle) ?? null, evidence };
}

/** Judges a gate without a report by its exit code. */
const isSafe = ({ deserves }: ServerAttack, { exitCode }: ObservedGate) => deserves === 'passed' || exitCode !== 0;

function judgeLone(attack: ServerAttack, observed: ObservedGate, gateProblems: readonly string[]): AttackResult {
  const { exitCode, report } = observed;
  const allowed = attack.exitCodes ?? listExitCodes(attack.deserves);
  const problems = [...gateProblems];
  if (!allowed.includes(exitCode)) problems.push(`exit code ${exitCode} instead of ${allowed.join(' or ')}`);
  if (report !== null && !isDeserved(attack.deserves, report.verdict.outcome)) {
    problems.push(`deserves ${attack.deserves}, and the report says ${report.verdict.outcome}`);
  }
  return { attack, found: `exit code ${exitCode}`, problems };
}

function listGateProblems(
  observed: ObservedGate,
  attacks: readonly ServerAttack[],
  { level, evidence, limitS }: { level: IsolationLevel; evidence: string; limitS: number },
): string[] {
  const { exitCode, output, maxMemoryMiB: memory, durationS, survivors, report } = observed;
  const maySurvive = level === 'none' && attacks.some((one) => one.maySurvive === true);
  const isLone = attacks.length === 1 && attacks[0]?.isAlone === true;
  const deservesFailure = attacks.some(({ deserves }) => deserves === 'failed');
  const reached = report?.server?.sandbox?.level;
  return [
    ...(!isLone && deservesFailure && ![1, 3].includes(exitCode ?? -1) ? [`exit code ${exitCode}`] : []),
    ...(/^\s+at (?:async )?.*:\d+:\d+\)?$/m.test(output) ? ['prints a stack trace'] : []),
    ...(memory > maxMemoryMiB ? [`uses ${memory} MiB`] : []),
    ...(durationS > limitS ? [`takes ${Math.round(durationS)} s`] : []),
    ...(maySurvive ? [] : survivors.map((words) => `leaves ${words}`)),
    ...(reached !== undefined && reached !== level ? [`the level is ${reached}`] : []),
    ...(level !== 'none' && evidence !== ''
      ? evidence
          .trim()
          .split('\n')
          .map((line) => `in a sandbox: ${line}`)
      : []),
    ...(/let in|debugger is open|canary/.test(evidence) ? [evidence.trim()] : []),
  ];
}

const orderOf = ({ payload, moment, answer }: ServerAttack): Order => ({ ...payload, moment, answer });

async function createAttackedWorkspace(attacks: readonly ServerAttack[], isAlone: boolean): Promise<Workspace> {
  const bystander: Order = { file: '', name: '', variant: '', moment: 'never', answer: 'true' };
  const cases = [
    ...attacks.map((attack) => [attack.name, orderOf(attack)] as const),
    ...(isAlone ? [] : [[bystanderTitle, bystander] as const]),
  ];
  const texts = cases.map(
    ([title, order]) => `  - title: ${JSON.stringify(title)}
    steps:
      - { toolCall: check, arguments: ${JSON.stringify(order)} }
      - assert: { toolResultContains: ${answers.true} }
`,
  );
  const workspace = await createWorkspace({
    'a.yaml': `suite: Attacked\ntimeout: 8s\ncases:\n${texts.join('')}`,
    'policy.yml': 'minimumPassRate: 100%\n',
    'state/.keep': '',
    ...Object.fromEntries(['output', 'state', 'env', 'path', 'summary'].map((name) => [`runner/${name}`, ''])),
    'runner/event.json': '{}',
  });
  return workspace;
}

const runnerVariables = ({ path }: Workspace) => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_OUTPUT: join(path, 'runner/output'),
  GITHUB_STATE: join(path, 'runner/state'),
  GITHUB_ENV: join(path, 'runner/env'),
  GITHUB_PATH: join(path, 'runner/path'),
  GITHUB_STEP_SUMMARY: join(path, 'runner/summary'),
  GITHUB_EVENT_PATH: join(path, 'runner/event.json'),
});

/** Copies the command with its code, most of which it loads only on demand. */
async function copyCommand({ path }: Workspace): Promise<string> {
  for (const name of ['cli', 'package.json'])
    await cp(join(entryDirectory, name), join(path, name), { recursive: true });
  return join(path, relative(entryDirectory, commandPath));
}
