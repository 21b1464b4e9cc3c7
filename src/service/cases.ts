import type { CaseChanges, CaseFields } from '../model/case.ts';
import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import { caseBatchPath, casePath, casesPath, fillPath } from './paths.ts';
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

/** Lists all cases of a suite. The API does not page them. */
export async function listCases(client: ServiceClient, params: SuiteParams): Promise<WireCase[]> {
  const page = await client.call({
    method: 'GET',
    path: fillPath(casesPath, params),
    parse: parseCases,
    ...params,
  });
  return page.items;
}

/** Creates one case. */
export async function createCase(client: ServiceClient, params: SuiteParams & { newCase: NewCase }): Promise<WireCase> {
  const path = fillPath(casesPath, params);
  return client.call({ method: 'POST', path, body: params.newCase, parse: parseCase, ...params });
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
  const { cases, duplicatePolicy } = params;
  const path = fillPath(caseBatchPath, params);
  const body = { cases, ...(duplicatePolicy === undefined ? {} : { duplicatePolicy }) };
  return client.call({ method: 'POST', path, body, parse: parseBatchResult, ...params });
}

/** Sets the given fields of a case; null clears checks or match options. The declared id cannot be changed. */
export async function updateCase(
  client: ServiceClient,
  params: SuiteParams & { caseId: string; changes: CaseChanges },
): Promise<WireCase> {
  const path = fillPath(casePath, params);
  return client.call({ method: 'PATCH', path, body: params.changes, isRepeatable: true, parse: parseCase, ...params });
}

/** Deletes a case. */
export async function deleteCase(client: ServiceClient, params: SuiteParams & { caseId: string }): Promise<void> {
  await client.call({ method: 'DELETE', path: fillPath(casePath, params), parse: parseDeleted, ...params });
}
