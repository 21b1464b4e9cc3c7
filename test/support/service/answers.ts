import { startDeadline, systemClock } from '../../../src/base/time.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { callOperation, printField } from '../../../src/service/call-operation.ts';
import { openServiceClient } from '../../../src/service/client.ts';
import { listPathFields, type Operation } from '../../../src/service/operations/operation.ts';
import { listOperations } from '../../../src/service/operations/table.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { documentedAnswers, findDifferences } from './documented-answers.ts';
import type { ContractService } from './contract-service.ts';

/** The answer of a service, for both ways to ask. `code` is that of a refusal. */
export interface ContractAnswer {
  status: number;
  code: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads the fields it knows
  body: any;
}

/** The address and the key of a service. */
export type ContractAddress = Pick<ContractService, 'baseUrl' | 'apiKey' | 'projectId'>;

/** Sends one request to the service of the test; `key` is that of another user if the service has several. */
export type Send = (
  name: string,
  fields?: Record<string, unknown>,
  options?: { key?: string },
) => Promise<ContractAnswer>;

/**
 * The two ways to ask a service, for `it.each`: through the typed client and as a bare HTTP request. The table of the contract lists tests that
 * are named `<operation> answers <status>: <when> ($way)`.
 */
export const ways = [
  { way: 'client', open: openClientWay },
  { way: 'http', open: openHttpWay },
];

function findOperation(name: string): Operation {
  const found = listOperations().find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`The table has no operation ${name}.`);
  return found;
}

/** Adds the project of the service if the operation's path has one and the test names none. */
function addProject({ path }: Operation, projectId: string, fields: Record<string, unknown>): Record<string, unknown> {
  return path.includes('{projectId}') ? { projectId, ...fields } : fields;
}

function openClientWay({ baseUrl, apiKey, projectId }: ContractAddress): Send {
  return async (name, fields = {}, { key = apiKey } = {}) => {
    const operation = findOperation(name);
    await using client = openServiceClient({
      baseUrl,
      apiKey: new Secret(key),
      profile: serviceProfiles.embedded,
      clock: systemClock,
      logger: silentLogger,
      maxAttempts: 1,
      // The client would repeat a rate-limited call, except if the wait is longer than the deadline.
      deadline: startDeadline(systemClock, 60_000, 'The call'),
    });
    try {
      const body = await callOperation(client, operation, addProject(operation, projectId, fields));
      return { status: operation.status, code: undefined, body };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { status: error.status, code: error.code, body: undefined };
    }
  };
}

/** Requires that an answer has every field that clients of the API need. */
function requireDocumented(name: string, answer: unknown): void {
  const type = documentedAnswers.get(name);
  const differences = type === undefined ? ['it is not documented'] : findDifferences(answer, type);
  if (differences.length > 0) throw new Error(`The answer of ${name} differs: ${differences.join(', ')}.`);
}

function openHttpWay({ baseUrl, apiKey, projectId }: ContractAddress): Send {
  return async (name, fields = {}, { key = apiKey } = {}) => {
    const operation = findOperation(name);
    const { method, path, query } = operation;
    const given = addProject(operation, projectId, fields);
    const ids = new Set(listPathFields(path));
    const url = new URL(
      baseUrl + path.replaceAll(/\{(\w+)\}/g, (_, id: string) => encodeURIComponent(printField(given[id]))),
    );
    for (const id of Object.keys(query.shape)) {
      if (given[id] !== undefined) url.searchParams.set(id, printField(given[id]));
    }
    const body = Object.entries(given).filter(([id]) => !ids.has(id) && query.shape[id] === undefined);
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method !== 'GET' && body.length > 0 && { body: JSON.stringify(Object.fromEntries(body)) }),
    });
    const answer: ContractAnswer['body'] = await response.json();
    if (response.ok) requireDocumented(name, answer);
    return { status: response.status, code: answer.code, body: answer };
  };
}
