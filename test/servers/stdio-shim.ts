/**
 * Starts a real server on stdio, or connects to one behind a Unix socket, and puts a fault between it and the gate:
 *
 *     node stdio-shim.ts <faults> <target tool> -- <command of the server>
 *     node stdio-shim.ts <faults> <target tool> --connect <socket>
 *
 * A comma separates faults. Of several, each call of the target tool names its own.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import {
  createConversation,
  PacedWriter,
  pickByFault,
  Questions,
  readLines,
  readMessage,
  splitWithinCharacter,
} from './conversation.ts';
import { type Channel, findFault } from './faults.ts';

const [faultNames = '', targetTool = '', mode, ...rest] = process.argv.slice(2);
const faults = new Map(faultNames.split(',').map((name) => [name, findFault(name)]));
const conversations = new Map([...faults].map(([name, fault]) => [name, createConversation(fault, targetTool)]));
const alone = pickByFault(faults, null).picked;
const questions = new Questions();
let isOutputClosed = false;
const output = new PacedWriter((bytes) => isOutputClosed || process.stdout.write(bytes));

const { lineEnd = '\n', splitsCharacters = false, startsWith = '', noise } = alone?.framing ?? {};
const writeText = (text: string) => {
  const bytes = Buffer.from(`${noise === undefined ? '' : `${noise}${lineEnd}`}${text}${lineEnd}`);
  output.write(splitsCharacters ? splitWithinCharacter(bytes) : [bytes]);
};
const channel: Channel = {
  send: (message) => writeText(JSON.stringify(message)),
  sendText: writeText,
  sendPart: (text) => output.write([Buffer.from(text)]),
  ask: async (method, params) => {
    const { request, answered } = questions.ask(method, params);
    channel.send(request);
    return await answered;
  },
  writeStderr: (text) => void process.stderr.write(text),
  exit: async (code) => {
    await output.drain();
    process.exit(code);
  },
  kill: async (signal) => {
    await output.drain();
    process.kill(process.pid, signal);
  },
  closeOutput: async () => {
    await output.drain();
    isOutputClosed = true;
    closeSync(1);
  },
};

interface ServerStreams {
  input: Writable;
  output: Readable;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

function startServer(): ServerStreams {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  if (mode === '--connect') {
    const socket = connect(rest[0] ?? '');
    socket.on('error', () => {});
    socket.once('close', () => resolve(0));
    return { input: socket, output: socket, ended };
  }
  const [command = '', ...args] = rest;
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  child.once('exit', (code) => resolve(code ?? 1));
  return { input: child.stdin, output: child.stdout, ended };
}

if (startsWith !== '') output.write([Buffer.from(startsWith)]);
if (alone?.onStart === undefined) {
  relay(startServer());
} else {
  void alone.onStart(channel);
}

function relay(server: ServerStreams): void {
  readLines(process.stdin, (line) => {
    const message = readMessage(line);
    if (message !== null && questions.take(message)) return;
    const { picked, forwarded } = pickByFault(conversations, message);
    const passage = forwarded === null ? 'pass' : (picked?.judgeRequest(forwarded) ?? 'pass');
    if (passage !== 'pass') void passage(channel);
    else server.input.write(`${forwarded === message ? line : JSON.stringify(forwarded)}\n`);
  });
  process.stdin.once('end', () => server.input.end());
  readLines(server.output, (line) => {
    const message = readMessage(line);
    const passages = message === null ? [] : [...conversations.values()].map((each) => each.judgeAnswer(message));
    const passage = passages.find((found) => found !== 'pass') ?? 'pass';
    if (passage === 'pass') writeText(line);
    else void passage(channel);
  });
  void server.ended.then((code) => channel.exit(code));
}
