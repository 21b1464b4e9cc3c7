import type { CaseChanges, CaseFields } from '../model/case.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import {
  caseBatchResultSchema,
  casePageSchema,
  caseSchema,
  deletedSchema,
  type WireCase,
  type WireCaseBatchResult,
} from './wire.ts';

/** A case to be created in a suite. `iterations` is at most `limits.iterationsPerCase` of the profile. */
export interface NewCase extends CaseFields {
  /** Declared id, `[A-Za-z0-9_-]{1,128}`; the service makes one up where it is left out. */
  id?: string;
}

interface SuiteParams extends CallOptions {
  projectId: string;
  suiteId: string;
}

const parseCase = parseAs(caseSchema, 'a case');
const parseCases = parseAs(casePageSchema, 'a list of cases');
const parseBatchResult = parseAs(caseBatchResultSchema, 'the receipt of a batch of cases');
const parseDeleted = parseAs(deletedSchema, 'the receipt of a deletion');

function casesPath({ projectId, suiteId }: { projectId: string; suiteId: string }): string[] {
  return ['projects', projectId, 'eval-suites', suiteId, 'cases'];
}

/** Lists all cases of a suite. The API does not page them. */
export async function listCases(client: ServiceClient, params: SuiteParams): Promise<WireCase[]> {
  const { projectId, suiteId, ...options } = params;
  const path = casesPath({ projectId, suiteId });
  const page = await client.call({ method: 'GET', path, parse: parseCases, ...options });
  return page.items;
}

/** Creates one case. */
export async function createCase(
  client: ServiceClient,
  { projectId, suiteId, newCase, ...options }: SuiteParams & { newCase: NewCase },
): Promise<WireCase> {
  const path = casesPath({ projectId, suiteId });
  return client.call({ method: 'POST', path, body: newCase, parse: parseCase, ...options });
}

/** Creates up to `limits.testsPerRequest` cases. Some may fail without failing the call: `failed` lists them. */
export async function createCases(
  client: ServiceClient,
  params: SuiteParams & {
    cases: readonly NewCase[];
    duplicatePolicy?: 'block' | 'warn' | 'create_anyway';
    idempotencyKey?: string;
  },
): Promise<WireCaseBatchResult> {
  const { projectId, suiteId, cases, duplicatePolicy, ...options } = params;
  const path = [...casesPath({ projectId, suiteId }), 'batch'];
  const body = { cases, ...(duplicatePolicy === undefined ? {} : { duplicatePolicy }) };
  return client.call({ method: 'POST', path, body, parse: parseBatchResult, ...options });
}

/** Sets the given fields of a case; null clears checks or match options. The declared id cannot be changed. */
export async function updateCase(
  client: ServiceClient,
  params: SuiteParams & { caseId: string; changes: CaseChanges },
): Promise<WireCase> {
  const { projectId, suiteId, caseId, changes, ...options } = params;
  const path = [...casesPath({ projectId, suiteId }), caseId];
  return client.call({ method: 'PATCH', path, body: changes, isRepeatable: true, parse: parseCase, ...options });
}

/** Deletes a case. */
export async function deleteCase(client: ServiceClient, params: SuiteParams & { caseId: string }): Promise<void> {
  const { projectId, suiteId, caseId, ...options } = params;
  const path = [...casesPath({ projectId, suiteId }), caseId];
  await client.call({ method: 'DELETE', path, parse: parseDeleted, ...options });
}
