import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/**
 * Returns the largest resident memory that this process had. On Linux, `maxRSS` of `process.resourceUsage()` begins with the peak of the
 * process that started this one, so that a large parent would fail the limits of a small child.
 */
export function readOwnPeakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(peak) * 1024;
}

/** Options of Node with which each process appends its peak memory in bytes to a file when it ends. */
export function notePeakMemory(file: string): { NODE_OPTIONS: string } {
  const note = `import { appendFileSync } from 'node:fs';
import { readOwnPeakBytes } from ${JSON.stringify(import.meta.url)};
process.on('exit', () => appendFileSync(${JSON.stringify(file)}, readOwnPeakBytes() + '\\n'));`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(note)}` };
}

/** Reads the largest peak of these processes. */
export async function readPeakMemoryMiB(file: string): Promise<number> {
  const peaks = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
  return Math.max(...peaks) / 2 ** 20;
}
