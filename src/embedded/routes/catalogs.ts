import { hash } from 'node:crypto';
import { listProviderNames } from '../../models/providers.ts';
import type { ModelName, ModelSource } from '../../models/language-model.ts';
import { catalogOperations } from '../../service/operations/catalogs.ts';
import { harnessTools } from '../catalogs/harness-tools.ts';
import { notFound } from '../envelope.ts';
import { templates } from '../hosts/templates.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readModel } from '../plan-run-cases.ts';

/** Of the data below; to be counted up with a change of it. */
const catalogVersion = 1;
const publishedAt = Date.UTC(2026, 10, 1);

interface CatalogParts {
  /** Null where no model can be asked. */
  models: ModelSource | null;
  defaultModel: ModelName | null;
}

/** What needs no key, and what a key may do. */
export function serveCatalogs(serve: ServeOperation, { models, defaultModel }: CatalogParts): void {
  serve(catalogOperations.getHostCompatCatalog, () => {
    const hosts = Object.entries(templates).map(([id, { title, modelId, capabilities }]) => {
      return [id, { id, name: title, modelId, capabilities }] as const;
    });
    const catalog = { hostsById: Object.fromEntries(hosts) };
    const contentHash = hash('sha256', JSON.stringify(catalog));
    return { schemaVersion: 1, version: catalogVersion, contentHash, publishedAt, source: 'bundled', catalog };
  });

  serve(catalogOperations.listHarnessBuiltinTools, ({ ids }) => {
    const tools = harnessTools.get(ids.harnessId);
    if (tools === undefined) throw notFound('Harness');
    return { items: tools.map((tool) => ({ ...tool })) };
  });

  serve(catalogOperations.listModels, () => {
    const canAsk = (model: ModelName) => models?.findProblem({ model, apiKeys: new Map() }) === null;
    const ids = new Set([...(defaultModel ? [printModel(defaultModel)] : []), ...listTemplateModels()]);
    return {
      providers: listProviderNames().map((id) => ({ id, isConfigured: canAsk({ provider: id, name: '' }) })),
      models: [...ids].map((id) => {
        const { provider, name } = readModel({ model: id });
        const isDefault = defaultModel !== null && id === printModel(defaultModel);
        return { id, provider, name, isAvailable: canAsk({ provider, name }), isDefault };
      }),
    };
  });

  serve(catalogOperations.listOrganizations, ({ caller }) => {
    const { organizationId: id, role, user } = caller;
    const isCreator = user.id === 'user_local';
    return { items: [{ id, name: isCreator ? 'Local organization' : id, plan: 'local', myRole: role, isCreator }] };
  });

  serve(catalogOperations.getProjectCapabilities, ({ caller: { role } }) => ({
    role,
    surface: 'api',
    plan: 'local',
    features: { prompts: models !== null, environments: true, schedules: true, plugins: true },
    can: {
      read: true,
      write: role !== 'guest',
      manageProject: role === 'admin',
      manageEnvironments: role === 'admin',
      runEvals: role !== 'guest',
    },
  }));
}

function listTemplateModels(): string[] {
  return Object.values(templates).map(({ modelId }) => modelId);
}

function printModel({ provider, name }: ModelName): string {
  return `${provider}/${name}`;
}
