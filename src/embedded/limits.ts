import type { TunnelLimits } from '../tunnel/frames.ts';

/** How much one request, one case and one service may ask for. */
export interface ServiceLimits {
  iterationsPerCase: number;
  testsPerRequest: number;
  stepsPerCase: number;
  /** Characters of one tool call's arguments, serialised. */
  argumentCharacters: number;
  /** Iterations × prompt steps of one run. */
  llmCallsPerRun: number;
  /** Runs executing at once; one more is refused with `CONCURRENT_RUN_LIMIT`. */
  concurrentRuns: number;
  maxBodyBytes: number;
}

/** What the hosted service allows, so that whatever works here works there. */
export const contractLimits: ServiceLimits = {
  iterationsPerCase: 10,
  testsPerRequest: 100,
  stepsPerCase: 200,
  argumentCharacters: 100_000,
  llmCallsPerRun: 300,
  concurrentRuns: 2,
  maxBodyBytes: 6 * 1024 * 1024,
};

/** The hosted service's own bounds on one iteration and one run. */
export const defaultIterationTimeoutMs = 10 * 60_000;
export const defaultRunTimeoutMs = 20 * 60_000;

/** What the relay announces to its hosts, and holds them and their callers to. */
export interface RelayLimits extends TunnelLimits {
  /** Bytes of one body that may be under way in either direction before more is granted. */
  window: number;
  /** How long a request may be without the head of an answer, counted from its last byte. */
  answerTimeoutMs: number;
}

/**
 * A run keeps two requests per session open, so many may be under way; each may fill its window in this process when the
 * other side does not read.
 */
export const defaultRelayLimits: RelayLimits = {
  maxReqBody: 64 * 1024 * 1024,
  chunk: 65_536,
  maxInflight: 256,
  window: 512 * 1024,
  answerTimeoutMs: 60_000,
};
