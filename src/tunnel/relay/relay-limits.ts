import type { TunnelLimits } from '../frames.ts';

/** The limits that the relay announces to its hosts and enforces on them and their callers. */
export interface RelayLimits extends TunnelLimits {
  /** The bytes of one body that may be under way in either direction before more is granted. */
  window: number;
  /** The longest wait for the head of an answer, counted from the last byte of the request. */
  answerTimeoutMs: number;
}

/**
 * A run keeps two requests per session open, so there may be many under way. Each may fill its window in this process if the other side
 * does not read.
 */
export const defaultRelayLimits: RelayLimits = {
  maxReqBody: 64 * 1024 * 1024,
  chunk: 65_536,
  maxInflight: 256,
  window: 512 * 1024,
  answerTimeoutMs: 60_000,
};
