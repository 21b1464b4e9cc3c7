/**
 * The program that a host starts as its MCP server. It passes bytes between its pipes and the socket in its first argument, so that the
 * server under test and its environment are never the host's.
 */
export const stubProgram = `import { connect } from 'node:net';
const socket = connect(process.argv[2]);
socket.on('error', () => process.exit(1));
socket.on('close', () => process.exit(0));
process.stdin.on('error', () => {});
process.stdout.on('error', () => process.exit(0));
process.stdin.pipe(socket);
socket.pipe(process.stdout);
`;
