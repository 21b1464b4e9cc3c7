import type { Clock } from '../../../../src/base/time.ts';
import type { ContainerEngine, ContainerEngines } from '../../../../src/server/container-engine.ts';
import { imageOperations } from '../../../../src/service/operations/images.ts';
import type { Caller } from '../callers.ts';
import { ApiError, invalid, notSupported } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { hashBlueprint, readBlueprint } from '../images/blueprint.ts';
import { openImageBuilder } from '../images/builder.ts';
import { openComputers } from '../images/computers.ts';
import {
  type ImageRecord,
  isVisible,
  listBuilds,
  openImageStore,
  renderBuild,
  renderImage,
  requireImage,
} from '../images/image-records.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { Store } from '../store/open-store.ts';

/** Serves sandbox images and computers. Disposing it ends the builds and the computers. `containers` is null without a container engine. */
export function serveImages(
  serve: ServeOperation,
  { store, clock, containers }: { store: Store; clock: Clock; containers: Pick<ContainerEngines, 'find'> | null },
): AsyncDisposable {
  const records = openImageStore(store, clock.now());
  const builder = openImageBuilder({ clock, records });
  const computers = openComputers({ clock, records });
  const render = (image: ImageRecord, caller: Caller) => renderImage(image, records, caller);

  serve(imageOperations.listSandboxImages, ({ ids: { projectId }, caller }) => {
    const visible = records.images.list(projectId).filter((image) => isVisible(image, caller));
    return { items: visible.map((image) => render(image, caller)) };
  });

  serve(imageOperations.createSandboxImage, ({ ids: { projectId }, body, caller }) => {
    const { name, blueprint } = body;
    requireBlueprint(blueprint);
    const content = { name, ...hold(blueprint), sharing: 'user' as const, ownerId: caller.user.id };
    const now = clock.now();
    const made = { id: createId('img'), projectId, content };
    records.images.insert({ ...made, now });
    return render({ ...made, parentId: null, createdAt: now, updatedAt: now }, caller);
  });

  serve(imageOperations.validateSandboxImageBlueprint, ({ body }) => {
    const { baseImageDigest, errors } = readBlueprint(body.blueprint);
    if (errors.length > 0) return { ok: false, errors };
    return { ok: true, ...(baseImageDigest !== null && { baseImageDigest }) };
  });

  serve(imageOperations.getSandboxImage, ({ ids, caller }) => render(requireImage(records, ids, caller), caller));

  serve(imageOperations.updateSandboxImage, ({ ids, body, caller }) => {
    const before = requireImage(records, ids, caller);
    requireControl(before, caller);
    const { name = before.content.name, blueprint = before.content.blueprint } = body;
    if (body.blueprint !== undefined) requireBlueprint(body.blueprint);
    const after = { ...before, content: { ...before.content, name, ...hold(blueprint) }, updatedAt: clock.now() };
    records.images.update({ id: after.id, content: after.content, now: after.updatedAt });
    return render(after, caller);
  });

  serve(imageOperations.deleteSandboxImage, ({ ids, caller }) => {
    const image = requireImage(records, ids, caller);
    requireControl(image, caller);
    builder.forget(image.id);
    computers.forget(image);
    store.transact(() => {
      store.documents.deleteOf(image.id);
      records.images.delete(image.id);
    });
    return { id: image.id, deleted: true as const };
  });

  serve(imageOperations.listSandboxImageBuilds, ({ ids, caller }) => {
    const image = requireImage(records, ids, caller);
    return { items: listBuilds(records, image.id).map(renderBuild) };
  });

  serve(imageOperations.buildSandboxImage, async ({ ids, caller }) => {
    const image = requireImage(records, ids, caller);
    const { build, isReused } = await builder.build(image, await requireEngine(containers));
    return { id: image.id, buildId: build.id, reused: isReused };
  });

  serve(imageOperations.promoteSandboxImage, ({ ids, caller }) => {
    const before = requireImage(records, ids, caller);
    if (before.content.sharing === 'project') return render(before, caller);
    const content = { ...before.content, sharing: 'project' as const };
    const after = { ...before, content, updatedAt: clock.now() };
    records.images.update({ id: after.id, content, now: after.updatedAt });
    return render(after, caller);
  });

  serve(imageOperations.useSandboxImage, async ({ ids, caller }) => {
    const image = requireImage(records, ids, caller);
    const computer = await computers.use(image, caller, await requireEngine(containers));
    return { imageId: image.id, computerId: computer.id, status: 'running' };
  });

  serve(imageOperations.resetComputer, async ({ ids: { projectId }, caller }) => {
    const reset = await computers.reset(projectId, caller, await requireEngine(containers));
    return { projectId, reset };
  });

  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all([builder[Symbol.asyncDispose](), computers[Symbol.asyncDispose]()]);
    },
  };
}

function hold(blueprint: string): { blueprint: string; contentHash: string } {
  return { blueprint, contentHash: hashBlueprint(blueprint) };
}

function requireBlueprint(blueprint: string): void {
  const { errors } = readBlueprint(blueprint);
  const [first] = errors;
  if (first !== undefined) throw invalid(`blueprint: line ${first.line}: ${first.message}`, { errors });
}

/** Requires an administrator for a shared image. A draft needs no check, because only its owner can see it. */
function requireControl({ content }: ImageRecord, { role }: Caller): void {
  if (content.sharing === 'user' || role === 'admin') return;
  throw new ApiError('FORBIDDEN', 'Only an administrator of the project may change an image that the project shares.');
}

/** @throws {ApiError} FEATURE_NOT_SUPPORTED with the missing part, within 5 s. */
async function requireEngine(containers: Pick<ContainerEngines, 'find'> | null): Promise<ContainerEngine> {
  if (containers === null) {
    throw notSupported('Builds and computers need a container engine, and this service was started without one.');
  }
  const found = await containers.find();
  if (found.engine !== null) return found.engine;
  throw notSupported(
    `Builds and computers need a container engine. ${found.problem} Install Docker or Podman on the machine of the service, and start it.`,
  );
}
