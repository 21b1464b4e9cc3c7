/**
 * The HTTP shim as the process that `server-command` starts, for faults of the process itself:
 *
 *     node http-shim-process.ts <fault> <target tool> <port> <URL of the real server>
 */
import { findFault } from './faults.ts';
import { startHttpShim } from './http-shim.ts';

const [faultName = '', targetTool = '', port = '', upstream = ''] = process.argv.slice(2);
const { onStart } = findFault(faultName);
if (onStart !== undefined) {
  onStart({
    writeStderr: (text) => void process.stderr.write(text),
    exit: async (code) => process.exit(code),
  });
} else {
  await startHttpShim({ faultName, targetTool, port: Number(port), upstream });
  // Goes on without its listener too, as a server does that hangs.
  setInterval(() => {}, 60_000);
}
