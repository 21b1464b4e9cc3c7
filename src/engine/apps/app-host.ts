import { z } from 'zod';
import { generator } from '../../base/version.ts';
import type { AppPolicy } from '../../model/app-policy.ts';

/** The revision of MCP Apps that the host speaks. */
const protocolVersion = '2026-01-26';

/** JSON-RPC error codes; MCP Apps uses -32000 for requests that a host declines. */
const methodNotFound = -32_601;
const invalidParams = -32_602;
const declined = -32_000;

export type HostAnswer = { result: unknown } | { error: { code: number; message: string } };

export interface AppHostOptions {
  /** The tool whose result the app shows. */
  tool: { name: string; description?: string; inputSchema: Record<string, unknown> };
  policy: AppPolicy | null;
  viewport: { width: number; height: number };
  callTool: (name: string, args: Record<string, unknown>) => Promise<HostAnswer>;
  readResource: (uri: string) => Promise<HostAnswer>;
  /** Called when the app is ready for notifications; it may get none earlier. */
  onInitialized: () => void;
}

/** The host's side of the conversation with an app. */
export interface AppHost {
  /** Handles a message of the app, and resolves with the answer to post; null if none is needed. Never rejects. */
  receive(message: unknown): Promise<object | null>;
  /** True if the app has started its handshake. */
  readonly hasBegun: boolean;
  /** Checks if the app has answered the host's request with this id. */
  hasAnswered(id: string): boolean;
}

const messageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
});
const callSchema = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() });
const readSchema = z.object({ uri: z.string() });

/** Notifications from the host to the app, with the method names of MCP Apps. */
export const notifyToolInput = (args: Record<string, unknown>) =>
  ({ jsonrpc: '2.0', method: 'ui/notifications/tool-input', params: { arguments: args } }) as const;
export const notifyToolResult = (result: object) =>
  ({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: result }) as const;
export const teardownId = 'teardown';
export const requestTeardown = {
  jsonrpc: '2.0',
  id: teardownId,
  method: 'ui/resource-teardown',
  params: { reason: 'The case is over.' },
};

/**
 * Creates a host that speaks MCP Apps (2026-01-26) with one app, like a desktop host that shows the app inline in a fixed size. It forwards
 * tool calls and resource reads. It accepts messages and model context without using them, and declines to open links.
 */
export function createAppHost(options: AppHostOptions): AppHost {
  const answered = new Set<string>();
  let hasBegun = false;
  const methods: { readonly [Method in string]?: (params: unknown) => Promise<HostAnswer> | HostAnswer } = {
    'ui/initialize': () => {
      hasBegun = true;
      return { result: describeHost(options) };
    },
    ping: () => ({ result: {} }),
    'tools/call': async (params) => {
      const call = callSchema.safeParse(params).data;
      if (call === undefined)
        return refuse(invalidParams, 'tools/call needs a name, and arguments that are an object.');
      return await options.callTool(call.name, call.arguments ?? {});
    },
    'resources/read': async (params) => {
      const read = readSchema.safeParse(params).data;
      return read === undefined
        ? refuse(invalidParams, 'resources/read needs a uri.')
        : await options.readResource(read.uri);
    },
    'ui/message': () => ({ result: {} }),
    'ui/update-model-context': () => ({ result: {} }),
    'ui/request-display-mode': () => ({ result: { mode: 'inline' } }),
    'ui/open-link': () => refuse(declined, 'This host opens no links.'),
  };
  return {
    get hasBegun() {
      return hasBegun;
    },
    hasAnswered: (id) => answered.has(id),
    receive: async (received) => {
      const message = messageSchema.safeParse(received).data;
      if (message === undefined) return null;
      const { id, method, params } = message;
      if (method === undefined) {
        if (typeof id === 'string') answered.add(id);
        return null;
      }
      if (id === undefined) {
        if (method === 'ui/notifications/initialized') options.onInitialized();
        return null;
      }
      const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
      const answer = (await handle?.(params)) ?? refuse(methodNotFound, `This host has no method ${method}.`);
      return { jsonrpc: '2.0', id, ...answer };
    },
  };
}

/** Builds the result of `ui/initialize`. */
function describeHost({ tool, policy, viewport }: AppHostOptions): object {
  return {
    protocolVersion,
    hostInfo: generator,
    hostCapabilities: {
      serverTools: {},
      serverResources: {},
      logging: {},
      message: { text: {} },
      updateModelContext: { text: {}, structuredContent: {} },
      sandbox: { permissions: {}, csp: policy ?? {} },
    },
    hostContext: {
      toolInfo: { tool },
      theme: 'light',
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      containerDimensions: viewport,
      locale: 'en-US',
      timeZone: 'UTC',
      userAgent: `${generator.name}/${generator.version}`,
      platform: 'desktop',
      deviceCapabilities: { touch: false, hover: true },
      safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
    },
  };
}

function refuse(code: number, message: string): HostAnswer {
  return { error: { code, message } };
}
