// A provider on loopback that follows a script instead of a model.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord, tryParseJson } from '../../src/base/json.ts';
import { anthropic } from './apis/anthropic.ts';
import { chat } from './apis/chat.ts';
import { gemini } from './apis/gemini.ts';
import { responses } from './apis/responses.ts';
import type { Answer, ProviderApi, Reply, SeenRequest } from './seen.ts';
import { writeJson } from './seen.ts';

/** Gets each request of the conversation, and gives the answer. A script that returns ends the conversation. */
export type Script = Generator<Answer, void, SeenRequest>;

export interface Exchange {
  time: number;
  path: string;
  /** Null for a request that is no turn of the conversation. */
  seen: SeenRequest | null;
  body: unknown;
}

export interface Provider extends AsyncDisposable {
  port: number;
  exchanges: Exchange[];
}

const apis: readonly ProviderApi[] = [anthropic, chat, responses, gemini];
const last: Answer = { kind: 'text', text: 'The end.' };

/** Titles and classifiers have no tools; a conversation has those of the host at least. */
function isTurn({ tools, otherTools, messages, system }: SeenRequest): boolean {
  if (tools.length > 0 || otherTools.length > 100) return true;
  return messages.length > 0 && system.length > 10_000;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Listens on a port of loopback, and on the socket that leads to it from another network namespace. */
export async function openProvider(script: Script, socket: string): Promise<Provider> {
  const exchanges: Exchange[] = [];
  let isStarted = false;
  const follow = (seen: SeenRequest): Answer => {
    // The first `next` runs the script to its first `yield`, which has no request yet.
    if (!isStarted) script.next();
    isStarted = true;
    const { done, value } = script.next(seen);
    return done === true ? last : value;
  };
  const reply = (path: string, body: unknown): Reply | null => {
    const api = apis.find((each) => each.matches(path));
    if (api === undefined || !isRecord(body)) {
      exchanges.push({ time: Date.now(), path, seen: null, body });
      if (path.endsWith('/models')) return writeJson({ object: 'list', data: [], models: [] });
      if (path.endsWith('count_tokens') || path.endsWith(':countTokens')) {
        return writeJson({ input_tokens: 100, totalTokens: 100 });
      }
      return null;
    }
    const seen = api.read(body, path);
    const isOfScript = isTurn(seen);
    exchanges.push({ time: Date.now(), path, seen: isOfScript ? seen : null, body });
    return api.write(isOfScript ? follow(seen) : last, seen);
  };
  const listen = async (at: { port: number; host: string } | { path: string }) => {
    const server = createServer((request, response) => {
      void (async () => {
        const path = (request.url ?? '').split('?')[0] ?? '';
        const answered = reply(path, tryParseJson(await readBody(request)));
        if (answered === null) response.writeHead(404).end('{}');
        else response.writeHead(200, { 'content-type': answered.contentType }).end(answered.body);
      })();
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, resolve);
    });
    return server;
  };
  const servers = [await listen({ port: 0, host: '127.0.0.1' }), await listen({ path: socket })];
  return {
    port: (servers[0]!.address() as AddressInfo).port,
    exchanges,
    async [Symbol.asyncDispose]() {
      await Promise.all(
        servers.map((server) => {
          server.closeAllConnections();
          return new Promise((resolve) => server.close(resolve));
        }),
      );
    },
  };
}
