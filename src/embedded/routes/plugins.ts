import { catalogOperations } from '../../service/operations/catalogs.ts';
import { notFound } from '../envelope.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { findPluginVersion, type Plugin, type PluginServer, type PluginVersion } from '../plugins/inventory.ts';

/** The plugins that the service was started with, the same for every project. */
export function servePlugins(serve: ServeOperation, plugins: readonly Plugin[]): void {
  serve(catalogOperations.listProjectPlugins, () => ({ items: plugins.map(renderPlugin) }));

  serve(catalogOperations.getPluginVersion, ({ ids }) => {
    const version = findPluginVersion(plugins, ids.pluginVersionId);
    if (version === undefined) throw notFound('Plugin version');
    return renderVersion(version);
  });
}

function renderPlugin({ id, name, description, versions }: Plugin) {
  return {
    id,
    name,
    ...(description !== null && { description }),
    versions: versions.map((version) => ({ id: version.id, ...renderDeclared(version), status: version.status })),
  };
}

function renderVersion(version: PluginVersion) {
  const { id, pluginId, bundleHash, manifestHash, status, componentCounts, servers, skills, createdAt } = version;
  return {
    id,
    pluginId,
    ...renderDeclared(version),
    bundleHash,
    ...(manifestHash !== null && { manifestHash }),
    status,
    componentCounts,
    servers: servers.map(renderServer),
    skills: skills.map(({ id: skillId, name }) => ({ id: skillId, name })),
    createdAt,
    ...(status === 'ready' && { readyAt: createdAt }),
  };
}

function renderDeclared({ declaredVersion }: PluginVersion) {
  return declaredVersion === null ? {} : { declaredVersion };
}

/** Query and user of a URL may be secrets. */
function renderServer({ id, name, url }: PluginServer) {
  const { origin, pathname } = new URL(url);
  return { id, name, transportType: 'http', url: `${origin}${pathname}` };
}
