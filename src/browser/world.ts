import { z } from 'zod';
import { CommandError, type DevTools } from './devtools.ts';
import { probeSource } from './probe-source.ts';

/** An argument for a function of the probe: an object of its world by its id, or JSON. */
export type Argument = { objectId: string } | { value: unknown };

/** The isolated world in which the probe runs, next to the scripts of a widget; page/widget-probe.ts is its program. */
export interface World {
  /**
   * Calls a function, whose text may use `mcpEvalProbe`, and reads its result as JSON. Waits for a promise.
   *
   * @throws {CommandError} if the document no longer exists, or the function throws
   */
  call<T>(text: string, args: readonly Argument[], schema: z.ZodType<T>): Promise<T>;
  /** Calls a function and keeps its result in the world; resolves with the id of the result. */
  hold(text: string, args: readonly Argument[]): Promise<string>;
  /**
   * Lists the elements with an ARIA role, which the browser computes, and a matching accessible name; as ids in the order of the
   * document.
   */
  listByRole(role: string, matches: (name: string) => boolean): Promise<string[]>;
}

const frameTree = z.object({
  frameTree: z.object({ childFrames: z.array(z.object({ frame: z.object({ id: z.string() }) })).optional() }),
});
const isolated = z.object({ executionContextId: z.number() });
const evaluated = z.object({
  result: z.object({ value: z.unknown().optional(), objectId: z.string().optional() }),
  exceptionDetails: z
    .object({ text: z.string(), exception: z.object({ description: z.string().optional() }).optional() })
    .optional(),
});
const resolved = z.object({ object: z.object({ objectId: z.string() }) });
const accessible = z.object({
  nodes: z.array(
    z.object({
      ignored: z.boolean(),
      name: z.object({ value: z.string().optional() }).optional(),
      backendDOMNodeId: z.number().optional(),
    }),
  ),
});

interface OpenedWorld {
  sessionId: string;
  contextId: number;
}

export function openWorld(
  devtools: DevTools,
  { pageId, findFrameTarget }: { pageId: string; findFrameTarget: () => { sessionId: string; frameId: string } | null },
): World {
  let opened: Promise<OpenedWorld> | null = null;
  const open = async (): Promise<OpenedWorld> => {
    const { sessionId, frameId } = findFrameTarget() ?? (await findFrameInPage());
    const { executionContextId: contextId } = isolated.parse(
      await devtools.send('Page.createIsolatedWorld', { frameId, worldName: 'mcp-eval-ci' }, sessionId),
    );
    await devtools.send('Runtime.evaluate', { expression: probeSource, contextId }, sessionId);
    return { sessionId, contextId };
  };
  const findFrameInPage = async () => {
    const tree = frameTree.parse(await devtools.send('Page.getFrameTree', {}, pageId));
    const [child] = tree.frameTree.childFrames ?? [];
    if (child === undefined) throw new CommandError('The widget has no frame.');
    return { sessionId: pageId, frameId: child.frame.id };
  };
  /** A replaced document takes its world with it, so that the next call has to open another. */
  const enter = async <T>(use: (world: OpenedWorld) => Promise<T>): Promise<T> => {
    opened ??= open();
    const current = opened;
    try {
      return await use(await current);
    } catch (error) {
      if (opened === current) opened = null;
      throw error;
    }
  };
  const run = async (
    text: string,
    args: readonly Argument[],
    { returnByValue }: { returnByValue: boolean },
  ): Promise<z.infer<typeof evaluated>['result']> =>
    await enter(async ({ sessionId, contextId }) => {
      const call = {
        functionDeclaration: text,
        executionContextId: contextId,
        arguments: args,
        returnByValue,
        awaitPromise: true,
      };
      const { result, exceptionDetails } = evaluated.parse(
        await devtools.send('Runtime.callFunctionOn', call, sessionId),
      );
      if (exceptionDetails === undefined) return result;
      throw new CommandError(exceptionDetails.exception?.description ?? exceptionDetails.text);
    });
  return {
    call: async (text, args, schema) => schema.parse((await run(text, args, { returnByValue: true })).value),
    hold: async (text, args) => {
      const { objectId } = await run(text, args, { returnByValue: false });
      if (objectId === undefined) throw new CommandError('The world gave no object.');
      return objectId;
    },
    listByRole: async (role, matches) =>
      await enter(async ({ sessionId, contextId }) => {
        const documentId = resolvedId(
          await devtools.send('Runtime.evaluate', { expression: 'document', contextId }, sessionId),
        );
        const { nodes } = accessible.parse(
          await devtools.send('Accessibility.queryAXTree', { objectId: documentId, role }, sessionId),
        );
        const found = nodes.flatMap(({ ignored, name, backendDOMNodeId }) =>
          ignored || backendDOMNodeId === undefined || !matches(name?.value ?? '') ? [] : [backendDOMNodeId],
        );
        return await Promise.all(
          found.map(async (backendNodeId) => {
            const node = { backendNodeId, executionContextId: contextId };
            return resolved.parse(await devtools.send('DOM.resolveNode', node, sessionId)).object.objectId;
          }),
        );
      }),
  };
}

function resolvedId(answer: unknown): string {
  const { objectId } = evaluated.parse(answer).result;
  if (objectId === undefined) throw new CommandError('The widget has no document.');
  return objectId;
}
