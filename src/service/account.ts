import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import { meSchema, projectPageSchema } from './wire.ts';
import type { WireMe, WireProject } from './wire.ts';

const parseMe = parseAs(meSchema, 'an account');
const parseProjects = parseAs(projectPageSchema, 'a list of projects');

/** Gets the account that the key belongs to: the cheapest way to find out that it works. */
export async function getMe(client: ServiceClient, params: CallOptions = {}): Promise<WireMe> {
  return client.call({ method: 'GET', path: ['me'], parse: parseMe, ...params });
}

/** Lists the projects that the key can see. The API does not page them. */
export async function listProjects(client: ServiceClient, params: CallOptions = {}): Promise<WireProject[]> {
  const page = await client.call({ method: 'GET', path: ['projects'], parse: parseProjects, ...params });
  return page.items;
}
