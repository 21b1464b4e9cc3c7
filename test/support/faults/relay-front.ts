import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';

/** The relay's reaction to a host that dials: refuse it, close it before or after the greeting, or send nothing. */
export type DialFault = { status: number } | { close: number } | { greetThenClose: number } | 'silence' | 'reset';

/** A proxy between tunnel hosts and a relay. */
export interface RelayFront extends Disposable {
  /** The number of dialled connections. */
  readonly dialled: number;
  readonly open: number;
  /** Applies one fault to each of the next dials; with `forGood`, the last fault stays. */
  strikeDials(faults: readonly DialFault[], options?: { forGood?: boolean }): void;
  /** Closes all connections with a code; 1006 resets them. */
  close(code: number): void;
  /** Stops forwarding in both directions without informing either side. */
  silence(): void;
  /** Sends text to the host as if it came from the relay. */
  send(text: string): void;
}

interface Leg {
  near: WebSocket;
  far: WebSocket;
  stream: Duplex;
  isSilent: boolean;
}

export function openRelayFront(relayOrigin: string, server: Server): RelayFront {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first = '']) => first });
  const legs = new Set<Leg>();
  let script: DialFault[] = [];
  let lasting: DialFault | undefined;
  let dialled = 0;

  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    dialled += 1;
    const fault = script.shift() ?? lasting;
    if (fault === 'reset') return void stream.destroy();
    if (typeof fault === 'object' && 'status' in fault) {
      stream.end(`HTTP/1.1 ${fault.status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (near) => carry(near, { request, stream, fault }));
  });

  function carry(near: WebSocket, dial: { request: IncomingMessage; stream: Duplex; fault: DialFault | undefined }) {
    const { request, stream, fault } = dial;
    near.on('error', () => {});
    if (fault === 'silence') return;
    // 1006 means that a connection ended without a close frame, so no frame may contain it.
    if (typeof fault === 'object' && 'close' in fault && fault.close === 1006) return void stream.destroy();
    if (typeof fault === 'object' && 'close' in fault) return near.close(fault.close);
    const far = new WebSocket(`${relayOrigin}${request.url}`, near.protocol, {
      headers: { authorization: request.headers.authorization ?? '' },
      perMessageDeflate: false,
    });
    const leg: Leg = { near, far, stream, isSilent: false };
    legs.add(leg);
    const early: Array<[data: Buffer, isBinary: boolean]> = [];
    near.on('message', (data: Buffer, isBinary) => {
      if (leg.isSilent) return;
      if (far.readyState === far.CONNECTING) early.push([data, isBinary]);
      else far.send(data, { binary: isBinary }, () => {});
    });
    far.on('error', () => {});
    far.on('open', () => {
      for (const [data, isBinary] of early) far.send(data, { binary: isBinary }, () => {});
    });
    far.on('message', (data: Buffer, isBinary) => {
      if (leg.isSilent) return;
      near.send(data, { binary: isBinary }, () => {});
      if (typeof fault === 'object' && 'greetThenClose' in fault) near.close(fault.greetThenClose);
    });
    near.on('close', () => {
      legs.delete(leg);
      far.terminate();
    });
    far.on('close', (code, reason) => {
      if (leg.isSilent) return;
      // 1005 and 1006 mean that no code was transmitted.
      if (code === 1005) near.close();
      else if (code === 1006) near.terminate();
      else near.close(code, reason);
    });
  }

  return {
    get dialled() {
      return dialled;
    },
    get open() {
      return legs.size;
    },
    strikeDials: (faults, { forGood = false } = {}) => {
      script = [...faults];
      lasting = forGood ? faults.at(-1) : undefined;
    },
    close: (code) => {
      for (const { near, far } of legs) {
        if (code === 1006) near.terminate();
        else near.close(code);
        far.terminate();
      }
    },
    silence: () => {
      for (const leg of legs) {
        leg.isSilent = true;
        leg.stream.pause();
        // A relay that still saw its host would continue to send it requests.
        leg.far.terminate();
      }
    },
    send: (text) => {
      for (const { near } of legs) near.send(text);
    },
    [Symbol.dispose]: () => {
      for (const { near, far } of legs) {
        near.terminate();
        far.terminate();
      }
      sockets.close();
    },
  };
}
