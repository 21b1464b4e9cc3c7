import { z } from 'zod';
import { notFound } from '../envelope.ts';
import type { Caller } from '../callers.ts';
import type { DocumentCollection, DocumentRecord } from '../store/documents.ts';
import type { Store } from '../store/open-store.ts';

const imageContent = z.object({
  name: z.string(),
  blueprint: z.string(),
  contentHash: z.string(),
  sharing: z.enum(['user', 'project']),
  ownerId: z.string(),
});
export type ImageRecord = DocumentRecord<z.infer<typeof imageContent>>;

/** The content of a build. A build belongs to its image. */
const buildContent = z.object({
  status: z.enum(['queued', 'building', 'ready', 'failed']),
  provider: z.string(),
  contentHash: z.string(),
  baseImageDigests: z.array(z.string()),
  logPreview: z.string().nullable(),
  error: z.string().nullable(),
  startedAt: z.number().nullable(),
  finishedAt: z.number().nullable(),
});
export type BuildContent = z.infer<typeof buildContent>;
export type BuildRecord = DocumentRecord<BuildContent>;

/** The computer of a user in a project. It does not belong to the image, because deleting an image first ends its computers. */
const computerContent = z.object({ ownerId: z.string(), imageId: z.string(), buildId: z.string() });
export type ComputerRecord = DocumentRecord<z.infer<typeof computerContent>>;

/** The records of sandbox images. */
export interface ImageStore {
  images: DocumentCollection<ImageRecord['content']>;
  builds: DocumentCollection<BuildContent>;
  computers: DocumentCollection<ComputerRecord['content']>;
}

/** Opens the records, and ends the builds that an earlier process left, because no process continues them. */
export function openImageStore(store: Store, now: number): ImageStore {
  const builds = store.documents.open('build', buildContent);
  for (const { id, content } of builds.listAll().filter(isOpen)) {
    const error = 'The service stopped while the image was building.';
    builds.update({ id, content: { ...content, status: 'failed', error, finishedAt: now }, now });
  }
  return {
    images: store.documents.open('image', imageContent),
    builds,
    computers: store.documents.open('computer', computerContent),
  };
}

/** True if a build has not ended yet. */
export function isOpen({ content }: BuildRecord): boolean {
  return content.status === 'queued' || content.status === 'building';
}

/** True if a caller can see the image: it is shared in the project, or it is the caller's own draft. */
export function isVisible({ content }: ImageRecord, { user }: Caller): boolean {
  return content.sharing === 'project' || content.ownerId === user.id;
}

/** @throws {ApiError} NOT_FOUND for an image of another project, and for a draft of another user: both must look the same. */
export function requireImage(
  { images }: Pick<ImageStore, 'images'>,
  { projectId, imageId }: { projectId: string; imageId: string },
  caller: Caller,
): ImageRecord {
  const image = images.get(projectId, imageId);
  if (image === undefined || !isVisible(image, caller)) throw notFound('Sandbox image');
  return image;
}

/** Lists the builds of an image, newest first. */
export function listBuilds({ builds }: Pick<ImageStore, 'builds'>, imageId: string): BuildRecord[] {
  return builds.listOf(imageId).toReversed();
}

/** Renders a build for its readers; leaves out unknown fields. */
export function renderBuild({ id, createdAt, content }: BuildRecord) {
  const { status, provider, baseImageDigests, logPreview, error, startedAt, finishedAt } = content;
  return {
    id,
    status,
    provider,
    baseImageDigests,
    ...(logPreview !== null && { logPreview }),
    ...(error !== null && { error }),
    createdAt,
    ...(startedAt !== null && { startedAt }),
    ...(finishedAt !== null && { finishedAt }),
  };
}

/** Renders an image for a caller. */
export function renderImage(image: ImageRecord, { builds }: Pick<ImageStore, 'builds'>, { user }: Caller) {
  const { id, projectId, content, createdAt, updatedAt } = image;
  const { name, blueprint, contentHash, sharing, ownerId } = content;
  const [newest] = listBuilds({ builds }, id);
  const currentBuild = newest === undefined ? null : renderBuild(newest);
  const isOwner = ownerId === user.id;
  return { id, projectId, name, contentHash, sharing, isOwner, currentBuild, createdAt, updatedAt, blueprint };
}
