import { type FixtureMcpServer, type FixtureTool, startFixtureMcpServer, text } from './fixture-mcp-server.ts';

/** A tool of a server with apps. */
export interface AppTool extends Partial<FixtureTool> {
  /** The document of its app; a tool without one has no app. */
  html?: string;
  csp?: Record<string, string[]>;
  mimeType?: string;
  visibility?: string[];
}

/** Starts a server whose tools declare apps as in MCP Apps, at `ui://<tool>/view`, but only to clients that show apps. */
export async function startAppServer(tools: Record<string, AppTool>): Promise<FixtureMcpServer> {
  const callable = Object.fromEntries(
    Object.entries(tools).map(([name, { call = () => text(`${name} was called`), ...tool }]) => [
      name,
      { ...tool, call },
    ]),
  );
  return await startFixtureMcpServer(callable, {
    capabilities: { tools: {}, resources: {} },
    prepare: (server) => {
      server.setRequestHandler('tools/list', () => {
        const showsApps = server.getClientCapabilities()?.extensions?.['io.modelcontextprotocol/ui'] !== undefined;
        const listed = Object.entries(tools).map(([name, { html, visibility }]) => ({
          name,
          inputSchema: { type: 'object' as const },
          _meta: {
            ui: {
              ...(html !== undefined && showsApps && { resourceUri: `ui://${name}/view` }),
              ...(visibility !== undefined && { visibility }),
            },
          },
        }));
        return { tools: listed };
      });
      server.setRequestHandler('resources/list', () => ({ resources: [] }));
      server.setRequestHandler('resources/read', ({ params: { uri } }) => {
        const { html, csp, mimeType = 'text/html;profile=mcp-app' } = tools[new URL(uri).host] ?? {};
        if (html === undefined) throw new Error(`There is no ${uri}`);
        return { contents: [{ uri, mimeType, text: html, ...(csp !== undefined && { _meta: { ui: { csp } } }) }] };
      });
    },
  });
}

/**
 * Creates an app that completes its handshake as in MCP Apps. `body` is its markup, and `script` runs before the handshake: it may use
 * `request(method, params)`, and set `onresult`, which gets the result of the tool, and `oninput`, which gets its arguments.
 */
export function createApp(body: string, script = ''): string {
  return `<!doctype html>
<html lang="en"><title>An app</title><body>${body}<script>
  let lastId = 0, oninput = () => {}, onresult = () => {};
  const waiting = new Map();
  const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const request = (method, params) => new Promise((resolve, reject) => {
    waiting.set(++lastId, { resolve, reject });
    post({ id: lastId, method, params });
  });
  addEventListener('message', ({ data: { id, method, params, result, error } }) => {
    if (method === 'ui/notifications/tool-input') oninput(params.arguments);
    if (method === 'ui/notifications/tool-result') onresult(params);
    if (method === 'ui/resource-teardown') post({ id, result: {} });
    if (method === undefined && error) waiting.get(id).reject(new Error(error.message));
    if (method === undefined && !error) waiting.get(id).resolve(result);
  });
  const find = (selector) => document.querySelector(selector);
  ${script}
  request('ui/initialize', { appInfo: { name: 'app', version: '1' }, appCapabilities: {}, protocolVersion: '2026-01-26' })
    .then(() => post({ method: 'ui/notifications/initialized' }));
</script>`;
}
