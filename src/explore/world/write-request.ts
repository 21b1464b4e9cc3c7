import type { ServerRequest } from '../../mcp/requests.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';

/** Writes a request that calls no tool as the protocol has it. */
export function writeRequest(
  request: Exclude<ExploredRequest, { kind: 'tool' }>,
): Extract<ServerRequest, { params: unknown }> {
  switch (request.kind) {
    case 'resource':
      return { method: 'resources/read', params: { uri: request.uri } };
    case 'prompt':
      return { method: 'prompts/get', params: { name: request.prompt, arguments: request.arguments } };
    case 'completion': {
      const { of, name, argument, value, arguments: others } = request;
      const ref =
        of === 'prompt' ? { type: 'ref/prompt' as const, name } : { type: 'ref/resource' as const, uri: name };
      const params = { ref, argument: { name: argument, value }, context: { arguments: others } };
      return { method: 'completion/complete', params };
    }
  }
}
