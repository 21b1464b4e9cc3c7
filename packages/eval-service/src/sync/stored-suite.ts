import { isRecord } from '../../../../src/base/json.ts';
import type { StoredCase } from '../../../../src/cases/case.ts';
import { serverUnderTest } from '../../../../src/cases/step-server.ts';
import { callOperation } from '../../../../src/service/call-operation.ts';
import type { CallOptions, ServiceClient } from '../../../../src/service/client.ts';
import { operations } from '../../../../src/service/operations/table.ts';
import type { WireServer } from '../../../../src/service/wire.ts';
import { type Ledger, readLedger } from './ledger.ts';

/** Means "none" if the API requires a model and the suite asks none. */
export const noModel = 'none/none';

/** A case with the id that it got at its creation; null if the service does not return it. */
export interface DeclaredCase extends StoredCase {
  declaredId: string | null;
}

/** A suite as a service stores it. */
export interface StoredSuite {
  id: string;
  name: string;
  /** The part of its description that people wrote. */
  text: string;
  /** Null if `sync` did not create it. */
  ledger: Ledger | null;
  settings: StoredSettings;
  servers: WireServer[];
  /** In the order of the service. */
  cases: DeclaredCase[];
}

/** The settings of a suite that `sync` compares, in addition to its cases. */
export interface StoredSettings {
  /** Percent, 0..100. */
  minimumAccuracy: number;
  /** Every case runs at least so many times. */
  minimumIterations: number;
  model: string | null;
  systemPrompt: string | null;
  temperature: number | null;
}

/** Reads a suite with its cases. Calls name their server even if the service stores its id. */
export async function readStoredSuite(
  client: ServiceClient,
  {
    projectId,
    suiteId,
    servers,
    ...options
  }: { projectId: string; suiteId: string; servers: readonly WireServer[] } & CallOptions,
): Promise<StoredSuite> {
  const at = { projectId, suiteId };
  const detail = await callOperation(client, operations.suites.getEvalSuite, at, options);
  const { items: cases } = await callOperation(client, operations.cases.listEvalCases, at, options);
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
      // Settings of the case take precedence over the inherited settings of the suite.
      matchOptions: { ...settings?.matchOptions, ...item.matchOptions },
      checks: resolveStoredChecks(item.checks ?? null, settings?.checks ?? []),
      steps: (item.steps ?? []).map((step) => nameServer(step, { servers, own })),
      declaredId: declaredId ?? null,
    })),
  };
}

/** Resolves the checks of a stored case, including inherited ones. An unknown envelope stays unchanged and therefore differs from the file. */
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
