import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findMedian } from './child.ts';

const rounds = 15;
const entries = ['', '/checks', '/explore', '/report', '/node-test', '/parts'];

/** Prints the time of the processor that a program needs to import each entry of the package, as a multiple of an empty program. */
export async function measureLibraryImport(): Promise<void> {
  console.log(`\nImporting the library: time of the processor of a whole program, median of ${rounds} rounds`);
  const programs = ['', ...entries.map((entry) => `import 'mcp-eval-ci${entry}';`)];
  const times = programs.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, program] of programs.entries()) times[index]?.push(await measureProgram(program));
  }
  const [empty = Number.NaN, ...medians] = times.map(findMedian);
  console.log(`  empty program:          ${empty.toFixed(0)} ms`);
  for (const [index, entry] of entries.entries()) {
    const ms = medians[index] ?? Number.NaN;
    console.log(`  ${`mcp-eval-ci${entry}:`.padEnd(24)}${ms.toFixed(0)} ms, ${(ms / empty).toFixed(2)} × empty`);
  }
}

/** Other work of the machine does not count towards the time of the processor. */
async function measureProgram(program: string): Promise<number> {
  const code = `${program}\nprocess.on('exit', () => { const { userCPUTime, systemCPUTime } = process.resourceUsage(); console.log((userCPUTime + systemCPUTime) / 1000); });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: new URL('..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  await once(child, 'close');
  return Number(output);
}
