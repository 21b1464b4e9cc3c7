/**
 * Opens a sandbox, prints its report, runs the command from the arguments in it and prints its end. Tests run it as another user:
 * `sandboxed-run.ts <mode> <directory> <protected file> <command…>`.
 */
import { systemClock } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { startProcess } from '../../../src/server/process.ts';
import { createOutputTail } from '../../../src/server/output-tail.ts';
import { openSandbox } from '../../../src/server/sandbox/open-sandbox.ts';

const [mode, cwd = '', file = '', ...words] = process.argv.slice(2);
await using opened = await openSandbox(
  {
    mode: mode === 'off' || mode === 'required' ? mode : 'auto',
    network: 'on',
    writable: [],
    protect: [file],
    make: { directories: [], files: [] },
  },
  { cwd, environment: process.env, logger: silentLogger },
);
const env = { PATH: process.env['PATH'] ?? '' };
const place = { cwd, env, tail: createOutputTail(), clock: systemClock };
const server = startProcess(words, { ...place, sandbox: opened.sandbox, readsStdin: true });
let stdout = '';
server.stdout.on('data', (chunk: Buffer) => {
  stdout += String(chunk);
});
const { code, signal } = await server.exited;
await server.stop();
console.log(JSON.stringify({ report: opened.report, code, signal, stdout }));
