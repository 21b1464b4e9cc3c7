import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createApiCaller } from './api-caller.ts';
import { commandPath } from '../process/bundled-command.ts';
import { listChildVariables } from '../process/child-environment.ts';
import type { ContractService } from './contract-service.ts';

/** Starts `mcp-eval-ci serve` in a separate process: for a client that knows only its address, it is a hosted service. */
export async function startServeProcess(args: readonly string[] = []): Promise<ContractService> {
  const child = spawn(process.execPath, [commandPath, 'serve', ...args], {
    env: listChildVariables(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [ready] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => {
      throw new Error(`serve exited with ${code} before it was ready.`);
    }),
  ]);
  const { baseUrl, apiKey, project: projectId } = JSON.parse(ready) as Record<'baseUrl' | 'apiKey' | 'project', string>;
  return {
    baseUrl,
    apiKey,
    projectId,
    root: createApiCaller(baseUrl, apiKey),
    project: createApiCaller(`${baseUrl}/projects/${projectId}`, apiKey),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
