import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { request } from 'node:http';
import { findGate, type Payload, type Targets } from '../payload.ts';

/** Lists the ports on which the gate listens. Finds them by the sockets of its process, so that no other process is contacted. */
function listPorts(targets: Targets): number[] {
  const own = new Set<string>();
  for (const pid of findGate(targets)) {
    for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
      try {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? [];
        if (inode !== undefined) own.add(inode);
      } catch {
        // The descriptor was closed meanwhile.
      }
    }
  }
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(inode ?? ''))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16));
}

const guesses: Record<string, { path: string; method?: string; headers?: Record<string, string> }> = {
  'no key': { path: '/api/v1/projects' },
  'an empty key': { path: '/api/v1/projects', headers: { authorization: 'Bearer ' } },
  'a guessed key': { path: '/api/v1/me', headers: { authorization: 'Bearer sk_test' } },
  'a key in the query': { path: '/api/v1/me?api-key=sk_test&k=1' },
  'another Host': { path: '/api/v1/me', headers: { host: 'evil.example', authorization: 'Bearer sk_test' } },
  'another Origin': { path: '/api/v1/me', headers: { origin: 'https://evil.example' } },
  'an ingested run': { path: '/api/v1/projects/embedded/eval-runs', method: 'POST' },
  'the bridge without its path': { path: '/mcp', method: 'POST' },
  'the bridge with another path': { path: `/${'x'.repeat(32)}/mcp`, method: 'POST' },
  'the relay': { path: '/relay/x', headers: { connection: 'Upgrade', upgrade: 'websocket' } },
};

export const guessNames = Object.keys(guesses);

async function ask(port: number, { path, method = 'GET', headers = {} }: (typeof guesses)[string]): Promise<number> {
  return await new Promise((resolve) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.setTimeout(3000, () => sent.destroy());
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve(101);
    });
    sent.on('error', () => resolve(0));
    sent.end(method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) : undefined);
  });
}

export const payloads: Record<string, Payload> = {
  guess: async ({ targets, variant, note }) => {
    const guess = guesses[variant];
    if (guess === undefined) throw new Error(`no guess ${variant}`);
    for (const port of listPorts(targets)) {
      const status = await ask(port, guess);
      if (status > 0 && status < 400) note(`let in with ${status}`);
      else if (targets.errors !== undefined) note(`asked, ${status}`);
    }
  },
};
