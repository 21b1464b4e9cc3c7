import type { ImpossibleCell } from '../../../scripts/contract-cells.ts';
import { operations } from '../../../src/service/operations/table.ts';
import type { Operation } from '../../../src/service/operations/operation.ts';

const { account, servers, suites, cases, ingest, tunnels, chats, traceExport, catalogs } = operations;
const { environments, hosts, suiteSettings, images } = operations;

/** All operations that answer only from the store. */
const ofTheStore: Operation[] = [
  ...Object.values<Operation>({ ...account, ...servers, ...suites, ...cases, ...ingest, ...tunnels, ...chats }),
  ...Object.values<Operation>({ ...traceExport, ...catalogs, ...environments, ...hosts, ...suiteSettings }),
].filter(({ name }) => name !== 'generateEvalCases');

const listAll = (status: number, reason: string, among: readonly Operation[]): ImpossibleCell[] =>
  among.filter(({ errors }) => errors.includes(status)).map(({ name: operation }) => ({ operation, status, reason }));

/** The documented answers that the embedded service never has a reason to give. The check of the table allows at most one in ten. */
export const impossibleCells: ImpossibleCell[] = [
  ...listAll(502, 'the answer comes from the store; no server or model is asked', ofTheStore),
  ...listAll(504, 'the answer comes from the store; no server or model is asked', ofTheStore),
  ...listAll(
    502,
    'the answer comes before any container starts',
    Object.values<Operation>(images).filter(({ name }) => name !== 'useSandboxImage' && name !== 'resetComputer'),
  ),
  { operation: 'runDoctor', status: 502, reason: 'a server that cannot be reached is a finding, answered with 200' },
  { operation: 'runDoctor', status: 504, reason: 'a server that does not answer is a finding, answered with 200' },
  ...[502, 504].map((status) => ({
    operation: 'importOAuthTokens',
    status,
    reason: 'an authorization server that cannot be reached only means that the tokens are not refreshed',
  })),
  { operation: 'createProject', status: 404, reason: 'the request names no record' },
  { operation: 'listModels', status: 400, reason: 'the request has nothing but its path' },
  { operation: 'listModels', status: 404, reason: 'the request names no record' },
];

/** Requests that only bare HTTP can send: the client derives the Host header from its base URL. */
export const httpOnly = ['a Host that is not loopback'];
