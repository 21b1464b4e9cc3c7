import { isServerStep, listInnerSteps, mapServerSteps, type Step } from '../cases/step.ts';
import { findStepServer, serverUnderTest, type StepServer } from '../cases/step-server.ts';
import type { TestCase } from '../cases/case.ts';

/** The steps of a case, with its setup and teardown. */
interface CaseSteps extends Pick<TestCase, 'steps'> {
  advancedConfig?: Pick<NonNullable<TestCase['advancedConfig']>, 'setup' | 'teardown'> | undefined;
}

/** A server of a run, as the steps of cases call it. */
export interface CaseServer extends StepServer {
  id: string;
}

/** Names a server in messages and traces. The internal alias of an only server means nothing to a reader, so its name replaces it. */
export function nameCaseServer({ alias = serverUnderTest, name }: Pick<StepServer, 'alias' | 'name'>): string {
  return alias === serverUnderTest ? name : alias;
}

/** Replaces the name of a step's server by the name that the engine uses. */
export function nameStepServers(step: Step, servers: readonly CaseServer[]): Step {
  return mapServerSteps(step, (asking) => {
    const server = findStepServer(asking, servers, (each) => each);
    if (server === undefined) return asking;
    const named = { ...asking, serverName: nameCaseServer(server) };
    if ('serverId' in named) delete named.serverId;
    return named;
  });
}

/** Lists the servers that the steps of a case name: all if the case has a prompt, the first one if the steps name none. */
export function listCaseServers<Server extends CaseServer>(
  { steps, advancedConfig: { setup = [], teardown = [] } = {} }: CaseSteps,
  servers: readonly [Server, ...Server[]],
): [Server, ...Server[]] {
  const [main, ...more] = servers;
  if (steps.some(({ kind }) => kind === 'prompt')) return [main, ...more];
  const asking = listInnerSteps([...setup, ...steps, ...teardown]).filter(isServerStep);
  const named = new Set(asking.map((step) => findStepServer(step, servers, (each) => each) ?? main));
  const [first = main, ...others] = servers.filter((server) => named.has(server));
  return [first, ...others];
}
