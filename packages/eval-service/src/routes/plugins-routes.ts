import { catalogOperations } from '../../../../src/service/operations/catalogs.ts';
import { notFound } from '../envelope.ts';
import type { ServeOperation } from '../operation-routes.ts';
import {
  findPluginVersion,
  type Plugin,
  type PluginServer,
  type PluginSkill,
  type PluginVersion,
} from '../plugins/inventory.ts';

/** Serves the plugins with which the service was started, the same for every project. */
export function servePlugins(serve: ServeOperation, plugins: readonly Plugin[]): void {
  serve(catalogOperations.listProjectPlugins, ({ ids }) => ({
    items: plugins.map((plugin) => renderPlugin(plugin, ids.projectId)),
  }));

  serve(catalogOperations.getPluginVersion, ({ ids }) => {
    const version = findPluginVersion(plugins, ids.pluginVersionId);
    if (version === undefined) throw notFound('Plugin version');
    return renderVersion(version);
  });
}

function renderPlugin({ id, name, description, createdAt, versions }: Plugin, projectId: string) {
  return {
    id,
    projectId,
    name,
    ...(description !== null && { description }),
    enabled: true,
    createdAt,
    updatedAt: Math.max(createdAt, ...versions.map((version) => version.createdAt)),
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
    skills: skills.map((skill) => renderSkill(skill, version.pluginName)),
    createdAt,
    ...(status === 'ready' && { readyAt: createdAt }),
  };
}

function renderDeclared({ declaredVersion }: PluginVersion) {
  return declaredVersion === null ? {} : { declaredVersion };
}

/** Renders a component. Environments select the component itself, because the service makes no copy of it. */
function renderComponent(id: string, name: string, kind: 'server' | 'skill') {
  return { id, name, componentId: id, componentKey: `${kind}:${name}`, declaredName: name };
}

function renderSkill({ id, name }: PluginSkill, pluginName: string) {
  return { ...renderComponent(id, name, 'skill'), modelRef: `${pluginName}/${name}`, materializedSkillId: id };
}

/** Renders a server without the query and the user of its URL, which may be secrets. */
function renderServer({ id, name, url }: PluginServer) {
  const { origin, pathname } = new URL(url);
  return {
    ...renderComponent(id, name, 'server'),
    placement: 'remote',
    authenticationPolicy: 'on_use',
    materializedServerId: id,
    transportType: 'http',
    url: `${origin}${pathname}`,
  };
}
