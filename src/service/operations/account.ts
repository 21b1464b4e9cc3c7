import { z } from 'zod';
import { deletedSchema, meSchema, projectPageSchema, projectSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { mePath, projectPath, projectsPath } from '../paths.ts';

const visibility = z.enum(['public', 'private']);

/** The caller and the projects of its organization. */
export const accountOperations = nameOperations({
  getMe: defineOperation({
    summary: 'Gets the user that the key acts for.',
    method: 'GET',
    path: mePath,
    query: none,
    body: none,
    answer: meSchema,
    status: 200,
    errors: [401, 403, 429, 500, 502],
  }),
  listProjects: defineOperation({
    summary: 'Lists the projects that the key reaches.',
    method: 'GET',
    path: projectsPath,
    query: z.object({ organizationId: z.string().exactOptional() }),
    body: none,
    answer: projectPageSchema,
    status: 200,
    errors: [401, 403, 429, 500, 502],
  }),
  createProject: defineOperation({
    summary: 'Creates a project in an organization of the key.',
    method: 'POST',
    path: projectsPath,
    query: none,
    body: z.strictObject({
      name: z.string().trim().min(1),
      description: z.string().exactOptional(),
      organizationId: z.string().exactOptional(),
      icon: z.string().exactOptional(),
      visibility: visibility.exactOptional(),
    }),
    answer: projectSchema,
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
  }),
  updateProject: defineOperation({
    summary: 'Changes the given fields of a project.',
    method: 'PATCH',
    path: projectPath,
    query: none,
    body: z.strictObject({
      name: z.string().trim().min(1).exactOptional(),
      description: z.string().exactOptional(),
      icon: z.string().exactOptional(),
      visibility: visibility.exactOptional(),
    }),
    answer: projectSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    right: 'admin',
    isRepeatable: true,
  }),
  deleteProject: defineOperation({
    summary: 'Deletes a project with everything in it, for good.',
    method: 'DELETE',
    path: projectPath,
    query: none,
    body: none,
    answer: deletedSchema,
    status: 200,
    errors: [400, 401, 403, 404, 429, 500, 502],
    right: 'admin',
  }),
});
