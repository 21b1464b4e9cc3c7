import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { callOperation } from '../../../src/service/call-operation.ts';
import { openServiceClient } from '../../../src/service/client.ts';
import type { CallOptions, ServiceClient, ServiceClientOptions } from '../../../src/service/client.ts';
import { accountOperations } from '../../../src/service/operations/account.ts';
import { serviceProfiles } from '../../../src/service/profile.ts';
import { VirtualClock } from '../clocks/virtual-clock.ts';

export const testApiKey = 'sk_test_0123456789abcdef';

/** Opens a client of a test server with virtual waits and almost no jitter. */
export function openTestClient(
  server: { origin: string },
  options: Partial<ServiceClientOptions> = {},
): ServiceClient & { clock: VirtualClock } {
  const clock = new VirtualClock();
  const client = openServiceClient({
    baseUrl: `${server.origin}/api/v1`,
    apiKey: new Secret(testApiKey),
    profile: serviceProfiles.embedded,
    clock,
    logger: silentLogger,
    random: () => 0.5,
    ...options,
  });
  return { ...client, clock: options.clock instanceof VirtualClock ? options.clock : clock };
}

/** Makes the smallest call of all. */
export async function getMe(client: ServiceClient, options: CallOptions = {}) {
  return await callOperation(client, accountOperations.getMe, {}, options);
}

/** What a promise was rejected with; fails the test when it was not. */
export async function catchError(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error('Something other than an Error was thrown.', { cause: error });
  }
  throw new Error('Nothing was thrown.');
}
