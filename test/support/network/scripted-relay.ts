import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { Secret } from '../../../src/base/redaction.ts';
import {
  parseBodyFrame,
  parseTextFrame,
  renderBodyFrame,
  renderTextFrame,
  type TextFrame,
} from '../../../src/tunnel/frames.ts';
import type { ReceivedFrame } from '../../../src/tunnel/frame-socket.ts';

/** The relay's side of one connection, which a test controls. */
export interface RelayPeer {
  socket: WebSocket;
  token: string;
  /** All frames of the host, oldest first. */
  frames: ReceivedFrame[];
  /** The received bytes of the connection since the handshake. */
  rawBytes(): Buffer;
  send(frame: TextFrame): void;
  /** Sends a part of a request's body. */
  sendBody(id: number, payload: Buffer): void;
  /** Resolves once a frame of this kind and id arrives. */
  waitFor<T extends ReceivedFrame['t']>(t: T, id: number): Promise<Extract<ReceivedFrame, { t: T }>>;
  /** Sends a GET, or a POST whose body follows. */
  request(id: number, url: string, fields?: Partial<Extract<TextFrame, { t: 'req' }>>): void;
  /** The bytes of a response so far. */
  read(id: number): Buffer;
}

export interface ScriptedRelay extends AsyncDisposable {
  relayWsUrl: string;
  connectToken: Secret;
  peers: RelayPeer[];
  /** Resolves to connection number `count`, counted from 1. */
  peer(count: number): Promise<RelayPeer>;
}

type Hello = Extract<TextFrame, { t: 'hello' }>;

/** The relay's reaction to a connection: it sends a hello, closes with a code, refuses with a status, or sends nothing. */
export type Welcome = Partial<Hello> | { close: number } | { status: number } | 'silence';

const limits = { maxReqBody: 1024, chunk: 65_536, maxInflight: 4 };

/**
 * Starts a relay that welcomes the first host with the first entry, and so on; the last entry is for all further hosts. It accepts the
 * subprotocol that the host offers, unless it gets another one, or null for none.
 */
export async function startScriptedRelay(
  script: readonly Welcome[] = [{}],
  { subprotocol }: { subprotocol?: string | null } = {},
): Promise<ScriptedRelay> {
  const peers: RelayPeer[] = [];
  const waiting = new Set<() => void>();
  let dialled = 0;
  const server = createServer();
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: ([first = '']) => (subprotocol === undefined ? first : (subprotocol ?? false)),
  });
  server.on('upgrade', (request, stream, head) => {
    const welcome = script[Math.min(dialled, script.length - 1)]!;
    dialled += 1;
    if (typeof welcome === 'object' && 'status' in welcome) {
      stream.end(`HTTP/1.1 ${welcome.status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const peer = createPeer(socket, stream, request.headers.authorization ?? '');
      if (welcome !== 'silence') {
        if ('close' in welcome) socket.close(welcome.close);
        else peer.send({ t: 'hello', proto: 1, slug: 'demo', limits, window: null, ...welcome });
      }
      peers.push(peer);
      for (const check of waiting) check();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    relayWsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
    connectToken: new Secret('connect-token-canary'),
    peers,
    peer: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (peers.length < count) return;
          waiting.delete(check);
          resolve(peers[count - 1]!);
        };
        waiting.add(check);
        check();
      }),
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of peers) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function createPeer(socket: WebSocket, stream: Duplex, authorization: string): RelayPeer {
  const frames: ReceivedFrame[] = [];
  const raw: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => raw.push(bytes));
  const waiting = new Set<() => void>();
  socket.on('error', () => {});
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer;
    frames.push(isBinary ? parseBodyFrame(bytes) : parseTextFrame(bytes.toString()));
    for (const check of waiting) check();
  });
  const peer: RelayPeer = {
    socket,
    token: authorization.replace('Bearer ', ''),
    frames,
    rawBytes: () => Buffer.concat(raw),
    send: (frame) => socket.send(renderTextFrame(frame)),
    sendBody: (id, payload) => socket.send(renderBodyFrame('request', id, payload)),
    waitFor: (t, id) =>
      new Promise((resolve) => {
        const check = () => {
          const found = frames.find((frame) => frame.t === t && 'id' in frame && frame.id === id);
          if (found === undefined) return;
          waiting.delete(check);
          resolve(found as never);
        };
        waiting.add(check);
        check();
      }),
    request: (id, url, fields = {}) =>
      peer.send({ t: 'req', id, method: fields.hasBody ? 'POST' : 'GET', url, headers: [], hasBody: false, ...fields }),
    read: (id) =>
      Buffer.concat(frames.flatMap((frame) => (frame.t === 'body' && frame.id === id ? [frame.payload] : []))),
  };
  return peer;
}
