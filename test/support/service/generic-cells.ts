import { describeSchema } from '../../../src/service/operations/fields.ts';
import type { Operation } from '../../../src/service/operations/operation.ts';

export const isPublic = ({ right }: Operation): boolean => right === 'public';

/** True if a guest's key is refused. */
export const isWrite = (operation: Operation): boolean => !isPublic(operation) && operation.method !== 'GET';

export const isInProject = ({ path }: Operation): boolean => path.startsWith('/projects/{projectId}');

/** True if the body refuses undescribed fields; ingestion and some other operations ignore them. */
export const isClosed = ({ method, errors, body }: Operation): boolean =>
  method !== 'GET' && errors.includes(400) && describeSchema(body, 'input')['additionalProperties'] === false;

/** Operations that answer from memory if the service has no plugins. */
const fromMemory: ReadonlySet<string> = new Set(['getMe', 'getPluginVersion', 'listOrganizations']);

/** True if it lists a failure of the service that no store can cause. */
export const answersFromMemory = (operation: Operation): boolean =>
  operation.errors.includes(500) && (isPublic(operation) || fromMemory.has(operation.name));

/** True if a failure of the store affects it. */
export const readsStore = (operation: Operation): boolean => !isPublic(operation) && !fromMemory.has(operation.name);
