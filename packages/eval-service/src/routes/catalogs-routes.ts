import { hash } from 'node:crypto';
import { listProviderNames } from '../../../../src/models/providers.ts';
import type { ModelName, ModelSource } from '../../../../src/models/language-model.ts';
import { catalogOperations } from '../../../../src/service/operations/catalogs.ts';
import { harnessTools } from '../catalogs/harness-tools.ts';
import { notFound } from '../envelope.ts';
import { type TemplateConfig, templates } from '../hosts/templates.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readModel } from '../plan-run-cases.ts';

/** The version of the data below; increment it when the data changes. */
const catalogVersion = 2;
const publishedAt = Date.UTC(2026, 10, 1);

/** The time that a client of the templates waits for an answer of a server. Like the other data, this project chose it. */
const requestTimeoutMs = 60_000;

interface CatalogParts {
  /** True if there may be an engine that boots sandbox images. */
  hasSandboxes: boolean;
  /** Null if no model can be asked. */
  models: ModelSource | null;
  defaultModel: ModelName | null;
}

/** Serves the catalogs, which need no key, and the rights of a key. */
export function serveCatalogs(serve: ServeOperation, { models, defaultModel, hasSandboxes }: CatalogParts): void {
  serve(catalogOperations.getHostCompatCatalog, () => {
    const hosts = Object.entries(templates).map(([id, template]) => [id, renderCatalogHost(id, template)] as const);
    const catalog = { hostsById: Object.fromEntries(hosts) };
    const contentHash = hash('sha256', JSON.stringify(catalog));
    return { schemaVersion: 2, version: catalogVersion, contentHash, publishedAt, source: 'bundled', catalog };
  });

  serve(catalogOperations.listHarnessBuiltinTools, ({ ids }) => {
    const tools = harnessTools.get(ids.harnessId);
    if (tools === undefined) throw notFound('Harness');
    return { items: tools.map((tool) => ({ key: tool.name, ...tool })) };
  });

  serve(catalogOperations.listModels, () => {
    const canAsk = (model: ModelName) => models?.findProblem({ model, apiKeys: new Map() }) === null;
    const ids = new Set([...(defaultModel ? [printModel(defaultModel)] : []), ...listTemplateModels()]);
    const items = [...ids].map((id) => {
      const { provider, name } = readModel({ model: id });
      const isDefault = defaultModel !== null && id === printModel(defaultModel);
      return { id, provider, name, isAvailable: canAsk({ provider, name }), isDefault };
    });
    const providers = listProviderNames().map((id) => ({ id, isConfigured: canAsk({ provider: id, name: '' }) }));
    return { providers, models: items, items };
  });

  serve(catalogOperations.listOrganizations, ({ caller }) => {
    const { organizationId: id, role, user } = caller;
    const isCreator = user.id === 'user_local';
    return { items: [{ id, name: isCreator ? 'Local organization' : id, plan: 'local', myRole: role, isCreator }] };
  });

  serve(catalogOperations.getProjectCapabilities, ({ ids: { projectId }, caller: { role, organizationId } }) => ({
    projectId,
    organizationId,
    projectRole: role,
    role,
    surface: 'api',
    plan: null,
    features: {
      prompts: models !== null,
      environments: true,
      schedules: true,
      plugins: true,
      sandboxes: hasSandboxes,
    },
    can: {
      read: true,
      write: role !== 'guest',
      manageProject: role === 'admin',
      manageEnvironments: role === 'admin',
      runEvals: role !== 'guest',
    },
  }));
}

function renderCatalogHost(id: string, template: TemplateConfig) {
  const { title, modelId, systemPrompt, capabilities } = template;
  const { apps, ...abilities } = capabilities;
  const clientCapabilities = Object.entries(abilities).flatMap(([name, isOffered]) => (isOffered ? [[name, {}]] : []));
  return {
    id,
    label: title,
    name: title,
    // This data was neither observed nor documented by the client's vendor.
    provenance: 'assumed',
    rendersMcpApps: apps,
    hostStyle: id,
    modelId,
    systemPrompt,
    temperature: 1,
    requireToolApproval: false,
    respectToolVisibility: apps,
    serverIds: [],
    optionalServerIds: [],
    builtInToolIds: (harnessTools.get(id) ?? []).map(({ name }) => name),
    connectionDefaults: { headers: {}, requestTimeout: requestTimeoutMs },
    clientCapabilities: Object.fromEntries(clientCapabilities),
    hostContext: {},
    capabilities,
  };
}

function listTemplateModels(): string[] {
  return Object.values(templates).map(({ modelId }) => modelId);
}

function printModel({ provider, name }: ModelName): string {
  return `${provider}/${name}`;
}
