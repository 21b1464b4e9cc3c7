import { contract, type Dialect, newerContract } from '../suite/dialect.ts';

/** The differences between the services that have this API. */
export interface ServiceProfile {
  name: 'embedded' | 'svc' | 'mcpjam';
  /** The prefix of the vendor's own headers, such as `x-svc-idempotency-key`. */
  headerPrefix: string;
  /** The WebSocket subprotocol that the relay's edge requires. */
  subprotocol: string;
  /** The URL of the vendor's own deployment; null if there is none and the user has to give a URL. */
  defaultBaseUrl: string | null;
  limits: {
    iterationsPerCase: number;
    /** The most tests of a suite, a run or a batch of cases. */
    testsPerRequest: number;
  };
  /** Segments of paths that the service names differently from the descriptions of operations. */
  segments: Readonly<Record<string, string>>;
  /** The pace at which requests may be sent with a key; null if requests are not metered. */
  pacing: { perSecond: number; burst: number } | null;
  /** The waits between polls of a run: the first one, then longer ones up to the longest. */
  polling: { firstMs: number; longestMs: number };
  /** True if traces contain the results of tools that a step called without a model. */
  keepsToolResults: boolean;
  /** The dialect, which determines the assertions that the service knows. */
  dialect: Dialect;
  /** The advice if the service could not reach the MCP server. */
  serverUnreachableHint: string;
  /** Returns the URL of the page of a run; null if the service has no pages. */
  composeRunUrl(place: RunPlace): string | null;
}

/** The ids in the URL of a run. `baseUrl` is that of the API, which has the same origin as the pages. */
export interface RunPlace {
  baseUrl: string;
  projectId: string;
  suiteId: string;
  runId: string;
}

/** The limits of the contract. The pace is below its 60 requests a minute with bursts of 10, because several jobs share a key. */
const hosted = {
  limits: { iterationsPerCase: 10, testsPerRequest: 100 },
  pacing: { perSecond: 1, burst: 5 },
  polling: { firstMs: 1000, longestMs: 10_000 },
  serverUnreachableHint: 'Check the URL that the service has of the server, and the tunnel if it leads through one.',
  composeRunUrl: ({ baseUrl, projectId, suiteId, runId }: RunPlace): string | null => {
    const origin = URL.parse(baseUrl)?.origin;
    if (origin === undefined) return null;
    return `${origin}/evals/suite/${encode(suiteId)}/runs/${encode(runId)}?project=${encode(projectId)}`;
  },
};

/** Encodes an id, even if it has lone surrogates, which an id of a service may have. */
function encode(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}

export const serviceProfiles: Record<ServiceProfile['name'], ServiceProfile> = {
  embedded: {
    name: 'embedded',
    headerPrefix: 'x-svc-',
    subprotocol: 'svc-tunnel.v1',
    keepsToolResults: true,
    dialect: 'embedded',
    serverUnreachableHint: 'The server answered the gate when it was started. Check its output for the reason.',
    defaultBaseUrl: null,
    limits: { iterationsPerCase: 100, testsPerRequest: 5000 },
    segments: {},
    pacing: null,
    polling: { firstMs: 50, longestMs: 200 },
    composeRunUrl: () => null,
  },
  svc: {
    name: 'svc',
    headerPrefix: 'x-svc-',
    subprotocol: 'svc-tunnel.v1',
    keepsToolResults: true,
    dialect: contract,
    segments: {},
    defaultBaseUrl: null,
    ...hosted,
  },
  mcpjam: {
    name: 'mcpjam',
    headerPrefix: 'x-mcpjam-',
    subprotocol: 'mcpjam-tunnel.v1',
    keepsToolResults: false,
    dialect: newerContract,
    segments: { chatboxes: 'scenarios' },
    defaultBaseUrl: 'https://app.mcpjam.com/api/v1',
    ...hosted,
  },
};
