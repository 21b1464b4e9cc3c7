import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Contestant } from '../contestant.ts';
import { findNpmPeer, installNpmPeer } from '../npm-peers.ts';

const name = 'gleanwork-tester';
const servers = fileURLToPath(new URL('../servers', import.meta.url));

interface Step {
  toolCall?: string;
  arguments?: Record<string, unknown>;
  assert?: Record<string, unknown>;
}

export const contestant: Contestant = {
  title: '@gleanwork/mcp-server-tester, the ten cases in its format',
  kind: 'peer',
  kept: ['tester'],
  install: async () => await installNpmPeer(name, ['@gleanwork/mcp-server-tester@1.1.0', '@playwright/test@1.65.1']),
  async prepare(gate) {
    const directory = join(gate.project, 'tester');
    await mkdir(join(directory, 'tests'), { recursive: true });
    await writeFile(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n');
    await writeFile(join(directory, 'playwright.config.ts'), writeConfig(gate.start));
    await writeFile(join(directory, 'tests/ten-cases.spec.ts'), await writeTests(gate.server.name));
  },
  async check(gate) {
    const directory = join(gate.project, 'tester');
    await rm(join(directory, 'node_modules'), { recursive: true, force: true });
    await symlink(join(findNpmPeer(name), 'node_modules'), join(directory, 'node_modules'));
    const program = join(findNpmPeer(name), 'node_modules/@playwright/test/cli.js');
    const { code, stdout } = await gate.run([
      'sh',
      '-c',
      `cd tester && exec "$0" "$@"`,
      process.execPath,
      program,
      'test',
    ]);
    const failed = stdout.match(/^\s+\d+\) .*$/gm) ?? [];
    return { fails: code !== 0, findings: failed.map((line) => line.trim()) };
  },
  countLines: async ({ name: server }) => (await writeTests(server)).trim().split('\n').length,
};

function writeConfig(start: string): string {
  const mcpConfig = { transport: 'stdio', command: start, args: [] };
  return `import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: './tests',
  workers: 1,
  reporter: [['list']],
  projects: [{ name: 'server', use: { mcpConfig: ${JSON.stringify(mcpConfig)} } }],
});
`;
}

/** The same calls and expectations as the ten cases have, as tests for Playwright. */
async function writeTests(server: string): Promise<string> {
  const text = await readFile(join(servers, server, 'ten-cases.evals.yaml'), 'utf8');
  const { cases } = parse(text) as { cases: ReadonlyArray<{ title: string; steps: readonly Step[] }> };
  const tests = cases
    .filter(({ steps }) => steps.some(({ toolCall }) => toolCall !== undefined))
    .map(({ title, steps }) => {
      const lines = steps.flatMap(writeStep);
      return `test(${JSON.stringify(title)}, async ({ mcp }) => {\n  let result;\n${lines.map((line) => `  ${line}\n`).join('')}});\n`;
    });
  return `import { test, expect } from '@gleanwork/mcp-server-tester/fixtures/mcp';\n\n${tests.join('\n')}`;
}

function writeStep({ toolCall, arguments: args = {}, assert }: Step): string[] {
  if (toolCall !== undefined) return [`result = await mcp.callTool('${toolCall}', ${JSON.stringify(args)});`];
  if (assert === undefined) return [];
  const { toolResultContains, toolResultIsError, toolResultMatches, toolResultEquals } = assert;
  if (toolResultIsError !== undefined)
    return [`expect(Boolean(result.isError)).toBe(${JSON.stringify(toolResultIsError)});`];
  if (typeof toolResultContains === 'string') {
    return [`expect(result).toContainToolText(${JSON.stringify(toolResultContains)});`];
  }
  if (typeof toolResultMatches === 'string') {
    return [
      `expect(result).toMatchToolPattern(new RegExp(${JSON.stringify(toolResultMatches.replace('(?s)', ''))}, 's'));`,
    ];
  }
  if (toolResultEquals === undefined) return [];
  const pointer = typeof assert['path'] === 'string' ? assert['path'].split('/').slice(1) : [];
  const read = pointer.map((part) => `[${/^\d+$/.test(part) ? part : JSON.stringify(part)}]`).join('');
  return [`expect(result.structuredContent${read}).toEqual(${JSON.stringify(toolResultEquals)});`];
}
