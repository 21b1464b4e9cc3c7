import { type Clock, race } from '../../base/time.ts';
import type { Agent } from './agent-socket.ts';

/** Maps each server to the host that serves it at the moment. */
export interface TunnelTable {
  /** Lets a host take over a server; the previous host is closed. */
  connect(serverId: string, agent: Agent): void;
  /** Called when a host has disconnected. */
  disconnect(serverId: string, agent: Agent, closeCode: number): void;
  /** Closes the host of a server for good. */
  close(serverId: string, closeCode: number): void;
  /** Finds the host of a server; null if there is none. */
  findAgent(serverId: string): Agent | null;
  /** Waits for a host that broke off a moment ago and is likely to reconnect; null if there is none. */
  waitForAgent(serverId: string, options: { signal: AbortSignal }): Promise<Agent | null>;
  closeAll(closeCode: number): void;
}

/** The longest wait for a host that broke off. */
const gapMs = 5000;

/** Close codes with which a host announces that it does not reconnect, or with which the relay closed it for good. */
const partings = new Set([1000, 1001, 4001, 4002]);

export function createTunnelTable(clock: Clock): TunnelTable {
  const agents = new Map<string, Agent>();
  const brokenAtMs = new Map<string, number>();
  const waiters = new Map<string, Set<() => void>>();

  const wake = (serverId: string) => {
    for (const waiter of waiters.get(serverId) ?? []) waiter();
    waiters.delete(serverId);
  };

  return {
    connect: (serverId, agent) => {
      agents.get(serverId)?.close(4001);
      agents.set(serverId, agent);
      brokenAtMs.delete(serverId);
      wake(serverId);
    },
    disconnect: (serverId, agent, closeCode) => {
      if (agents.get(serverId) !== agent) return;
      agents.delete(serverId);
      if (!partings.has(closeCode)) brokenAtMs.set(serverId, clock.monotonicMs());
    },
    close: (serverId, closeCode) => {
      const agent = agents.get(serverId);
      agents.delete(serverId);
      brokenAtMs.delete(serverId);
      agent?.close(closeCode);
      wake(serverId);
    },
    findAgent: (serverId) => agents.get(serverId) ?? null,
    waitForAgent: async (serverId, { signal }) => {
      const isGap = clock.monotonicMs() - (brokenAtMs.get(serverId) ?? Number.NEGATIVE_INFINITY) < gapMs;
      if (!isGap) return null;
      const waiting = waiters.get(serverId) ?? new Set();
      waiters.set(serverId, waiting);
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const timeout = { clock, afterMs: gapMs, onTimeout: () => {} };
      await race(woken, { signals: [signal], timeout }).catch(() => {});
      waiting.delete(resolve);
      return agents.get(serverId) ?? null;
    },
    closeAll: (closeCode) => {
      for (const agent of agents.values()) agent.close(closeCode);
      agents.clear();
      brokenAtMs.clear();
      for (const serverId of waiters.keys()) wake(serverId);
    },
  };
}
