import type { HostProfile } from '../../src/hosts/profile.ts';

/** Where a host runs, and with what. */
export interface HostPlace {
  /** The directory with the `node_modules` of the host's package. */
  installed: string;
  home: string;
  directory: string;
  /** The provider, on loopback. */
  port: number;
  model: string;
  server: { command: string; args: string[] };
  prompt: string;
}

export interface HostStart {
  argv: string[];
  env: Record<string, string>;
  /** Files to write first, by path within the home. */
  files: Record<string, string>;
}

/** How a host is started with the scripted provider and the server. */
export interface HostAdapter {
  id: HostProfile['id'];
  package: string;
  /** A model that the host does not know, where the host takes one. */
  model: string;
  /** Models that the host knows, which it shows other things. */
  models?: readonly string[];
  /** The environment in which the host shows all tools at once, if it defers them. */
  showAll?: Record<string, string>;
  start: (place: HostPlace) => HostStart;
}

export const key = 'probe-key';
