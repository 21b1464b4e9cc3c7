import { isRecord } from '../../../../src/base/json.ts';
import type { StoredCase } from '../../../../src/model/case.ts';
import { serverUnderTest } from '../../../../src/model/step-server.ts';
import { listCases } from '../../../../src/service/cases.ts';
import { callOperation } from '../../../../src/service/call-operation.ts';
import type { CallOptions, ServiceClient } from '../../../../src/service/client.ts';
import { operations } from '../../../../src/service/operations/table.ts';
import type { WireServer } from '../../../../src/service/wire.ts';
import { type Ledger, readLedger } from './ledger.ts';

/** Stands for "none" where the API requires a model of a suite that asks none. */
export const noModel = 'none/none';

/** A case under the id that it was given when it was created; null where the service shows none. */
export interface DeclaredCase extends StoredCase {
  declaredId: string | null;
}

/** A suite as a service keeps it. */
export interface StoredSuite {
  id: string;
  name: string;
  /** What people wrote of its description. */
  text: string;
  /** Null where `sync` did not make it. */
  ledger: Ledger | null;
  settings: StoredSettings;
  servers: WireServer[];
  /** In the order of the service. */
  cases: DeclaredCase[];
}

/** What `sync` keeps of a suite in addition to its cases. */
export interface StoredSettings {
  /** Percent, 0..100. */
  minimumAccuracy: number;
  /** Every case runs at least this often. */
  minimumIterations: number;
  model: string | null;
  systemPrompt: string | null;
  temperature: number | null;
}

/** Reads a suite with its cases. Calls name their server, also where the service has its id. */
export async function readStoredSuite(
  client: ServiceClient,
  {
    projectId,
    suiteId,
    servers,
    ...options
  }: { projectId: string; suiteId: string; servers: readonly WireServer[] } & CallOptions,
): Promise<StoredSuite> {
  const detail = await callOperation(client, operations.suites.getEvalSuite, { projectId, suiteId }, options);
  const cases = await listCases(client, { projectId, suiteId, ...options });
  const { settings, executionConfig, environment } = detail;
  const { model } = executionConfig ?? {};
  const selected = new Set(environment?.servers ?? []);
  const own = servers.filter(({ id, name }) => selected.has(id) || selected.has(name));
  return {
    id: detail.id,
    name: detail.name ?? detail.id,
    ...readLedger(detail.description ?? null),
    settings: {
      minimumAccuracy: settings?.minimumAccuracy ?? 100,
      minimumIterations: settings?.minimumIterations ?? 1,
      model: model === undefined || model === noModel ? null : model,
      systemPrompt: executionConfig?.systemPrompt || null,
      temperature: executionConfig?.temperature ?? null,
    },
    servers: own,
    cases: cases.map(({ declaredId, ...item }) => ({
      ...item,
      // A case of its own settings; a case without inherits those of the suite.
      matchOptions: { ...settings?.matchOptions, ...item.matchOptions },
      checks: resolveStoredChecks(item.checks ?? null, settings?.checks ?? []),
      steps: (item.steps ?? []).map((step) => nameServer(step, { servers, own })),
      declaredId: declaredId ?? null,
    })),
  };
}

/** The checks that a stored case ends with, as its own. An envelope that says something else stays as it is, and then differs. */
function resolveStoredChecks(
  envelope: Readonly<Record<string, unknown>> | null,
  ofSuite: readonly unknown[],
): Record<string, unknown> {
  const { mode = 'inherit', list = [] } = envelope ?? {};
  const own: readonly unknown[] = Array.isArray(list) ? list : [];
  if (mode === 'inherit') return { mode: 'replace', list: ofSuite };
  if (mode === 'extend') return { mode: 'replace', list: [...ofSuite, ...own] };
  return { mode, list };
}

function nameServer(
  step: unknown,
  { servers, own }: { servers: readonly WireServer[]; own: readonly WireServer[] },
): unknown {
  if (!isRecord(step) || step['kind'] !== 'toolCall') return step;
  const { serverId, serverName, ...others } = step;
  const [only, ...more] = own;
  const isUnnamed = serverId === undefined && (serverName === serverUnderTest || serverName === '');
  const server =
    isUnnamed && more.length === 0
      ? only
      : serverId === undefined
        ? undefined
        : servers.find(({ id }) => id === serverId);
  return server === undefined ? step : { ...others, serverName: server.name };
}
