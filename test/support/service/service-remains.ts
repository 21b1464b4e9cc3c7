import { request } from 'undici';
import type { ContractService } from './contract-service.ts';
import type { ServiceTap } from './service-tap.ts';

/** The resources of a job that still exist in a service. */
export interface ServiceRemains {
  /** Names of the servers whose public URLs are still valid. */
  grants: string[];
  /** Ids of runs in the project that have not ended. */
  runs: string[];
  /** Names of the servers for which it was granted tunnels. */
  servers: string[];
}

/** Asks the service directly, without the tap, after all pending requests have arrived there. */
export async function findRemains(service: ContractService, tap: ServiceTap): Promise<ServiceRemains> {
  await tap.settle();
  const grants: string[] = [];
  for (const { name, url } of tap.grants) {
    const { pathname, search } = new URL(url);
    const answer = await request(new URL(pathname + search, service.baseUrl), { method: 'POST' });
    await answer.body.dump();
    if (answer.statusCode !== 401) grants.push(name);
  }
  const runs = await listUnfinishedRuns(service);
  const { body } = await service.project.get('/servers');
  const servers: Array<{ name: string }> = body.items;
  const granted = new Set(tap.grants.map(({ name }) => name));
  return { grants, runs, servers: servers.map(({ name }) => name).filter((name) => granted.has(name)) };
}

async function listUnfinishedRuns({ project }: ContractService): Promise<string[]> {
  const suites: Array<{ id: string }> = (await project.get('/eval-suites')).body.items;
  const lists = await Promise.all(
    suites.map(async ({ id }): Promise<Array<{ id: string; status: string }>> => {
      const { body } = await project.get(`/eval-suites/${id}/runs?limit=100`);
      return body.items;
    }),
  );
  return lists.flatMap((list) => list.filter(({ status }) => status === 'running').map(({ id }) => id));
}
