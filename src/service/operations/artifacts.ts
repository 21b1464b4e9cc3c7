import { z } from 'zod';
import { defineOperation, nameOperations } from './operation.ts';
import { ingestPath } from '../paths.ts';

/** Artifacts that reporters upload with the results of a run. */
export const artifactOperations = nameOperations({
  createEvalIngestUploadUrl: defineOperation({
    summary: 'Makes a short-lived URL to which one artifact of an ingested run can be uploaded.',
    method: 'POST',
    path: `${ingestPath}/artifacts/upload-url`,
    query: z.strictObject({}),
    /** An open object, like all bodies of ingestion. */
    body: z.looseObject({}),
    answer: z.object({ ok: z.literal(true).nullish(), uploadUrl: z.string() }),
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502, 504],
    hasDefaultProject: true,
    isRepeatable: true,
    secrets: ['uploadUrl'],
  }),
});
