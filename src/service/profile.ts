/** What differs between the services that speak this API. */
export interface ServiceProfile {
  name: 'embedded' | 'svc' | 'mcpjam';
  /** Of the vendor's own headers, such as `x-svc-idempotency-key`. */
  headerPrefix: string;
  limits: {
    iterationsPerCase: number;
    /** Of a suite, a run or a batch of cases. */
    testsPerRequest: number;
  };
  /** Where runs are created and found. Always below the project: the short `/eval-runs` is an abbreviation of it. */
  runPath(projectId: string): readonly string[];
  /** What a key may spend on requests; null where nothing is metered. */
  pacing: { perSecond: number; burst: number } | null;
  /** How often a run is asked after: from the first wait on, each longer than the last, up to the longest. */
  polling: { firstMs: number; longestMs: number };
}

const runPath = (projectId: string): readonly string[] => ['projects', projectId, 'eval-runs'];

/** The contract's limits, and a pace below its 60 requests a minute with bursts of 10: several jobs share a key. */
const hosted = {
  limits: { iterationsPerCase: 10, testsPerRequest: 100 },
  runPath,
  pacing: { perSecond: 1, burst: 5 },
  polling: { firstMs: 1000, longestMs: 5000 },
};

export const serviceProfiles: Record<ServiceProfile['name'], ServiceProfile> = {
  embedded: {
    name: 'embedded',
    headerPrefix: 'x-svc-',
    limits: { iterationsPerCase: 100, testsPerRequest: 5000 },
    runPath,
    pacing: null,
    polling: { firstMs: 50, longestMs: 200 },
  },
  svc: { name: 'svc', headerPrefix: 'x-svc-', ...hosted },
  mcpjam: { name: 'mcpjam', headerPrefix: 'x-mcpjam-', ...hosted },
};
