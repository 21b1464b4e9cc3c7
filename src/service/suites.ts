import type { TestCase } from '../model/case.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import { deletedSchema, suiteCreatedSchema, suiteDetailSchema, suitePageSchema } from './wire.ts';
import type { WireSuiteCreated, WireSuiteDetail, WireSuiteSummary } from './wire.ts';

/** A suite to be created with its cases. The API refuses fields it does not know. */
export interface NewSuite {
  name: string;
  description?: string;
  /** One or more. */
  serverIds: readonly string[];
  /** `provider/name`; demanded even of suites in which nothing calls a model. */
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

function suitesPath(projectId: string): string[] {
  return ['projects', projectId, 'eval-suites'];
}

/** Creates a suite. Cases may fail one by one without failing the call: `caseUpsert.failed` lists them. */
export async function createSuite(
  client: ServiceClient,
  { projectId, suite, ...options }: { projectId: string; suite: NewSuite; idempotencyKey?: string } & CallOptions,
): Promise<WireSuiteCreated> {
  const path = suitesPath(projectId);
  return client.call({ method: 'POST', path, body: suite, isSlow: true, parse: parseSuiteCreated, ...options });
}

/** Lists all suites of a project. The API does not page them. */
export async function listSuites(
  client: ServiceClient,
  { projectId, ...options }: { projectId: string } & CallOptions,
): Promise<WireSuiteSummary[]> {
  const page = await client.call({ method: 'GET', path: suitesPath(projectId), parse: parseSuites, ...options });
  return page.items;
}

/** Gets a suite with its settings, without its cases. */
export async function getSuite(
  client: ServiceClient,
  { projectId, suiteId, ...options }: { projectId: string; suiteId: string } & CallOptions,
): Promise<WireSuiteDetail> {
  return client.call({ method: 'GET', path: [...suitesPath(projectId), suiteId], parse: parseSuite, ...options });
}

/** Deletes a suite and its cases; its past runs stay. */
export async function deleteSuite(
  client: ServiceClient,
  { projectId, suiteId, ...options }: { projectId: string; suiteId: string } & CallOptions,
): Promise<void> {
  await client.call({ method: 'DELETE', path: [...suitesPath(projectId), suiteId], parse: parseDeleted, ...options });
}
