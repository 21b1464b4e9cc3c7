import { ConfigurationError } from '../base/errors.ts';
import type { TestCase } from '../model/case.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { findNamed, formatNamed } from './named.ts';
import { parseAs } from './parse.ts';
import { fillPath, suitePath, suitesPath } from './paths.ts';
import {
  deletedSchema,
  suiteCreatedSchema,
  suiteDetailSchema,
  suitePageSchema,
  type WireSuiteCreated,
  type WireSuiteDetail,
  type WireSuiteSummary,
} from './wire.ts';

/** A suite to be created with its cases. The API refuses fields it does not know. */
export interface NewSuite {
  name: string;
  description?: string;
  /** One or more. */
  serverIds: readonly string[];
  /** What the steps call them, in the same order. */
  serverNames?: readonly string[];
  /** `provider/name`; required even of suites in which nothing calls a model. */
  model: string;
  provider?: string;
  /** From one to the profile's `limits.testsPerRequest`. */
  tests: readonly TestCase[];
  passCriteria?: { minimumPassRate: number };
}

const parseSuiteCreated = parseAs(suiteCreatedSchema, 'the receipt of a suite');
const parseSuites = parseAs(suitePageSchema, 'a list of suites');
const parseSuite = parseAs(suiteDetailSchema, 'a suite');
const parseDeleted = parseAs(deletedSchema, 'the receipt of a deletion');

/** Creates a suite. Cases may fail one by one without failing the call: `caseUpsert.failed` lists them. */
export async function createSuite(
  client: ServiceClient,
  params: { projectId: string; suite: NewSuite; idempotencyKey?: string } & CallOptions,
): Promise<WireSuiteCreated> {
  const path = fillPath(suitesPath, params);
  const kind = { isSlow: true, isSetup: true };
  return client.call({ method: 'POST', path, body: params.suite, ...kind, parse: parseSuiteCreated, ...params });
}

/** Lists all suites of a project. The API does not page them. */
export async function listSuites(
  client: ServiceClient,
  params: { projectId: string } & CallOptions,
): Promise<WireSuiteSummary[]> {
  const path = fillPath(suitesPath, params);
  const page = await client.call({ method: 'GET', path, parse: parseSuites, ...params });
  return page.items;
}

/**
 * Finds a suite of a project by its id, or else by its exact name; undefined where there is none.
 *
 * @throws {ConfigurationError} for the input `suite` where several have that name
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
 * Finds the suite that a file's cases are kept in, by its exact name; undefined where there is none. Jobs that start at once
 * may each have made one: all that come later agree on the oldest.
 */
export async function findOldestSuite(
  client: ServiceClient,
  { name, ...params }: { projectId: string; name: string } & CallOptions,
): Promise<WireSuiteSummary | undefined> {
  const namesakes = (await listSuites(client, params)).filter((suite) => suite.name === name);
  const age = ({ createdAt }: WireSuiteSummary) => createdAt ?? Number.POSITIVE_INFINITY;
  return namesakes.toSorted((a, b) => age(a) - age(b) || (a.id < b.id ? -1 : 1))[0];
}

/** Gets a suite with its settings, without its cases. */
export async function getSuite(
  client: ServiceClient,
  params: { projectId: string; suiteId: string } & CallOptions,
): Promise<WireSuiteDetail> {
  return client.call({ method: 'GET', path: fillPath(suitePath, params), parse: parseSuite, ...params });
}

/** Deletes a suite and its cases; its past runs stay. */
export async function deleteSuite(
  client: ServiceClient,
  params: { projectId: string; suiteId: string } & CallOptions,
): Promise<void> {
  await client.call({ method: 'DELETE', path: fillPath(suitePath, params), parse: parseDeleted, ...params });
}
