import { dirname, join } from 'node:path';
import type { ChosenServer } from './write-workflow.ts';

/** Returns the path of the file with the tests, in the directory of the evals file. */
export function nameVitestFile(evals: string): string {
  return join(dirname(evals), 'evals.test.ts');
}

/** Renders the file with which vitest runs the evals, a test for each case. */
export function renderVitest({
  server,
  env,
  evals,
  surface,
}: {
  server: ChosenServer;
  /** The lines of `server-env` that name the workspace. Others may be secrets. */
  env: readonly string[];
  evals: string;
  surface: string | null;
}): string {
  const variables = Object.fromEntries(
    env.map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const options = {
    ...nameServer(server),
    ...(env.length > 0 && { serverEnv: variables }),
    ...(surface !== null && { surface }),
  };
  const lines = [
    '// Written by `mcp-eval-ci init`. `npx vitest` runs it; it needs the packages vitest and mcp-eval-ci.',
    "import { describeEvals } from 'mcp-eval-ci/vitest';",
    '',
    `describeEvals(${JSON.stringify(evals)}, {`,
    ...Object.entries(options).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`),
    '});',
  ];
  return `${lines.join('\n')}\n`;
}

function nameServer(server: ChosenServer): object {
  if (server.kind === 'command') return { serverCommand: server.command };
  return server.kind === 'url' ? { serverUrl: server.url } : { mcpConfig: server.config };
}
