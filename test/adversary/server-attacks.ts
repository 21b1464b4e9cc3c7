import type { Answer, Moment, ServerAttack } from './attack.ts';
import { bombNames, floodNames } from './payloads/floods.ts';
import { guessNames } from './payloads/loopback.ts';
import { endNames, shapeNames } from './payloads/processes.ts';
import { chatterNames, refusalNames, replyNames } from './payloads/protocol.ts';
import { textNames } from './payloads/texts.ts';

type Given = Pick<ServerAttack, 'exitCodes' | 'maySurvive' | 'isFatal'>;
type Details = Given & {
  moments?: readonly Moment[];
  answers?: readonly Answer[];
};

/** Lists every variant of a payload at every moment with every answer. */
function list(
  attackClass: string,
  [file, name]: [string, string],
  variants: readonly string[],
  { moments = ['call', 'after'], answers = ['false', 'true'], ...given }: Details & { isAlone?: boolean } = {},
): ServerAttack[] {
  return variants.flatMap((variant) =>
    moments.flatMap((moment) =>
      answers.map((answer): ServerAttack => {
        const how = answer === 'true' ? 'a true answer' : 'a false answer';
        const when = { start: 'at the start', list: 'in the list', call: 'before', after: 'after' }[moment];
        return {
          name: `${name} ${variant}, ${when}, ${how}`,
          class: attackClass,
          attacker: 'server',
          deserves: answer === 'true' && given.isFatal !== true ? 'passed' : 'failed',
          payload: { file, name, variant },
          moment,
          answer,
          isAlone: false,
          ...given,
        };
      }),
    ),
  );
}

const alone = { isAlone: true };

/** The files of an attacked gate that decide the verdict. */
export const decisiveFiles = {
  'the evals file': 'a.yaml',
  'the policy': 'policy.yml',
  'the report directory': 'reports',
  'the report': 'reports/report.json',
  'the history': 'history.jsonl',
  GITHUB_OUTPUT: 'runner/output',
  GITHUB_STATE: 'runner/state',
  GITHUB_ENV: 'runner/env',
  GITHUB_STEP_SUMMARY: 'runner/summary',
  GITHUB_PATH: 'runner/path',
  GITHUB_EVENT_PATH: 'runner/event.json',
};

const fileWays = [
  'overwrite',
  'append',
  'open a heredoc in',
  'truncate',
  'remove',
  'rename',
  'link',
  'replace by a directory',
  'take the rights of',
];

const changes = fileWays.flatMap((way) => Object.keys(decisiveFiles).map((name) => `${way}: ${name}`));
const onGate = (...signals: string[]) =>
  signals.flatMap((name) => ['gate', 'supervisor', 'both'].map((whom) => `${name} ${whom}`));
const onlyFalse: Details = { answers: ['false'] };

/** Attacks that end or halt the gate. Each has its own gate. */
const fatalSignals: ServerAttack[] = [
  ...list('signals', ['signals', 'signal'], onGate('SIGINT'), {
    ...alone,
    answers: ['false', 'true'],
    moments: ['call'],
    exitCodes: [130],
  }),
  ...list('signals', ['signals', 'signal'], onGate('SIGTERM'), {
    ...alone,
    answers: ['false', 'true'],
    moments: ['call', 'after', 'list'],
    exitCodes: [143],
  }),
  ...list('signals', ['signals', 'signal'], onGate('SIGHUP', 'SIGQUIT'), {
    ...alone,
    moments: ['call'],
    exitCodes: [129, 131, 3, 1, null],
    ...onlyFalse,
  }),
  ...list('signals', ['signals', 'signal'], onGate('SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGUSR2', 'SIGALRM'), {
    ...alone,
    moments: ['call'],
    exitCodes: [3, 1, 143, null],
    ...onlyFalse,
  }),
  ...list('signals', ['signals', 'signal'], ['SIGKILL gate', 'SIGKILL supervisor'], {
    ...alone,
    moments: ['start', 'list'],
    exitCodes: [3, 1, 143, null],
    answers: ['true', 'false'],
    isFatal: true,
  }),
  // The gate may already have its verdict, which the true answer deserves. Its exit code is never 0.
  ...list('signals', ['signals', 'signal'], ['SIGKILL gate', 'SIGKILL supervisor'], {
    ...alone,
    moments: ['after'],
    exitCodes: [3, 1, 143, null],
    answers: ['true', 'false'],
  }),
  ...list('signals', ['signals', 'signal'], ['SIGSTOP gate', 'SIGSTOP supervisor'], {
    ...alone,
    moments: ['call'],
    answers: ['true', 'false'],
  }),
];

