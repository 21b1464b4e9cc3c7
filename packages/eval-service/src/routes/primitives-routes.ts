import { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import type { Session } from '../../../../src/mcp/session.ts';
import { primitiveOperations } from '../../../../src/service/operations/primitives.ts';
import { ApiError, notFound, notSupported } from '../envelope.ts';
import { requireServer } from '../lookup.ts';
import type { OperationCall, ServeOperation } from '../operation-routes.ts';
import type { FullReach } from '../server-reach.ts';
import { askServer } from '../server-session.ts';
import type { Store } from '../store/open-store.ts';

const record = z.record(z.string(), z.unknown());
const items = z.array(record);

/** The lists of a server, with their names in the server's answer. */
const lists = {
  tools: { method: 'tools/list', answer: z.object({ tools: items }).transform(({ tools }) => tools) },
  prompts: { method: 'prompts/list', answer: z.object({ prompts: items }).transform(({ prompts }) => prompts) },
  resources: {
    method: 'resources/list',
    answer: z.object({ resources: items }).transform(({ resources }) => resources),
  },
} as const;

/** JSON-RPC 2.0, section 5.1. */
const invalidParameters = -32_602;

const cursor = z.object({ nextCursor: z.string().optional() });
const readResult = z.looseObject({ contents: items });
const promptResult = z.looseObject({ description: z.string().optional(), messages: items });

interface PrimitiveParts {
  store: Store;
  clock: Clock;
  reach: FullReach;
}

/** Serves the tools, prompts and resources of servers, unchanged. Each request has a separate session. */
export function servePrimitives(serve: ServeOperation, parts: PrimitiveParts): void {
  const { store, clock } = parts;
  const ask = async <Answer>(
    { ids, request }: Pick<OperationCall<'{projectId}{serverId}', unknown>, 'ids' | 'request'>,
    use: (session: Session, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> => askServer(requireServer(store, ids.projectId, ids.serverId), { ...parts, request }, use);

  const listPage =
    (of: keyof typeof lists, page: { cursor?: string }) => async (session: Session, signal: AbortSignal) => {
      const { method, answer } = lists[of];
      const result = await session.request({ method, page }, { signal });
      return { items: answer.parse(result), ...cursor.parse(result) };
    };
  const { listTools, listPrompts, listResources } = primitiveOperations;
  serve(listTools, (call) => ask(call, listPage('tools', call.body)));
  serve(listPrompts, (call) => ask(call, listPage('prompts', call.body)));
  serve(listResources, (call) => ask(call, listPage('resources', call.body)));

  serve(primitiveOperations.readResource, (call) =>
    ask(call, async (session, signal) =>
      readResult.parse(await session.request({ method: 'resources/read', params: { uri: call.body.uri } }, { signal })),
    ).catch((error: unknown) => {
      // Servers of 2026-07-28 refuse an unknown URI as an invalid parameter, and the URI is the only parameter.
      const isRefused = error instanceof ApiError && error.details['mcpCode'] === invalidParameters;
      throw isRefused ? notFound('Resource') : error;
    }),
  );

  serve(primitiveOperations.callTool, (call) =>
    ask(call, async (session, signal) => {
      const { toolName, parameters = {} } = call.body;
      if (session.capabilities['tools'] === undefined) {
        throw notSupported('The server declares no capability `tools`, which tools/call needs.');
      }
      return await session.callTool(toolName, parameters, { signal });
    }),
  );

  serve(primitiveOperations.getPrompt, (call) =>
    ask(call, async (session, signal) => {
      const { promptName: name, arguments: given = {} } = call.body;
      const params = { name, arguments: given };
      return promptResult.parse(await session.request({ method: 'prompts/get', params }, { signal }));
    }),
  );

  serve(primitiveOperations.exportServer, (call) =>
    ask(call, async (session, signal) => {
      const listAll = async (of: keyof typeof lists) => {
        if (session.capabilities[of] === undefined) return [];
        const { method, answer } = lists[of];
        return answer.parse(await session.request({ method }, { signal }));
      };
      const [tools, resources, prompts] = [
        await listAll('tools'),
        await listAll('resources'),
        await listAll('prompts'),
      ];
      return {
        serverId: call.ids.serverId,
        exportedAt: new Date(clock.now()).toISOString(),
        tools,
        resources,
        prompts,
      };
    }),
  );
}
