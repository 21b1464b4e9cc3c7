import { describeError } from '../../../../src/base/errors.ts';
import type { Clock } from '../../../../src/base/time.ts';
import type { ContainerEngine } from '../../../../src/server/container-engine.ts';
import { createId } from '../../../../src/base/ids.ts';
import { readBlueprint } from './blueprint.ts';
import {
  type BuildContent,
  type BuildRecord,
  type ImageRecord,
  type ImageStore,
  isOpen,
  listBuilds,
} from './image-records.ts';

/** Builds images one after the other. Disposing it ends the builds, which then count as failed. */
export interface ImageBuilder extends AsyncDisposable {
  /** Finds the build of the same blueprint by the same engine, else queues a new one. */
  build(image: ImageRecord, engine: ContainerEngine): Promise<{ build: BuildRecord; isReused: boolean }>;
  /** Ends the builds of an image and removes the built images, in the background. */
  forget(imageId: string): void;
}

/** Returns the engine's name for the image of a build. */
export function nameImage(buildId: string): string {
  return `localhost/mcp-eval-ci-sandbox:${buildId}`;
}

/** Starts the builder of a service. */
export function openImageBuilder({
  clock,
  records: { builds },
}: {
  clock: Clock;
  records: Pick<ImageStore, 'builds'>;
}): ImageBuilder {
  const ending = new AbortController();
  /** The builds of this process by id, with the engine that has or will have the image. */
  const known = new Map<string, { imageId: string; engine: ContainerEngine; cancel: AbortController }>();
  let queue: Promise<unknown> = Promise.resolve();
  const enqueue = (work: () => Promise<unknown>) => {
    queue = queue.then(work, work);
  };

  const write = (build: BuildRecord, content: BuildContent) => {
    builds.update({ id: build.id, content, now: clock.now() });
  };
  const run = async (image: ImageRecord, build: BuildRecord, engine: ContainerEngine, cancel: AbortController) => {
    const signal = AbortSignal.any([ending.signal, cancel.signal]);
    const started: BuildContent = { ...build.content, status: 'building', startedAt: clock.now() };
    const fail = (error: string, logPreview: string | null) =>
      write(build, { ...started, status: 'failed', error, logPreview, finishedAt: clock.now() });
    if (cancel.signal.aborted) return;
    try {
      signal.throwIfAborted();
      write(build, started);
      const made = { tag: nameImage(build.id), dockerfile: image.content.blueprint };
      const { isDone, problem, lines } = await engine.build(made, { signal });
      const logPreview = lines.length === 0 ? null : lines.join('\n');
      if (isDone) write(build, { ...started, status: 'ready', logPreview, finishedAt: clock.now() });
      else fail(problem ?? 'The build failed.', logPreview);
    } catch (error) {
      fail(describeError(error), null);
    }
  };

  return {
    build: async (image, engine) => {
      const same = listBuilds({ builds }, image.id).find(
        ({ content }) =>
          content.contentHash === image.content.contentHash &&
          content.provider === engine.name &&
          content.status !== 'failed',
      );
      // The owner of the machine may have removed the built image.
      if (same !== undefined && (isOpen(same) || (await engine.hasImage(nameImage(same.id))))) {
        return { build: same, isReused: true };
      }
      const now = clock.now();
      const { baseImageDigest } = readBlueprint(image.content.blueprint);
      const content: BuildContent = {
        status: 'queued',
        provider: engine.name,
        contentHash: image.content.contentHash,
        baseImageDigests: baseImageDigest === null ? [] : [baseImageDigest],
        logPreview: null,
        error: null,
        startedAt: null,
        finishedAt: null,
      };
      const made = { id: createId('bld'), projectId: image.projectId, parentId: image.id, content };
      builds.insert({ ...made, now });
      const build = { ...made, createdAt: now, updatedAt: now };
      const cancel = new AbortController();
      known.set(build.id, { imageId: image.id, engine, cancel });
      enqueue(async () => await run(image, build, engine, cancel));
      return { build, isReused: false };
    },
    forget: (imageId) => {
      for (const [buildId, build] of known) {
        if (build.imageId !== imageId) continue;
        known.delete(buildId);
        build.cancel.abort(new Error('The image was deleted.'));
        enqueue(async () => {
          if (!ending.signal.aborted) await build.engine.removeImage(nameImage(buildId));
        });
      }
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort(new Error('The service stopped while the image was building.'));
      await queue;
    },
  };
}
