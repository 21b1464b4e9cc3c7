import type { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import { hostOperations } from '../../../../src/service/operations/hosts.ts';
import { type Environments, listUsers } from '../environments/environment-records.ts';
import { ApiError, invalid } from '../envelope.ts';
import { checkAttachment, type HostRecord, type Hosts, type HostSettings } from '../hosts/host-records.ts';
import { templates } from '../hosts/templates.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { Store } from '../store/open-store.ts';

interface HostParts {
  store: Store;
  clock: Clock;
  hosts: Hosts;
  environments: Environments;
}

/** Serves hosts, their servers and their duplicates. */
export function serveHosts(serve: ServeOperation, { store, clock, hosts, environments }: HostParts): void {
  const render = (host: HostRecord) => renderHost(hosts, host);

  serve(hostOperations.listHosts, ({ ids }) => ({
    items: hosts.list(ids.projectId).map((host) => summarizeHost(hosts, host)),
  }));

  serve(hostOperations.createHost, ({ ids: { projectId }, body }) => {
    const { settings, attached } = readNewConfig(body);
    const servers = checkAttachment(store, projectId, attached);
    const host = { name: body.name, config: { settings, servers }, now: clock.now() };
    return render(store.transact(() => hosts.insert(projectId, host)));
  });

  serve(hostOperations.getHost, ({ ids }) => render(hosts.require(ids.projectId, ids.hostId)));

  serve(hostOperations.updateHost, ({ ids, body }) => {
    const before = hosts.require(ids.projectId, ids.hostId);
    const change = { name: body.name ?? before.content.name, now: clock.now() };
    if (body.config === undefined) return render(hosts.update(before, { ...change, config: null }));
    const { serverIds, optionalServerIds, serverAttachmentId: _derived, ...changes } = body.config;
    const former = hosts.getServers(before);
    const servers = checkAttachment(store, ids.projectId, {
      serverIds: serverIds === undefined ? former.serverIds : (serverIds ?? []),
      optionalServerIds: optionalServerIds === undefined ? former.optionalServerIds : (optionalServerIds ?? []),
    });
    const settings = patchSettings(hosts.getConfig(before).settings, changes);
    return render(store.transact(() => hosts.update(before, { ...change, config: { settings, servers } })));
  });

  serve(hostOperations.deleteHost, ({ ids: { projectId, hostId }, body }) => {
    const { id } = hosts.require(projectId, hostId);
    const users = listUsers({ store, environments }, projectId, id);
    if (users.names.length > 0 && body.force !== true) {
      throw new ApiError('CONFLICT', `The host is used by ${users.names.join(', ')}; send force to delete it.`);
    }
    store.transact(() => {
      for (const { suite, hosts: rest } of users.suites) {
        store.suites.update({ id: suite.id, content: { ...suite.content, hosts: rest }, now: clock.now() });
      }
      hosts.delete(id);
    });
    return { id, deleted: true as const };
  });

  serve(hostOperations.setHostServers, ({ ids, body }) => {
    const host = hosts.require(ids.projectId, ids.hostId);
    const { serverIds, optionalServerIds = [] } = body;
    const servers = checkAttachment(store, ids.projectId, { serverIds, optionalServerIds });
    const config = { settings: hosts.getConfig(host).settings, servers };
    return render(store.transact(() => hosts.update(host, { name: host.content.name, config, now: clock.now() })));
  });

  serve(hostOperations.duplicateHost, ({ ids, body }) => {
    const { content } = hosts.require(ids.projectId, ids.hostId);
    const name = body.name ?? `${content.name} copy`;
    return render(hosts.insert(ids.projectId, { name, config: content.configId, now: clock.now() }));
  });
}

/** @throws {ApiError} VALIDATION_ERROR unless exactly one of template and config is given */
function readNewConfig({ template, theme, config }: z.output<typeof hostOperations.createHost.body>) {
  if (config !== undefined) {
    if (template !== undefined) throw invalid('config: Not allowed with template');
    if (theme !== undefined) throw invalid('theme: Only allowed with template');
    const { serverIds = [], optionalServerIds = [], serverAttachmentId: _derived, ...settings } = config;
    return { settings, attached: { serverIds, optionalServerIds } };
  }
  if (template === undefined) throw invalid('template: Required, or else config');
  const { modelId, systemPrompt, capabilities } = templates[template];
  const settings: HostSettings = { template, modelId, systemPrompt, capabilities };
  if (theme !== undefined) settings['theme'] = theme;
  return { settings, attached: { serverIds: [], optionalServerIds: [] } };
}

/** Applies a patch: null removes a field, and an absent field stays unchanged. */
function patchSettings(before: HostSettings, changes: Readonly<Record<string, unknown>>): HostSettings {
  const after: HostSettings = { ...before };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete after[name];
    else if (value !== undefined) after[name] = value;
  }
  return after;
}

function summarizeHost(hosts: Hosts, host: HostRecord) {
  const { serverIds, optionalServerIds } = hosts.getServers(host);
  const { id, content, createdAt, updatedAt } = host;
  return {
    id,
    name: content.name,
    hostConfigId: content.configId,
    modelId: hosts.getConfig(host).settings.modelId ?? null,
    serverCount: serverIds.length + optionalServerIds.length,
    createdAt,
    updatedAt,
  };
}

function renderHost(hosts: Hosts, host: HostRecord) {
  const { settings, attachmentId } = hosts.getConfig(host);
  const config = { ...settings, ...hosts.getServers(host), serverAttachmentId: attachmentId };
  return { id: host.id, name: host.content.name, config };
}
