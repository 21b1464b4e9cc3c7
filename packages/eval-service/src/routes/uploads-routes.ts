import type { Hono } from 'hono';
import type { Clock } from '../../../../src/base/time.ts';
import { artifactOperations } from '../../../../src/service/operations/artifacts.ts';
import type { ApiEnv } from '../callers.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { readBytes } from '../request.ts';
import type { Store } from '../store/open-store.ts';
import { createUploads, maxArtifactBytes } from '../uploads.ts';

/** The path below the base URL; the rest of the path is the token, which replaces the key. */
const uploadPath = '/eval-artifact-uploads';

/** Serves URLs for uploads, and the uploads themselves: a POST, as reporters send, or a PUT, with the bytes and their content type. */
export function serveUploads(
  serve: ServeOperation,
  { store, clock, open }: { store: Store; clock: Clock; open: Hono<ApiEnv> },
): void {
  const uploads = createUploads({ store, clock });
  serve(artifactOperations.createEvalIngestUploadUrl, ({ ids, request }) => {
    const { origin, pathname } = new URL(request.url);
    const base = pathname.slice(0, pathname.indexOf('/projects/'));
    return { ok: true, uploadUrl: `${origin}${base}${uploadPath}/${uploads.grant(ids.projectId)}` };
  });

  open.on(['PUT', 'POST'], `${uploadPath}/:token`, async (c) => {
    const bytes = await readBytes(c, maxArtifactBytes);
    const contentType = c.req.header('content-type') ?? 'application/octet-stream';
    return c.json({ storageId: uploads.receive(c.req.param('token'), { bytes, contentType }) });
  });
}
