import type { Clock } from '../../../../src/base/time.ts';
import type { ContainerEngine } from '../../../../src/server/container-engine.ts';
import type { Caller } from '../callers.ts';
import { ApiError } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { nameImage } from './builder.ts';
import { type ComputerRecord, type ImageRecord, type ImageStore, listBuilds } from './image-records.ts';

/** The computers of users, one for each user and project. Disposing it ends the computers that this process booted. */
export interface Computers extends AsyncDisposable {
  /**
   * Boots a user's computer from the newest ready build of an image, and ends the previous computer.
   *
   * @throws {ApiError} CONFLICT without a ready build, or if another engine built it; SERVER_UNREACHABLE if it does not start
   */
  use(image: ImageRecord, caller: Caller, engine: ContainerEngine): Promise<ComputerRecord>;
  /**
   * Boots a user's computer again from the same build; false if the user has none.
   *
   * @throws {ApiError} SERVER_UNREACHABLE if it does not start
   */
  reset(projectId: string, caller: Caller, engine: ContainerEngine): Promise<boolean>;
  /** Ends the computers that were booted from an image, in the background. */
  forget(image: ImageRecord): void;
}

/** Returns the engine's name for a computer. */
function nameContainer(computerId: string): string {
  return `mcp-eval-ci-${computerId}`;
}

export function openComputers({
  clock,
  records: { builds, computers },
}: {
  clock: Clock;
  records: Pick<ImageStore, 'builds' | 'computers'>;
}): Computers {
  /** The computers of this process by id. */
  const booted = new Map<string, ContainerEngine>();
  let queue: Promise<unknown> = Promise.resolve();
  /** Runs work one after the other, because two boots for one user would leave a container that no record names. */
  const enqueue = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = queue.then(work);
    queue = result.catch(() => {});
    return result;
  };

  const findOwn = (projectId: string, { user }: Caller) =>
    computers.list(projectId).find(({ content }) => content.ownerId === user.id);
  const end = async ({ id }: Pick<ComputerRecord, 'id'>, engine: ContainerEngine) => {
    await engine.removeContainer(nameContainer(id));
    booted.delete(id);
    computers.delete(id);
  };
  const boot = async (
    { projectId, content }: Pick<ComputerRecord, 'projectId' | 'content'>,
    engine: ContainerEngine,
  ): Promise<ComputerRecord> => {
    const id = createId('cmp');
    // Recorded before the start, because a start that takes too long may still leave a container.
    booted.set(id, engine);
    const { isDone, problem } = await engine.start({ name: nameContainer(id), tag: nameImage(content.buildId) });
    if (!isDone) {
      await end({ id }, engine);
      throw new ApiError('SERVER_UNREACHABLE', `The computer did not start. ${problem ?? ''}`);
    }
    const now = clock.now();
    computers.insert({ id, projectId, content, now });
    return { id, projectId, parentId: null, content, createdAt: now, updatedAt: now };
  };

  return {
    use: async (image, caller, engine) => {
      const build = listBuilds({ builds }, image.id).find(({ content }) => content.status === 'ready');
      if (build === undefined) {
        throw new ApiError('CONFLICT', 'The image has no ready build; build it and wait until its build is ready.');
      }
      requireProvider(build.content.provider, engine);
      const content = { ownerId: caller.user.id, imageId: image.id, buildId: build.id };
      return await enqueue(async () => {
        const before = findOwn(image.projectId, caller);
        if (before !== undefined) await end(before, engine);
        return await boot({ projectId: image.projectId, content }, engine);
      });
    },
    reset: async (projectId, caller, engine) =>
      await enqueue(async () => {
        const before = findOwn(projectId, caller);
        if (before === undefined) return false;
        await end(before, engine);
        await boot(before, engine);
        return true;
      }),
    forget: (image) => {
      for (const computer of computers.list(image.projectId)) {
        if (computer.content.imageId !== image.id) continue;
        computers.delete(computer.id);
        const engine = booted.get(computer.id);
        if (engine !== undefined) void enqueue(async () => await end(computer, engine));
      }
    },
    [Symbol.asyncDispose]: async () => {
      await queue;
      await Promise.all([...booted].map(async ([id, engine]) => await end({ id }, engine)));
    },
  };
}

function requireProvider(provider: string, { name }: Pick<ContainerEngine, 'name'>): void {
  if (provider === name) return;
  const message = `The image was built by ${provider}, and this service works with ${name}; build it again.`;
  throw new ApiError('CONFLICT', message);
}
