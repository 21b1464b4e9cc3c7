import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a script of this folder in a separate process and returns the JSON line that it prints. */
export async function measureInChild<T>(script: string, args: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const [exitCode] = await once(child, 'close');
  if (exitCode !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${exitCode}.`);
  return JSON.parse(output) as T;
}

export function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
