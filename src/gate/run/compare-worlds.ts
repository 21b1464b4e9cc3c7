import { ServerStartError } from '../../base/errors.ts';
import { compareBehaviour } from '../../behaviour/compare.ts';
import type { ComparedBehaviour, CompareOptions } from '../../behaviour/comparison.ts';
import { findCallRisk } from '../../explore/choose-calls.ts';
import { openWorlds } from '../../explore/world/open-worlds.ts';
import { callLimits, planStart, type WorldSandbox } from '../../explore/world/plan-start.ts';
import type { WorldSource } from '../../explore/world/world.ts';
import type { ServerContext } from '../../server/running-server.ts';
import type { PlannedServer } from '../plan/plan-server.ts';

/** One of the two servers, and the directories of its own code. */
interface Side {
  server: PlannedServer;
  roots: readonly string[];
}

type Compared = Pick<
  CompareOptions,
  'identity' | 'cached' | 'seed' | 'budget' | 'timeLimitMs' | 'workspace' | 'safeTools'
>;

/** Opens worlds of both servers and compares them. Tools that are not declared read-only are called in a strict sandbox only. */
export async function compareWorlds(
  { base, head, ...options }: Compared & WorldSandbox & { base: Side; head: Side },
  context: ServerContext,
): Promise<ComparedBehaviour> {
  const open = async ({ server }: Side, name: string): Promise<WorldSource> =>
    nameSide(await openWorlds(planStart(server, options), context), name);
  await using ofBase = await open(base, 'base');
  await using ofHead = await open(head, 'change');
  if (options.sandbox === 'required' && ofHead.sandbox !== 'confined') {
    throw new ServerStartError('`sandbox` is `required`, and this machine cannot confine a server without network.');
  }
  const { clock, logger } = context;
  const risk = findCallRisk(ofHead, head.server);
  return await compareBehaviour({
    ...options,
    base: { source: ofBase, roots: base.roots },
    head: { source: ofHead, roots: head.roots },
    call: risk === null ? 'all' : 'read-only',
    whyReadOnly: risk ?? '',
    callMs: callLimits.callMs,
    clock,
    onProgress: (what) => logger.info(`${what} …`),
  });
}

/** Makes the errors of a source say whose server it starts. */
function nameSide(source: WorldSource, side: string): WorldSource {
  return {
    ...source,
    open: async (variant) => {
      try {
        return await source.open(variant);
      } catch (error) {
        if (!(error instanceof ServerStartError)) throw error;
        const { message, stderrTail, hint } = error;
        throw new ServerStartError(message.replace(/^The server/, `The server of the ${side}`), {
          stderrTail: [...stderrTail],
          ...(hint === undefined ? {} : { hint }),
          cause: error.cause,
        });
      }
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
