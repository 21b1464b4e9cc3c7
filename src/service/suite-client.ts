import { ConfigurationError } from '../base/errors.ts';
import { callOperation } from './call-operation.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { findNamed, formatNamed } from './named.ts';
import { suiteOperations } from './operations/suites.ts';
import type { WireSuiteSummary } from './wire.ts';

async function listSuites(
  client: ServiceClient,
  { projectId, ...options }: { projectId: string } & CallOptions,
): Promise<WireSuiteSummary[]> {
  return (await callOperation(client, suiteOperations.listEvalSuites, { projectId }, options)).items;
}

/**
 * Finds a suite of a project by its id, or else by its exact name; undefined if there is none.
 *
 * @throws {ConfigurationError} for the input `suite` if several have that name
 */
export async function findSuite(
  client: ServiceClient,
  { suite, ...params }: { projectId: string; suite: string } & CallOptions,
): Promise<WireSuiteSummary | undefined> {
  const [match, ...others] = findNamed(await listSuites(client, params), suite);
  if (match === undefined || others.length === 0) return match;
  const message = `Several suites are called ${JSON.stringify(suite)}; give an id: ${formatNamed([match, ...others])}.`;
  throw new ConfigurationError([{ code: 'several-suites', input: 'suite', message }]);
}

/**
 * Finds the suite that stores the cases of a file, by its exact name; undefined if there is none. Jobs that start at once may each create
 * one, so all of them use the oldest.
 */
export async function findOldestSuite(
  client: ServiceClient,
  { name, ...params }: { projectId: string; name: string } & CallOptions,
): Promise<WireSuiteSummary | undefined> {
  const namesakes = (await listSuites(client, params)).filter((suite) => suite.name === name);
  const age = ({ createdAt }: WireSuiteSummary) => createdAt ?? Number.POSITIVE_INFINITY;
  return namesakes.toSorted((a, b) => age(a) - age(b) || (a.id < b.id ? -1 : 1))[0];
}
