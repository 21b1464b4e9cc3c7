import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../../src/base/time.ts';

/** Waits until another process has written a file, or its directory is gone. */
export async function waitForFile(file: string): Promise<void> {
  while (existsSync(dirname(file)) && !existsSync(file)) await systemClock.sleep(20);
}
