import { accountOperations } from './account.ts';
import type { Operation } from './operation.ts';

/** Every operation of the API by its area. */
export const operations = {
  account: accountOperations,
};

/** Every operation of the API, area by area. */
export function listOperations(): Operation[] {
  return Object.values(operations).flatMap((area) => Object.values<Operation>(area));
}
