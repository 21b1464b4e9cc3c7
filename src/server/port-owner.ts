import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { basename } from 'node:path';
import { describeError, readErrorCode } from '../base/errors.ts';
import type { DescendantLog } from './kill-orphans.ts';
import { listDescendants, listProcesses } from './process-tree.ts';

/** A port that does not react within this time is not proven closed. */
const connectTimeoutMs = 2000;

/**
 * Finds the reason why the port of a URL is not proven closed; null if every address of its host refuses a connection. Otherwise a
 * process that holds the port and does not answer yet could pass for the server that is about to start.
 */
export async function findOpenPort(url: string): Promise<string | null> {
  const { host, port } = readAddress(url);
  try {
    const addresses = await lookup(host, { all: true });
    for (const { address } of addresses) {
      const why = await tryConnect(address, port);
      if (why !== null) return why;
    }
  } catch (error) {
    return describeError(error);
  }
  return listListeners(port).length === 0 ? null : 'a process listens on it';
}

/** Null if the address refuses the connection, or this machine has no such address. */
async function tryConnect(host: string, port: number): Promise<string | null> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: connectTimeoutMs });
    const end = (why: string | null) => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => end('a process listens on it'));
    socket.once('timeout', () => end('it neither accepts nor refuses a connection'));
    socket.once('error', (error) => {
      const isClosed = ['ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH'].includes(
        readErrorCode(error) ?? '',
      );
      end(isClosed ? null : describeError(error));
    });
  });
}

/** Programs whose ports are held by a service of the machine. */
const containerEngines = /^(?:docker|podman|nerdctl)(?:\.exe)?$/;

/**
 * Finds another process than the server's that holds the port of its URL; null if only the server's processes listen there, or if the
 * platform does not show it. On Linux, the kernel lists listening sockets (proc_net(5)) and the open files of a process (proc_pid_fd(5)).
 */
export function findForeignOwner(
  url: string,
  { pid, words, descendants }: { pid: number | undefined; words: readonly string[]; descendants: DescendantLog | null },
): string | null {
  const { host, port } = readAddress(url);
  if (process.platform !== 'linux' || !isOfThisMachine(host) || containerEngines.test(basename(words[0] ?? ''))) {
    return null;
  }
  const uid = process.getuid?.() ?? 0;
  // A socket of another user was not opened by a process of this job; it belongs to a service of the machine.
  const inodes = new Set(listListeners(port).flatMap((each) => (each.uid === uid ? [each.inode] : [])));
  if (inodes.size === 0) return null;
  const processes = listProcesses();
  const own = new Set([
    ...listDescendants(processes, (entry) => entry.pid === pid).map((entry) => entry.pid),
    ...(pid === undefined ? [] : [pid]),
    ...(descendants?.list() ?? []),
  ]);
  for (const each of own) for (const inode of listSockets(each)) inodes.delete(inode);
  if (inodes.size === 0) return null;
  const other = processes.find((entry) => listSockets(entry.pid).some((inode) => inodes.has(inode)));
  return `port ${port} is held by ${other === undefined ? 'a process that cannot be read' : `process ${other.pid}`}, which the server did not start`;
}

function readAddress(url: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}

function isOfThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '::' || host === '0.0.0.0' || host.startsWith('127.');
}

/** The kernel's TCP_LISTEN, as the tables print it. */
const listening = '0A';

/** Lists the sockets that listen on a port, on any address; empty if the platform has no such tables. */
function listListeners(port: number): Array<{ inode: string; uid: number }> {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => {
    let text = '';
    try {
      text = readFileSync(file, 'latin1');
    } catch {
      // There is no IPv6, or this is not Linux.
    }
    return text.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , uid = '', , inode = ''] = line.trim().split(/\s+/);
      const isOnPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port;
      return state === listening && isOnPort ? [{ inode, uid: Number(uid) }] : [];
    });
  });
}

function listSockets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    // The process has ended, or this user may not read it.
    return [];
  }
}
