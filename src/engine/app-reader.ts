import type { AppReader } from '../checks/judgement.ts';
import { printValue } from '../checks/reasons.ts';
import { type Connection, explainFailedRequest } from './process-loss.ts';
import { describeMissing, listTools } from './tool-list.ts';

/** Reads the apps of a server in the session of an iteration. */
export function createAppReader(connection: Connection): AppReader {
  const { session, signal } = connection;
  return {
    listTools: async () => {
      const listing = await listTools(connection);
      if (listing.kind === 'refused') return listing;
      if (listing.kind === 'list') {
        const apps = new Map([...(listing.list ?? [])].map(([name, { appUri }]) => [name, appUri]));
        return { kind: 'list', apps, describeMissing: (name) => describeMissing(name, listing.list) };
      }
      return { kind: 'unknown', reason: 'the server gave no list of its tools.' };
    },
    read: async (uri) => {
      try {
        const result = await session.request({ method: 'resources/read', params: { uri } }, { signal });
        return { kind: 'read', result };
      } catch (error) {
        const fault = await explainFailedRequest(error, connection);
        if (fault.kind === 'lost') return { kind: 'unknown', reason: 'the process of the server ended.' };
        if (fault.kind === 'unreachable')
          return { kind: 'unknown', reason: `the server gave no answer: ${fault.message}.` };
        return { kind: 'refused', reason: `resources/read failed: ${printValue(fault.message)}` };
      }
    },
  };
}
