import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { listChildVariables } from '../support/process/child-environment.ts';

const enter = new URL('../../src/supervisor/enter.ts', import.meta.url).href;

/** What a program prints that is started by `enter`, or without it. */
async function print(body: string, start: string): Promise<string> {
  const program = `const run = async () => { ${body} };\n${start}`;
  const args = ['--input-type=module', '--eval', program];
  return (await promisify(execFile)(process.execPath, args, { env: listChildVariables() })).stdout;
}

describe('enter', () => {
  it('has zod interpret the schemas of the program, which else compiles them', async () => {
    const body = `const { z } = await import('zod'); const code = globalThis.Function; let compiled = 0;
      globalThis.Function = function (...args) { compiled += 1; return code(...args); };
      z.object({ a: z.string() }).parse({ a: 'b' }); console.log(compiled > 0 ? 'compiled' : 'interpreted');`;
    const entered = `import { enter } from '${enter}';\nawait enter({ isSupervised: false, print: console.log, run });`;
    expect(await print(body, entered)).toBe('interpreted\n');
    expect(await print(body, 'await run();')).toBe('compiled\n');
  });
});
