import type { Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';

/** An HTTP server on a listening socket of a loopback interface. Disposing it ends its connections. */
export interface LoopbackService extends AsyncDisposable {
  /** Its origin, as its clients get it. */
  readonly url: string;
}

/** Lets an HTTP server serve the connections of a listener. */
export function serveConnections(listener: Server, http: HttpServer): LoopbackService {
  const sockets = new Set<Socket>();
  const accept = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    http.emit('connection', socket);
  };
  listener.on('connection', accept);
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      listener.off('connection', accept);
      for (const socket of sockets) socket.destroy();
      http.closeAllConnections();
      http.removeAllListeners();
      await new Promise<void>((resolve) => {
        listener.close(() => resolve());
      });
    },
  };
}
