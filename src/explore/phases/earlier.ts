import { isAnswered } from '../answers.ts';
import type { EarlierCorpus } from '../read-corpus.ts';
import type { PhaseContext } from './phase.ts';
import { settleRun } from './settle-run.ts';

/** Sends the sessions of an earlier exploration again, and remembers the calls that work. Leaves out those with a tool that is not called. */
export async function repeatEarlier(context: PhaseContext, { sessions }: EarlierCorpus): Promise<void> {
  const { lab, knowledge, tools } = context;
  const names = new Set(tools.map(({ name }) => name));
  for (const { phase, requests } of sessions) {
    if (requests.some((request) => request.kind === 'tool' && !names.has(request.tool))) continue;
    const run = await lab.run(requests, { phase, start: requests.length === 1 ? 'used' : 'new' });
    const last = run?.steps[requests.length - 1];
    if (run === null || last?.request.kind !== 'tool' || last.isValid === false) continue;
    if (!isAnswered(last.observation)) continue;
    const settled = await settleRun(run, lab);
    if (settled === null) continue;
    const setup = settled.steps.slice(0, -1).map(({ request }) => request);
    // A chain for its effects ends with a reader, which works without the chain.
    if (setup.length < 2) knowledge.noteWorking(last.request.tool, { arguments: last.request.arguments, setup });
    if (setup.length === 0) knowledge.learn(run);
  }
}
