import { z } from 'zod';
import { tunnelClosedSchema, tunnelGrantSchema } from '../wire.ts';
import { defineOperation, nameOperations, none } from './operation.ts';
import { tunnelClosePath, tunnelsPath } from '../paths.ts';

/** Tunnels through which the service reaches servers without a public address. */
export const tunnelOperations = nameOperations({
  createTunnel: defineOperation({
    summary: 'Creates a tunnel under the name of a server, and cuts off an earlier holder of it.',
    method: 'POST',
    path: tunnelsPath,
    query: none,
    // An open object, unlike the bodies of other writes.
    body: z.object({ name: z.string().trim().min(1).max(128) }),
    answer: tunnelGrantSchema,
    status: 201,
    errors: [400, 401, 403, 404, 429, 500, 502],
    isSlow: true,
    secrets: ['connectToken', 'url', 'previousUrl'],
  }),
  closeTunnel: defineOperation({
    summary: 'Closes a tunnel; the record of its server stays.',
    method: 'POST',
    path: tunnelClosePath,
    query: none,
    body: none,
    answer: tunnelClosedSchema,
    status: 200,
    errors: [401, 403, 404, 429, 500, 502],
    isRepeatable: true,
  }),
});
