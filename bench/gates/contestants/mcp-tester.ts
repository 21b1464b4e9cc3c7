import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Contestant } from '../contestant.ts';
import { findNpmPeer, installNpmPeer } from '../npm-peers.ts';
import { findRustPeer, installRustPeer } from '../rust-peers.ts';

const name = 'mcp-tester';
const scenarios = 'scenarios';
const servers = fileURLToPath(new URL('../servers', import.meta.url));
const behindGateway = fileURLToPath(new URL('../behind-gateway.ts', import.meta.url));

export const contestant: Contestant = {
  title: 'mcp-tester (Rust), the ten cases in its format',
  kind: 'peer',
  kept: [scenarios],
  async install() {
    const gateway = await installNpmPeer(name, ['supergateway@4.0.0']);
    return 'missing' in gateway ? gateway : await installRustPeer(name, '0.8.0');
  },
  async prepare({ server, project }) {
    await mkdir(join(project, scenarios));
    for (const [index, text] of (await writeScenarios(server.name)).entries()) {
      await writeFile(join(project, scenarios, `${String(index + 1).padStart(2, '0')}.yaml`), text);
    }
  },
  async check(gate) {
    const files = (await readdir(join(gate.project, scenarios))).toSorted();
    const commands = files.map((file) => [
      findRustPeer(name),
      'scenario',
      '{{url}}',
      `${scenarios}/${file}`,
      '--detailed',
    ]);
    const gateway = join(findNpmPeer(name), 'node_modules/supergateway/dist/index.js');
    const words = commands.map((command) => JSON.stringify(command));
    const { code, stdout } = await gate.run([process.execPath, behindGateway, gateway, gate.start, ...words]);
    if (code === 2) throw new Error('the gateway did not start');
    return { fails: code !== 0, findings: listFailures(stdout) };
  },
  countLines: async (server) => (await writeScenarios(server.name)).join('').trim().split('\n').length,
};

/** The steps and the assertions that failed, without the answers, which may have times and ids. */
function listFailures(output: string): string[] {
  const failures: string[] = [];
  let scenario = '';
  let step = '';
  for (const line of output.split('\n')) {
    scenario = line.match(/^Executing scenario: (.*)/)?.[1] ?? scenario;
    step = line.match(/^ {2}→ (.*?)\.\.\. /)?.[1] ?? step;
    const failed = line.match(/✗ Assertion failed: (.*)|FAILED \((?!\d)(.*)\)$/);
    if (failed !== null) failures.push(`${scenario}: ${step}: ${failed[1] ?? failed[2] ?? ''}`);
  }
  return failures;
}

interface Step {
  toolCall?: string;
  readResource?: string;
  getPrompt?: string;
  listTools?: boolean;
  arguments?: Record<string, unknown>;
  assert?: Record<string, unknown>;
}

type Assertion = { type: string } & Record<string, unknown>;

interface Written {
  name: string;
  operation: Record<string, unknown>;
  assertions: Assertion[];
}

/**
 * An assertion sees no structured content, only the text, and the text as JSON. Where the text has a part of the structured content
 * elsewhere, a person who sees the answer writes where it is.
 */
const parts: Record<string, Record<string, string>> = {
  filesystem: { '/content': 'result' },
  memory: {
    '/entities': 'parsed',
    '/relations': 'parsed',
    '/results/0/addedObservations': 'parsed[0].addedObservations',
  },
};

/** The servers whose texts have nothing of the structured content, so that an assertion cannot judge it. */
const serversWithoutParts = new Set(['go-memory']);

/**
 * The cases that get a text which starts with `Error:`, without an error. For mcp-tester, it is one, so that `success` would fail on the
 * unchanged server.
 */
const casesOfErrorTexts = new Set(['Annotates a message of an error', 'Refuses a write as a read']);

/** Each of the ten cases as a scenario of its own, since each has a session of its own. */
async function writeScenarios(server: string): Promise<string[]> {
  const text = await readFile(join(servers, server, 'ten-cases.evals.yaml'), 'utf8');
  const { cases } = parse(text) as { cases: ReadonlyArray<{ title: string; steps: readonly Step[] }> };
  return cases.map(({ title, steps }) => {
    const written = writeSteps(steps, server);
    return stringify({ name: title, steps: casesOfErrorTexts.has(title) ? written : written.map(demandSuccess) });
  });
}

function writeSteps(steps: readonly Step[], server: string): Written[] {
  const written: Written[] = [];
  for (const step of steps) {
    const operation = writeOperation(step);
    if (operation !== null) written.push(operation);
    const { assert = {} } = step;
    const { toolName } = assert;
    const judged = written.findLast(({ name: tool }) => toolName === undefined || tool === toolName);
    judged?.assertions.push(...writeAssertions(assert, server));
  }
  return written;
}

function writeOperation({ toolCall, readResource, getPrompt, listTools, arguments: args = {} }: Step): Written | null {
  if (toolCall !== undefined) {
    return { name: toolCall, operation: { type: 'tool_call', tool: toolCall, arguments: args }, assertions: [] };
  }
  if (readResource !== undefined) {
    return { name: readResource, operation: { type: 'read_resource', uri: readResource }, assertions: [] };
  }
  if (getPrompt !== undefined) {
    return { name: getPrompt, operation: { type: 'get_prompt', name: getPrompt, arguments: args }, assertions: [] };
  }
  if (listTools === undefined) return null;
  // If the server answers with an error, the list is empty, and the operation a success.
  const assertions = [{ type: 'array_length', path: 'tools', greater_than: 0 }];
  return { name: 'tools/list', operation: { type: 'list_tools' }, assertions };
}

/** A case fails at an error that it does not expect; a step has to say so. */
function demandSuccess(step: Written): Written {
  if (step.assertions.some(({ type }) => type === 'success' || type === 'failure')) return step;
  return { ...step, assertions: [{ type: 'success' }, ...step.assertions] };
}

function writeAssertions(assert: Record<string, unknown>, server: string): Assertion[] {
  const { toolResultContains, toolResultIsError, toolResultMatches, toolResultEquals, path, caseSensitive } = assert;
  if (toolResultIsError !== undefined) return [{ type: toolResultIsError === true ? 'failure' : 'success' }];
  if (typeof path === 'string' && serversWithoutParts.has(server)) return [];
  const part = typeof path === 'string' ? (parts[server]?.[path] ?? writePath(path)) : null;
  if (typeof toolResultContains === 'string') {
    const value = toolResultContains;
    return [{ type: 'contains', path: part ?? 'result', value, ignore_case: caseSensitive !== true }];
  }
  if (typeof toolResultMatches === 'string') {
    return [{ type: 'matches', path: part ?? 'result', pattern: toolResultMatches }];
  }
  if (toolResultEquals === undefined) return [];
  // For `equals`, 1000 and 1000.0 differ.
  if (typeof toolResultEquals === 'number') {
    return [{ type: 'numeric', path: part ?? 'parsed', equals: toolResultEquals }];
  }
  return [{ type: 'equals', path: part ?? 'parsed', value: toolResultEquals }];
}

/** `/entities/0/name` is `parsed.entities[0].name`. */
function writePath(pointer: string): string {
  const names = pointer.split('/').slice(1);
  return `parsed${names.map((each) => (/^\d+$/.test(each) ? `[${each}]` : `.${each}`)).join('')}`;
}
