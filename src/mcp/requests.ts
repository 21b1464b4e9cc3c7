import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { ProtocolError } from '../base/errors.ts';

/** The requests of a client to a server, except tool calls. */
export type ServerRequest =
  | { method: 'resources/read'; params: { uri: string } }
  | { method: 'prompts/get'; params: { name: string; arguments: Record<string, string> } }
  | {
      method: 'completion/complete';
      params: {
        ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };
        argument: { name: string; value: string };
        context: { arguments: Record<string, string> };
      };
    }
  | {
      method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';
      /** Requests only the page at this cursor, or the first page without one. Without `page`, all pages are read. */
      page?: { cursor?: string };
    }
  | { method: 'ping' };

const capabilities = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
} as const;

/** The SDK's options, with the parent for the server's own spans. */
export interface TracedOptions extends RequestOptions {
  traceParent?: string | undefined;
}

/**
 * Sends a request; for a list, it reads all pages unless one is named. 2026-07-28 has no ping, so there `ping` asks the server to
 * describe itself.
 *
 * @throws {ProtocolError} if the server does not declare the capability that the request needs
 * @throws the SDK's errors
 */
export async function sendRequest(
  client: Client,
  request: ServerRequest,
  { traceParent, ...options }: TracedOptions,
): Promise<unknown> {
  const { method } = request;
  const capability = method === 'ping' ? null : capabilities[method];
  if (capability !== null && client.getServerCapabilities()?.[capability] === undefined) {
    throw new ProtocolError(`the server declares no capability \`${capability}\`, which ${method} needs`);
  }
  // Bypasses the SDK's cache, which does not show how the server answers now.
  const uncached = { ...options, cacheMode: 'bypass' } as const;
  const traced = traceParent === undefined ? {} : { _meta: { traceparent: traceParent } };
  if ('page' in request) return await client.request({ method: request.method, params: request.page }, options);
  switch (method) {
    case 'resources/read':
      return await client.readResource({ ...request.params, ...traced }, uncached);
    case 'prompts/get':
      return await client.getPrompt({ ...request.params, ...traced }, options);
    case 'completion/complete':
      return await client.complete({ ...request.params, ...traced }, options);
    case 'tools/list':
      return await client.listTools(traced, uncached);
    case 'resources/list':
      return await client.listResources(traced, uncached);
    case 'resources/templates/list':
      return await client.listResourceTemplates(traced, uncached);
    case 'prompts/list':
      return await client.listPrompts(traced, uncached);
    case 'ping':
      // The SDK sends these two without `_meta`.
      return client.getProtocolEra() === 'modern' ? await client.discover(options) : await client.ping(options);
  }
}
