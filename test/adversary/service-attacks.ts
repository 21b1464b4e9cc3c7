import { openContractService } from '../support/service/contract-service.ts';
import { startEchoServer } from '../support/servers/echo-server.ts';
import { runHostedGate } from '../support/gate/hosted-gate.ts';
import { startHostileService } from '../support/service/hostile-service.ts';
import type { Attack, AttackResult } from './attack.ts';

type Answer = Record<string, unknown> & { items?: Array<Record<string, unknown>> };

export interface ServiceAttack extends Attack {
  attacker: 'service';
  /** The requests whose answers are changed. */
  what: RegExp;
  change: (answer: Answer) => unknown;
}

const running = /^GET .*\/eval-runs\/[^/]+$/;
const listing = /^GET .*\/eval-runs\/[^/]+\/iterations(\?|$)/;

const items = (change: (item: Record<string, unknown>) => Record<string, unknown>) => (answer: Answer) => ({
  ...answer,
  items: (answer.items ?? []).map(change),
});
const summary = (fields: Record<string, unknown>) => (answer: Answer) => ({
  ...answer,
  ...(answer['status'] === 'completed' ? { summary: fields } : {}),
});

/**
 * Changes to one part of a service's data about a run. The other parts stay unchanged, because a service that lies everywhere is believed.
 */
const lies: Array<[string, RegExp, ServiceAttack['change']]> = [
  ['changes nothing', running, (answer) => answer],
  ['passes all iterations in the listing', listing, items((item) => ({ ...item, result: 'passed' }))],
  [
    'leaves failed iterations out',
    listing,
    (answer) => ({ ...answer, items: answer.items?.filter(({ result }) => result === 'passed') }),
  ],
  ['lists no iteration', listing, (answer) => ({ ...answer, items: [] })],
  ['lists null', listing, (answer) => ({ ...answer, items: null })],
  [
    'lists passed iterations twice',
    listing,
    (answer) => ({
      ...answer,
      items: [...(answer.items ?? []), ...(answer.items ?? []).filter(({ result }) => result === 'passed')],
    }),
  ],
  ['gives all iterations one id', listing, items((item) => ({ ...item, id: 'one' }))],
  ['gives results that do not exist', listing, items((item) => ({ ...item, result: 'PASSED' }))],
  ['leaves the results open', listing, items((item) => ({ ...item, result: 'pending' }))],
  [
    'says that failed iterations were cancelled',
    listing,
    items((item) => (item['result'] === 'passed' ? item : { ...item, status: 'cancelled' })),
  ],
  ['has no next page', listing, (answer) => ({ ...answer, items: answer.items?.slice(0, 1), nextCursor: null })],
  ['counts no failures', running, summary({ total: 2, passed: 2, failed: 0, passRate: 1 })],
  ['counts nothing', running, summary({ total: 0, passed: 0, failed: 0, passRate: 1 })],
  ['counts in negative numbers', running, summary({ total: 2, passed: 3, failed: -1, passRate: 1 })],
  ['counts in powers of ten', running, summary({ total: 1e300, passed: 1e300, failed: 0, passRate: 1 })],
  ['passes more than all', running, summary({ total: 2, passed: 1, failed: 1, passRate: 2 })],
  ['says that the run passed', running, (answer) => ({ ...answer, result: 'passed' })],
  ['says that the run was cancelled', running, (answer) => ({ ...answer, status: 'cancelled', result: 'passed' })],
  [
    'answers with keys of prototypes',
    running,
    (answer) => ({ ...answer, constructor: { result: 'passed' }, toString: 'passed' }),
  ],
];

export const serviceAttacks: readonly ServiceAttack[] = lies.map(([name, what, change]) => ({
  name,
  class: 'service',
  attacker: 'service',
  deserves: 'failed',
  what,
  change,
}));

const tests = '- title: one\n  steps: [{ toolCall: echo }]\n- title: two\n  steps: [{ toolCall: fail }]\n';

export interface ServiceLab extends AsyncDisposable {
  run: (attack: ServiceAttack) => Promise<AttackResult>;
}

/** Opens real services, and a server with which one case passes and one fails. */
export async function openServiceLab(): Promise<ServiceLab> {
  const server = await startEchoServer();
  return {
    run: async (attack) => {
      // One service for each attack: gates of one job that run at the same time would share the names of their records.
      await using service = await openContractService();
      await using hostile = await startHostileService(service, {
        tamper: () => (request, answer) =>
          attack.what.test(request.what) ? { body: JSON.stringify(attack.change(JSON.parse(answer))) } : undefined,
      });
      const inputs = { 'server-url': server.url, tunnel: 'never', tests, timeout: '30s' };
      const { exitCode } = await runHostedGate({ ...service, baseUrl: hostile.baseUrl }, inputs);
      const isRight = exitCode === 1 || exitCode === 3;
      return { attack, found: `exit code ${exitCode}`, problems: isRight ? [] : [`exit code ${exitCode}`] };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
