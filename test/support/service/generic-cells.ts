import { describeSchema } from '../../../src/service/operations/fields.ts';
import type { Operation } from '../../../src/service/operations/operation.ts';

export const isPublic = ({ right }: Operation): boolean => right === 'public';

/** Whether a guest's key is refused. */
export const isWrite = (operation: Operation): boolean => !isPublic(operation) && operation.method !== 'GET';

export const isInProject = ({ path }: Operation): boolean => path.startsWith('/projects/{projectId}');

/** Whether the body refuses fields that are not described; those of ingestion and some others ignore them. */
export const isClosed = ({ method, errors, body }: Operation): boolean =>
  method !== 'GET' && errors.includes(400) && describeSchema(body, 'input')['additionalProperties'] === false;

/** Answered from memory, as long as the service has no plugins. */
const fromMemory: ReadonlySet<string> = new Set(['getMe', 'getPluginVersion', 'listOrganizations']);

/** Whether it lists a failure of the service, and no store can cause it. */
export const answersFromMemory = (operation: Operation): boolean =>
  operation.errors.includes(500) && (isPublic(operation) || fromMemory.has(operation.name));

/** Whether a failure of the store reaches it. */
export const readsStore = (operation: Operation): boolean => !isPublic(operation) && !fromMemory.has(operation.name);
