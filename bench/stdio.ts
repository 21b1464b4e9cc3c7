import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findMedian, measureInChild } from './child.ts';

interface Outcome {
  passed: number;
}

const iterations = 100;
const rounds = 3;
const server = fileURLToPath(new URL('stdio-server.mjs', import.meta.url));

/** Measures iterations with a process each through the gate, without and with a sandbox, against the bare SDK, in turn. */
export async function measureStdio(): Promise<void> {
  if (process.platform !== 'linux') return;
  console.log(`\nStdio: ${iterations} iterations with a process each, ${rounds} rounds, CPU of all processes`);
  const ratios = { off: [] as number[], required: [] as number[] };
  for (let round = 1; round <= rounds; round += 1) {
    const sdkMs = await measureCpu('./stdio-sdk.ts', [server]);
    const parts: string[] = [];
    for (const level of ['off', 'required'] as const) {
      const gateMs = await measureCpu('./stdio-gate.ts', [`${process.execPath} ${server}`, level]);
      ratios[level].push(gateMs / sdkMs);
      parts.push(`sandbox ${level} ${formatSeconds(gateMs)} (ratio ${(gateMs / sdkMs).toFixed(2)})`);
    }
    console.log(`  round ${round}: bare SDK ${formatSeconds(sdkMs)}, ${parts.join(', ')}`);
  }
  const medians = `${findMedian(ratios.off).toFixed(2)}, with a sandbox ${findMedian(ratios.required).toFixed(2)}`;
  console.log(`  median ratio ${medians} (goal: at most 1.5)`);
}

/** Returns the CPU time of a child and of everything that it started and waited for, in milliseconds. */
async function measureCpu(script: string, [first, ...rest]: readonly [string, ...string[]]): Promise<number> {
  const before = readChildrenCpuMs();
  const { passed } = await measureInChild<Outcome>(script, [first, String(iterations), ...rest]);
  if (passed !== iterations) throw new Error(`${script}: only ${passed} of ${iterations} passed.`);
  return readChildrenCpuMs() - before;
}

/** Reads `cutime` and `cstime` of proc_pid_stat(5), counted from the field after the program's name. Linux always counts 100 ticks a second. */
function readChildrenCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return ((fields[13] ?? 0) + (fields[14] ?? 0)) * 10;
}

function formatSeconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(2)} s`;
}
