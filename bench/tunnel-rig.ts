import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

/** One part of the path, in a separate process. */
export interface Part extends AsyncDisposable {
  /** Sends a message and returns the next message of the part. */
  ask(message: object): Promise<unknown>;
  /** The current resident memory. */
  readRssBytes(): Promise<number>;
}

export interface Grant {
  relayWsUrl: string;
  connectToken: string;
  serverId: string;
  url: string;
}

/** The three routes to the same server: direct, through the tunnel, and through two hops of `http-proxy`. */
export interface TunnelRig extends AsyncDisposable {
  origin: { part: Part; url: string };
  edge: { part: Part; port: number; grant: (name: string) => Promise<Grant> };
  /** The host of the tunnel in `routes.tunnel`. */
  host: Part;
  routes: { direct: string; tunnel: string; hops: string };
  /** Opens another host, which is disposed with the rig. */
  openHost: (grant: Grant) => Promise<Part>;
}

export async function openTunnelRig(): Promise<TunnelRig> {
  const stack = new AsyncDisposableStack();
  const open = async (script: string, ...args: string[]) => {
    const { part, ready } = await startPart(script, args);
    stack.use(part);
    return { part, ready };
  };
  const openHops = async (target: string) => {
    const far = await open('tunnel-hop.ts', target);
    const near = await open('tunnel-hop.ts', toUrl(far.ready.port));
    return `${toUrl(near.ready.port)}/`;
  };
  const origin = await open('tunnel-origin.ts');
  const target = toUrl(origin.ready.port);
  const edge = await open('tunnel-edge.ts');
  const openHost = async ({ relayWsUrl, connectToken, serverId }: Grant) =>
    (await open('tunnel-host.ts', relayWsUrl, connectToken, serverId, target)).part;
  const grant = (name: string) => edge.part.ask({ grant: name }) as Promise<Grant>;
  const main = await grant('main');
  return {
    origin: { part: origin.part, url: target },
    edge: { part: edge.part, port: edge.ready.port, grant },
    host: await openHost(main),
    routes: {
      direct: `${target}/`,
      tunnel: main.url,
      hops: await openHops(target),
    },
    openHost,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Adds a task for the server to a route's path, before the secret. */
export function addTask(route: string, verb: string, count = 0): string {
  const url = new URL(route);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${verb}/${count}`;
  return url.href;
}

/** Starts a part. Every part except the host reports its port as soon as it listens. */
async function startPart(script: string, args: string[]): Promise<{ part: Part; ready: { port: number } }> {
  // The deprecated API is used by http-proxy.
  const child = fork(new URL(script, import.meta.url), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=DEP0060'],
  });
  const exited = once(child, 'exit').then(() => null);
  const ready = (await nextMessage(child)) as { port: number };
  const part: Part = {
    ask: (message) => {
      const answer = nextMessage(child);
      child.send(message);
      return answer;
    },
    readRssBytes: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) * 1024;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
  return { part, ready };
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const exit = once(child, 'exit', { signal: over.signal }).then(() => Promise.reject(new Error('A part has died.')));
  exit.catch(() => {});
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: over.signal }), exit]);
    return message;
  } finally {
    over.abort();
  }
}

function toUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
