import { readFile } from 'node:fs/promises';

/** Options of Node with which each process appends its peak memory in KiB to a file when it ends. */
export function notePeakMemory(file: string): { NODE_OPTIONS: string } {
  const note = `import { appendFileSync } from 'node:fs';
process.on('exit', () => appendFileSync(${JSON.stringify(file)}, process.resourceUsage().maxRSS + '\\n'));`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(note)}` };
}

/** Reads the largest peak of these processes. */
export async function readPeakMemoryMiB(file: string): Promise<number> {
  const peaks = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
  return Math.max(...peaks) / 1024;
}
