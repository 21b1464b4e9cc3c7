// What all scripted hosts do: they end at once if the prompt says so, and speak MCP with the server that they start.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export const args = process.argv.slice(2);
export const option = (name) => args[args.indexOf(name) + 1];
export const print = (line) => console.log(JSON.stringify(line));

/** Prints the version if it is asked for. */
export function printVersion(text) {
  if (args[0] !== '--version') return;
  console.log(text);
  process.exit(0);
}

/** Reads a prompt for words that make a host misbehave. */
export function readPrompt(prompt) {
  const does = (words) => prompt.includes(words);
  if (does('die at once')) {
    console.error('The host is out of order.');
    process.exit(7);
  }
  return does;
}

/** Starts a server and returns what it shows. */
export async function connect([command, ...words], { client, protocolVersion, discovers = false }) {
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let lastId = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })}\n`);
    });
  if (discovers) {
    const discovered = await ask('server/discover', {});
    if (discovered.error?.code !== -32601) throw new Error('The server knows a later revision.');
  }
  const { result: served } = await ask('initialize', {
    protocolVersion,
    capabilities: { roots: {} },
    clientInfo: { name: client, version: '1' },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const { result: list } = await ask('tools/list', {});
  return {
    instructions: served.instructions ?? '',
    tools: list.tools,
    call: (name, input) => ask('tools/call', { name, arguments: input }),
    close: () => child.stdin.end(),
  };
}

/** Asks a provider, and ends the host if it refuses. */
export async function post(url, headers, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session': String(Math.random()), ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`API Error: ${response.status} ${text}`);
  return text;
}

/** Lists the objects of a stream of events. */
export const readEvents = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
