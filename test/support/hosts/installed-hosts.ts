import { execFileSync } from 'node:child_process';
import { findAdapter } from '../../../src/host-drivers/catalog.ts';
import { readVersion } from '../../../src/host-drivers/driver.ts';

/** Finds the version of a host in PATH; null where it is not installed. No test installs a host: some are proprietary, and all are large. */
export function findHostVersion(id: string): string | null {
  const program = findAdapter(id)?.program;
  if (program === undefined) return null;
  try {
    return readVersion(execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return null;
  }
}
