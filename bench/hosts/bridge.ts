// Starts a host in a network namespace that has only loopback: `bridge.ts <port> <socket> <program…>`. The port leads to the socket of the
// provider, which is outside.
import { spawn, spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';

const [port = '', socket = '', program = '', ...args] = process.argv.slice(2);
spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
const server = createServer((near) => {
  const far = connect(socket);
  // An end that breaks off ends the other one.
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
  near.pipe(far).pipe(near);
});
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', () => process.exit(127));
  child.on('close', (code) => process.exit(code ?? 1));
});
