import { z } from 'zod';
import { generator } from '../../base/version.ts';
import type { AppPolicy } from '../../model/app-policy.ts';

/** The revision of MCP Apps that the host speaks. */
const protocolVersion = '2026-01-26';

/** Codes of JSON-RPC; -32000 is what MCP Apps has for what a host declines. */
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
  /** Hears that the app is ready for notifications, of which it may get none before. */
  onInitialized: () => void;
}

/** The side of a host in its conversation with an app. */
export interface AppHost {
  /** Takes what the app posted, and resolves with the answer to post; null where it needs none. Never rejects. */
  receive(message: unknown): Promise<object | null>;
  /** Whether the app has begun its handshake. */
  readonly hasBegun: boolean;
  /** Whether the app has answered the request with this id that the host sent. */
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

/** Notifications of the host to the app, as MCP Apps names them. */
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
 * Speaks MCP Apps (2026-01-26) with one app as a desktop host does that shows it inline, and has a fixed size for it. It passes calls
 * of tools and reads of resources on, takes messages to the conversation and the context of the model without a use for them, and declines
 * to open links.
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

/** The result of `ui/initialize`. */
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
