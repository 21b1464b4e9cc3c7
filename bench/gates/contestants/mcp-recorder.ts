import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Contestant } from '../contestant.ts';
import { findPeer, installPeer } from '../python-peers.ts';

const name = 'mcp-recorder';
const servers = fileURLToPath(new URL('../servers', import.meta.url));

export const contestant: Contestant = {
  title: 'mcp-recorder, the sessions of the ten cases recorded, `verify`',
  kind: 'peer',
  kept: ['cassettes'],
  // Its recorder needs an older Starlette than the newest that it allows.
  install: async () => await installPeer(name, ['mcp-recorder==0.5.0', 'starlette<1']),
  async prepare(gate) {
    await writeFile(join(gate.project, 'scenarios.yml'), await writeScenarios(gate.server.name, gate.start));
    const { code, stderr } = await gate.run([findPeer(name), 'record-scenarios', 'scenarios.yml']);
    if (code !== 0) throw new Error(stderr.trim().split('\n').at(-1) ?? 'nothing was recorded');
  },
  async check(gate) {
    const args = ['verify', '--cassette', 'cassettes/ten_cases.json', '--target-stdio', gate.start, '--verbose'];
    const { code, stdout } = await gate.run([findPeer(name), ...args]);
    const failed = stdout.split('\n').filter((line) => /\[FAIL\]|✗|FAIL/.test(line));
    return { fails: code !== 0, findings: failed.map((line) => line.trim()) };
  },
  countLines: async (server) => (await writeScenarios(server.name, 'server')).trim().split('\n').length,
};

interface TenCases {
  cases: ReadonlyArray<{ steps: ReadonlyArray<Record<string, unknown>> }>;
}

/** The same requests as the ten cases make, in the format of its scenarios. */
async function writeScenarios(server: string, start: string): Promise<string> {
  const { cases } = parse(await readFile(join(servers, server, 'ten-cases.evals.yaml'), 'utf8')) as TenCases;
  const actions = cases.flatMap(({ steps }) => steps.flatMap(writeAction));
  const scenarios = { ten_cases: { description: 'Ten cases from the README', actions } };
  const content = { schema_version: '1.0', target: { command: start, args: [] }, scenarios };
  // Its reader takes a text without quotes that reads as a date for one.
  return stringify(content, { defaultStringType: 'QUOTE_DOUBLE' });
}

function writeAction(step: Record<string, unknown>): unknown[] {
  const { toolCall, readResource, getPrompt, listTools, arguments: args = {} } = step;
  if (toolCall !== undefined) return [{ call_tool: { name: toolCall, arguments: args } }];
  if (readResource !== undefined) return [{ read_resource: { uri: readResource } }];
  if (getPrompt !== undefined) return [{ get_prompt: { name: getPrompt, arguments: args } }];
  return listTools === undefined ? [] : ['list_tools'];
}
