// Child of the tunnel's benchmark: one hop of the chain that is the tunnel's yardstick.
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import httpProxy from 'http-proxy';

const [target = ''] = process.argv.slice(2);
// Without an agent, the proxy would open a connection for each request and would be no fair yardstick.
const proxy = httpProxy.createProxyServer({ target, agent: new Agent({ keepAlive: true }) });
proxy.on('error', () => {});
const server = createServer((request, response) => proxy.web(request, response)).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('disconnect', () => process.exit());
process.send?.({ port: (server.address() as AddressInfo).port });
