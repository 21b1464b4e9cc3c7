import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Contestant, Gate } from '../contestant.ts';
import { findNpmPeer, installNpmPeer } from '../npm-peers.ts';
import { findPort } from '../port.ts';

const name = 'conformance';
const passing = 'passing-scenarios.json';
/** The scenarios that need no tool of its own test server. */
const scenarios = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list'];

export const contestant: Contestant = {
  title: '@modelcontextprotocol/conformance, made for the protocol',
  kind: 'protocol',
  kept: [passing],
  install: async () => await installNpmPeer(name, ['@modelcontextprotocol/conformance@0.1.16', 'supergateway@4.0.0']),
  async prepare(gate) {
    const failed = await runScenarios(gate, scenarios);
    const passed = scenarios.filter((scenario) => !failed.includes(scenario));
    if (passed.length === 0) throw new Error('no scenario passes on the unchanged server');
    await writeFile(join(gate.project, passing), JSON.stringify(passed));
  },
  async check(gate) {
    const wanted = JSON.parse(await readFile(join(gate.project, passing), 'utf8')) as string[];
    const failed = await runScenarios(gate, wanted);
    return { fails: failed.length > 0, findings: failed };
  },
  countLines: async () => await Promise.resolve(0),
};

/** Its scenarios speak HTTP, so a gateway translates for the servers. Gives the scenarios that failed. */
async function runScenarios(gate: Gate, wanted: readonly string[]): Promise<string[]> {
  const modules = join(findNpmPeer(name), 'node_modules');
  const port = String(await findPort());
  const node = process.execPath;
  const gateway = [node, join(modules, 'supergateway/dist/index.js'), '--stdio', gate.start, '--port', port];
  const connect = `require('node:net').connect(${port}, '127.0.0.1').on('connect', () => process.exit())`;
  const waiting = `const connect = () => ${connect}.on('error', () => setTimeout(connect, 100)); connect();`;
  const program = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
  const url = `http://127.0.0.1:${port}/mcp`;
  const script = [
    `${quote([...gateway, '--outputTransport', 'streamableHttp', '--stateful'])} > /dev/null 2>&1 &`,
    quote([node, '-e', waiting]),
    ...wanted.map(
      (scenario) =>
        `${quote([node, program, 'server', '--url', url, '--scenario', scenario])} > /dev/null 2>&1 || echo ${scenario}`,
    ),
  ];
  const { stdout } = await gate.run(['sh', '-c', script.join('\n')]);
  return stdout.split('\n').filter((line) => wanted.includes(line));
}

function quote(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
}
