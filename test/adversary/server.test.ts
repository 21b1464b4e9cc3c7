import { describe, expect, it } from 'vitest';
import { canMake } from '../support/process/sandbox-lab.ts';
import type { ServerAttack } from './attack.ts';
import { type AttackedGate, type AttackOptions, runServerAttacks } from './run-server-attacks.ts';
import { codeAttacks, fileAttacks, loneAttacks, sharedAttacks, signalStorm } from './server-attacks.ts';

// One gate for each class of attacks; `npm run test:adversary` runs every variant at every moment with every answer.

/** Generous limits, so that a slow machine does not decide the result. */
const patient = { slack: 10, timeoutS: 60 };
const off: AttackOptions = { ...patient, level: 'none' };
const isolated: AttackOptions = { ...patient, level: 'isolated' };
/** Options for attacks that their server survives. */
const shared: AttackOptions = { ...off, isShared: true };

/** Takes one attack for each variant, the first one. */
function takeVariants(attacks: readonly ServerAttack[], maximum = Infinity): ServerAttack[] {
  const key = ({ payload }: ServerAttack) => `${payload.name} ${payload.variant}`;
  const first = new Map<string, ServerAttack>();
  for (const attack of attacks) if (!first.has(key(attack))) first.set(key(attack), attack);
  return [...first.values()].slice(0, maximum);
}

const ofClass = (name: string, attacks: readonly ServerAttack[] = sharedAttacks) =>
  attacks.filter((attack) => attack.class === name);

/** Lists every problem with the name of its attack. */
const listProblems = ({ results, problems }: AttackedGate) => [
  ...problems,
  ...results.flatMap(({ attack, problems: own }) => own.map((problem) => `${attack.name}: ${problem}`)),
];

describe.runIf(process.platform === 'linux')('a server without a sandbox that attacks', () => {
  it.each<[string, ServerAttack[], AttackOptions]>([
    ['with signals that end nothing', takeVariants(ofClass('signals'), 6), shared],
    [
      'through the debugger and by reading processes',
      [...takeVariants(ofClass('debugger')), ...takeVariants(ofClass('reads'))],
      shared,
    ],
    ['with messages that are no answers', takeVariants(ofClass('protocol')), off],
    ['with texts that claim a verdict', takeVariants(ofClass('texts')).filter((_, index) => index % 12 === 0), shared],
    ['with processes that stay or end', takeVariants(ofClass('processes')), off],
    ['through ports of the loopback interface', ofClass('loopback'), shared],
  ])('%s changes no verdict', async (_, attacks, options) => {
    const gate = await runServerAttacks(attacks, options);
    expect(listProblems(gate)).toEqual([]);
    expect(gate.observed.exitCode).toBe(1);
    // The case next to them passes, so that the gate does not simply fail everything.
    expect(gate.bystander).toBe('passed');
  });

  it('by writing to evals, policy, history, reports and files of the runner changes no verdict', async () => {
    const attacks = takeVariants(fileAttacks).filter((_, index) => index % 9 === 0);
    const gate = await runServerAttacks(attacks, shared);
    expect(listProblems(gate)).toEqual([]);
    // Shows that nothing prevented the writes, so that these were attacks.
    expect(gate.evidence).toMatch(/changed/);
    expect(gate.observed.exitCode).toBe(1);
  });

  const find = (name: string) => loneAttacks.filter((attack) => attack.name === name);
  it.each([
    ['signal SIGINT gate, before, a true answer', 130],
    ['signal SIGTERM supervisor, before, a true answer', 143],
    // At a later moment, the gate may already have ended.
    ['signal SIGKILL supervisor, in the list, a true answer', null],
    ['signal SIGSEGV gate, before, a false answer', 3],
    ['log 1, before, a false answer', 1],
  ])('by a %s leaves the gate with %s', async (name, exitCode) => {
    const gate = await runServerAttacks(find(name), off);
    expect([listProblems(gate), gate.observed.exitCode]).toEqual([[], exitCode]);
  });

  it('by overwriting the code of the command changes no verdict', async () => {
    const gate = await runServerAttacks(codeAttacks.slice(0, 1), { ...off, isCopied: true });
    expect(listProblems(gate)).toEqual([]);
    expect(gate.evidence.match(/overwrote/g)?.length).toBeGreaterThan(100);
    expect(gate.observed.report?.cases).toMatchObject([{ outcome: 'failed' }]);
  });
});

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

// docs/hardening.md says what stays possible without a sandbox.
describe.runIf(hasSandbox)('a server in a sandbox that attacks', () => {
  it('reaches neither the processes of the gate nor its files', async () => {
    const files = takeVariants(fileAttacks).filter((_, index) => index % 14 === 0);
    const attacks = [...signalStorm, ...takeVariants(ofClass('reads')), ...files];
    const left = takeVariants(ofClass('processes')).filter(({ payload }) => payload.name === 'leave');
    const gate = await runServerAttacks([...attacks, ...left], { ...isolated, isShared: true });
    expect(listProblems(gate)).toEqual([]);
    expect(gate.evidence).toBe('');
    expect([gate.observed.exitCode, gate.bystander]).toEqual([1, 'passed']);
  });
});