/** Attacks after which the gate's process continues, so that other cases must keep their outcomes. */
export const sharedAttacks: readonly ServerAttack[] = [
  ...list('signals', ['signals', 'pause'], ['gate', 'supervisor', 'both'], onlyFalse),
  ...list('signals', ['signals', 'signal'], onGate('SIGCONT', 'SIGPIPE', 'SIGWINCH', 'SIGURG', 'SIGCHLD'), onlyFalse),
  ...list('debugger', ['signals', 'debugger'], ['SIGUSR1']),
  ...list('reads', ['reads', 'file'], ['environ', 'cmdline', 'maps', 'status', 'io'], onlyFalse),
  ...list('reads', ['reads', 'memory'], ['first page'], onlyFalse),
  ...list('protocol', ['protocol', 'chatter'], chatterNames),
  ...list('protocol', ['protocol', 'reply'], replyNames, { ...onlyFalse, moments: ['call'] }),
  ...list('protocol', ['protocol', 'refuse'], refusalNames, { moments: ['call'], isFatal: true }),
  ...list('texts', ['texts', 'say'], textNames, { ...onlyFalse, moments: ['call'] }),
  ...list('texts', ['texts', 'refuse'], textNames, { answers: ['true'], moments: ['call'], isFatal: true }),
  ...list(
    'processes',
    ['processes', 'leave'],
    shapeNames.filter((name) => !name.startsWith('double fork')),
  ),
  ...list(
    'processes',
    ['processes', 'leave'],
    shapeNames.filter((name) => name.startsWith('double fork')),
    { maySurvive: true },
  ),
  ...list('processes', ['processes', 'end'], endNames, { moments: ['call'], isFatal: true }),
  ...list('processes', ['processes', 'end'], endNames, { ...onlyFalse, moments: ['after'] }),
  ...list('loopback', ['loopback', 'guess'], guessNames, { ...onlyFalse, moments: ['call'] }),
];

/** Floods and bombs. Only a few may run at the same time. */
export const floodAttacks: readonly ServerAttack[] = [
  ...list('floods', ['floods', 'flood'], floodNames, { answers: ['false', 'true'], moments: ['call'] }),
  ...list('floods', ['floods', 'flood'], floodNames, { answers: ['false'], moments: ['after'] }),
  ...list('floods', ['floods', 'bomb'], bombNames, { ...onlyFalse, moments: ['call'] }),
];

/** Changes of files. They may remove the output of the gate for all cases. */
export const fileAttacks: readonly ServerAttack[] = list('files', ['files', 'change'], changes);

/** Attacks that each have their own gate. */
export const loneAttacks: readonly ServerAttack[] = [
  ...fatalSignals,
  ...list('reads', ['reads', 'log'], ['1', '2'], { ...alone, moments: ['call'] }),
  ...list('floods', ['floods', 'bomb'], ['many tools'], { ...alone, moments: ['list'], isFatal: true }),
  ...list(
    'files',
    ['files', 'change'],
    [
      'remove: the report directory',
      'replace by a directory: the report',
      'link: the report directory',
      'overwrite: the evals file',
    ],
    { ...alone, moments: ['start'], answers: ['false'] },
  ),
  ...list('processes', ['processes', 'end'], ['exit 0', 'SIGKILL'], {
    ...alone,
    moments: ['start', 'list'],
    answers: ['true'],
    isFatal: true,
  }),
];

/** Every signal at once, only for a sandbox in which none may arrive. */
export const signalStorm: readonly ServerAttack[] = list(
  'signals',
  ['signals', 'every signal'],
  ['SIG gate', 'SIG both'],
  { moments: ['call', 'after'] },
);

/** Attacks that overwrite the code of the gate. */
export const codeAttacks: readonly ServerAttack[] = list('files', ['files', 'code'], ['all'], {
  ...alone,
  moments: ['start', 'list', 'call', 'after'],
  answers: ['false'],
});
