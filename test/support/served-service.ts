import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createApiCaller } from './api-caller.ts';
import type { ContractService } from './contract-service.ts';

const entry = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Starts `mcp-eval-ci serve` as a process of its own: to a job, a service that somebody else hosts. */
export async function startServedService(): Promise<ContractService> {
  const child = spawn(process.execPath, [entry, 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  while (!output.includes('\n')) {
    await Promise.race([once(child.stdout, 'data'), ended]);
    if (child.exitCode !== null) throw new Error(`serve ended with exit code ${child.exitCode}.`);
  }
  const ready: { baseUrl: string; apiKey: string; project: string } = JSON.parse(output);
  const { baseUrl, apiKey, project: projectId } = ready;
  return {
    baseUrl,
    apiKey,
    projectId,
    root: createApiCaller(baseUrl, apiKey),
    project: createApiCaller(`${baseUrl}/projects/${projectId}`, apiKey),
    [Symbol.asyncDispose]: stop,
  };
}
