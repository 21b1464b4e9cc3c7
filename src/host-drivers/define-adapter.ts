import type { JsonObject } from '../base/json.ts';
import type { HostProfile } from '../hosts/profile.ts';
import { nameWhole } from '../hosts/show-name.ts';
import type { ConfiguredServer, HostAdapter, HostPlace, ProviderRequest, ShownServers, ShownTool } from './driver.ts';
import { classifyByTools, findInstructions } from './requests.ts';

/** What an adapter has to say of its host. */
interface AdapterParts
  extends
    Pick<HostAdapter, 'program' | 'wire' | 'start' | 'readOutput'>,
    Partial<Pick<HostAdapter, 'canDropBuiltIns' | 'classify'>> {
  /** The profile has the id of the host and the names that it gives to tools. */
  profile: Pick<HostProfile, 'id' | 'names'>;
  /** Returns the name under which the host knows a server, if that is not the name in its configuration. */
  keyServer?: (name: string) => string;
  /** Lists the tools that a request names without declaring them. */
  listDeferred?: (request: ProviderRequest) => readonly ShownTool[];
  /** True if the model can search for tools of which the request has not even a name. */
  canSearch?: (request: ProviderRequest) => boolean;
}

/** Makes an adapter: adds what hosts do alike. */
export function defineAdapter({
  profile,
  keyServer = (name) => name,
  listDeferred = () => [],
  canSearch,
  ...parts
}: AdapterParts): HostAdapter {
  const { wire } = parts;
  const nameTool = (server: string, tool: string) =>
    nameWhole(profile.names.value, { server: keyServer(server), tool });
  const readShown = (request: ProviderRequest, servers: readonly ConfiguredServer[]): ShownServers => {
    const prefixes = servers.map(({ name }) => nameTool(name, ''));
    const listed = [...listDeferred(request), ...wire.readTools(request)].filter(({ name }) =>
      prefixes.some((prefix) => name.startsWith(prefix)),
    );
    return {
      // The declaration of a deferred tool comes last.
      tools: [...new Map(listed.map((tool) => [tool.name, tool])).values()],
      instructions: findInstructions(wire.readTexts(request), servers),
      ...(canSearch !== undefined && { canSearch: canSearch(request) }),
    };
  };
  return {
    canDropBuiltIns: false,
    classify: (request) => classifyByTools(request, wire),
    ...parts,
    id: profile.id,
    readShown,
    nameTool,
  };
}

/** Describes the servers by name, as configurations of hosts do. */
export function mapServers(
  servers: HostPlace['servers'],
  describe: (server: { name: string; command: string; args: readonly string[] }) => JsonObject,
): Record<string, JsonObject> {
  return Object.fromEntries(
    servers.map(({ name, command: [command, ...args] }) => [name, describe({ name, command, args })]),
  );
}
