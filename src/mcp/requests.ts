import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { ProtocolError } from '../base/errors.ts';

/** What a client may ask a server for, tool calls apart. */
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
      /** Only the page behind this cursor, or the first one; all pages unless given. */
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

/** As the SDK takes them, and the span that the server's own spans go below. */
export interface TracedOptions extends RequestOptions {
  traceParent?: string | undefined;
}

/**
 * Makes a request, of a list for all its pages unless one is named. In 2026-07-28, which has no ping, `ping` asks the server to describe itself.
 *
 * @throws {ProtocolError} where the server does not declare the capability that the request needs
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
  // Of what the SDK has in its cache, nothing says how the server answers now.
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
      // The SDK gives these two no `_meta`.
      return client.getProtocolEra() === 'modern' ? await client.discover(options) : await client.ping(options);
  }
}
