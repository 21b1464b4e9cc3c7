import { contract, type Dialect, newerContract } from '../suite/dialect.ts';

/** What differs between the services that speak this API. */
export interface ServiceProfile {
  name: 'embedded' | 'svc' | 'mcpjam';
  /** Of the vendor's own headers, such as `x-svc-idempotency-key`. */
  headerPrefix: string;
  /** Of the relay's WebSocket: the one word for which its edge gives the connection. */
  subprotocol: string;
  /** Where the vendor hosts it; null where there is no such place and the user has to say. */
  defaultBaseUrl: string | null;
  limits: {
    iterationsPerCase: number;
    /** Of a suite, a run or a batch of cases. */
    testsPerRequest: number;
  };
  /** What it calls segments of paths differently from the descriptions of operations. */
  segments: Readonly<Record<string, string>>;
  /** What a key may spend on requests; null where nothing is metered. */
  pacing: { perSecond: number; burst: number } | null;
  /** How often a run is asked after: from the first wait on, each longer than the last, up to the longest. */
  polling: { firstMs: number; longestMs: number };
  /** Whether traces hold what tools answered that a step called and no model. */
  keepsToolResults: boolean;
  /** Which assertions it knows. */
  dialect: Dialect;
  /** What to do where the service could not reach the MCP server. */
  serverUnreachableHint: string;
  /** The page on which people look at a run; null where the service has no pages. */
  composeRunUrl(place: RunPlace): string | null;
}

/** What leads to a run. `baseUrl` is that of the API, whose origin the pages share. */
export interface RunPlace {
  baseUrl: string;
  projectId: string;
  suiteId: string;
  runId: string;
}

/** The contract's limits, and a pace below its 60 requests a minute with bursts of 10: several jobs share a key. */
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

/** Also takes text that cannot be encoded, which an id of a service may be. */
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
