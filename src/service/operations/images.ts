import { z } from 'zod';
import { deletedSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { projectPath } from '../paths.ts';

const timestampMs = z.number().nullish();

const buildSchema = z.object({
  id: z.string(),
  /** `queued`, `building`, `ready` or `failed`. */
  status: z.string(),
  /** The builder of the image. Only this provider can boot it. */
  provider: z.string(),
  /** The digests of the base images that the blueprint pins: `sha256:…`. */
  baseImageDigests: z.array(z.string()).nullish(),
  /** The last lines of the output of the build. */
  logPreview: z.string().nullish(),
  /** The reason why the build failed. */
  error: z.string().nullish(),
  createdAt: z.number(),
  startedAt: timestampMs,
  finishedAt: timestampMs,
});

const imageSchema = z.object({
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  /** The hash of the blueprint. Equal blueprints have equal hashes. */
  contentHash: z.string(),
  /** `user` for a personal draft, `project` for an image that all members share. */
  sharing: z.string(),
  isOwner: z.boolean(),
  /** The newest build. */
  currentBuild: buildSchema.nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  blueprint: z.string(),
});

const blueprintErrorSchema = z.object({
  /** Stable, in kebab case. */
  code: z.string().nullish(),
  message: z.string(),
  /** The line, counted from 1. */
  line: z.number().nullish(),
  /** The location in the blueprint, for people. */
  path: z.string().nullish(),
});

const name = z.string().trim().min(1);
const blueprint = z.string().min(1);
/** A body whose fields the API ignores. */
const anything = z.looseObject({});

const list = `${projectPath}/images` as const;
const one = `${list}/{imageId}` as const;

/** Sandbox images: blueprints of computers, their builds, and the caller's computer that boots from a build. */
export const imageOperations = nameOperations({
  listSandboxImages: defineOperation({
    summary: 'Lists the drafts of the caller and the images that the project shares, oldest first.',
    method: 'GET',
    path: list,
    query: none,
    body: none,
    answer: z.object({ items: z.array(imageSchema), nextCursor: z.string().nullish() }),
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  createSandboxImage: defineOperation({
    summary: 'Creates a personal draft from a blueprint.',
    method: 'POST',
    path: list,
    query: none,
    body: z.strictObject({ name, blueprint }),
    answer: imageSchema,
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  validateSandboxImageBlueprint: defineOperation({
    summary: 'Checks a blueprint and saves nothing; an invalid one is an answer with `ok: false`.',
    method: 'POST',
    path: `${list}/validate`,
    query: none,
    body: z.strictObject({ blueprint: z.string() }),
    answer: z.object({
      ok: z.boolean(),
      baseImageDigest: z.string().nullish(),
      errors: z.array(blueprintErrorSchema).nullish(),
    }),
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    isRepeatable: true,
  }),
  getSandboxImage: defineOperation({
    summary: 'Gets an image with its blueprint and its newest build.',
    method: 'GET',
    path: one,
    query: none,
    body: none,
    answer: imageSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  updateSandboxImage: defineOperation({
    summary: 'Changes the name or the blueprint of an image; a shared one only as an administrator.',
    method: 'PATCH',
    path: one,
    query: none,
    body: z.strictObject({ name: name.exactOptional(), blueprint: blueprint.exactOptional() }),
    answer: imageSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    isRepeatable: true,
  }),
  deleteSandboxImage: defineOperation({
    summary: 'Deletes an image with its builds; a shared one only as an administrator.',
    method: 'DELETE',
    path: one,
    query: none,
    body: none,
    answer: deletedSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  listSandboxImageBuilds: defineOperation({
    summary: 'Lists the builds of an image, newest first.',
    method: 'GET',
    path: `${one}/builds`,
    query: none,
    body: none,
    answer: z.object({ items: z.array(buildSchema), nextCursor: z.string().nullish() }),
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
  }),
  buildSandboxImage: defineOperation({
    summary: 'Starts a build, or finds the one of the same blueprint; the list of builds shows how it ends.',
    method: 'POST',
    path: `${one}/build`,
    query: none,
    body: anything,
    answer: z.object({ id: z.string(), buildId: z.string(), reused: z.boolean() }),
    status: 202,
    errors: [400, 401, 403, 404, 422, 429, 500, 502],
    needs: 'a container engine',
  }),
  promoteSandboxImage: defineOperation({
    summary: "Shares the caller's draft with the project.",
    method: 'POST',
    path: `${one}/promote`,
    query: none,
    body: anything,
    answer: imageSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    right: 'admin',
    isRepeatable: true,
  }),
  useSandboxImage: defineOperation({
    summary: "Boots the caller's computer from the newest ready build of an image, and ends the computer from before.",
    method: 'POST',
    path: `${one}/use`,
    query: none,
    body: anything,
    answer: z.object({ imageId: z.string(), computerId: z.string(), status: z.string() }),
    status: 200,
    errors: [400, 401, 403, 404, 409, 422, 429, 500, 502],
    isSlow: true,
    needs: 'a container engine',
  }),
  resetComputer: defineOperation({
    summary: "Boots the caller's computer anew from its image, without what has changed in it.",
    method: 'POST',
    path: `${projectPath}/computer/reset`,
    query: none,
    body: anything,
    answer: z.object({ projectId: z.string(), reset: z.boolean() }),
    status: 200,
    errors: [400, 401, 403, 404, 422, 429, 500, 502],
    isSlow: true,
    needs: 'a container engine',
  }),
});
