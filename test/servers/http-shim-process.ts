/**
 * The HTTP shim as the process that `server-command` starts, for faults of the process itself:
 *
 *     node http-shim-process.ts <faults> <target tool> <port> <URL of the real server>
 *
 * A comma separates faults. Of several, each call of the target tool names its own.
 */
import { pickByFault } from './conversation.ts';
import { findFault } from './faults.ts';
import { startHttpShim } from './http-shim.ts';

const [names = '', targetTool = '', port = '', upstream = ''] = process.argv.slice(2);
const faultNames = names.split(',');
const alone = pickByFault(new Map(faultNames.map((name) => [name, findFault(name)])), null).picked;
if (alone?.onStart !== undefined) {
  alone.onStart({
    writeStderr: (text) => void process.stderr.write(text),
    exit: async (code) => process.exit(code),
  });
} else {
  await startHttpShim({ faultNames, targetTool, port: Number(port), upstream });
  // Goes on without its listener too, as a server does that hangs.
  setInterval(() => {}, 60_000);
}
