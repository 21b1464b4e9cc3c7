import type { TunnelLimits } from '../frames.ts';

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
