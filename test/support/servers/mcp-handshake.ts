import { type Answer, json } from '../network/http-server.ts';

/** Answers `initialize` like a server named `demo`, and no other request that expects an answer. */
export const shakesHands: Answer = (response, request) => {
  const { id } = request.method === 'POST' ? JSON.parse(request.body) : {};
  if (id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end();
  const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'demo', version: '1' } };
  return json(200, { jsonrpc: '2.0', id, result })(response, request);
};
