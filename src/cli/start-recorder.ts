import { openRecorder, type RecorderLink } from '../capture/recorder-link.ts';
import { nodeProgram } from '../server/node-program.ts';
import { spawnProgram } from '../server/spawn.ts';

/**
 * Starts the recorder of this command. It is a process of its own, in a group of its own: neither its end nor the host's signals reach the other one.
 * `place` is the directory of the server, if it works in a copy of the workspace.
 */
export function startRecorder(place: string | null): RecorderLink {
  const [script = '', name = '', ...rest] = process.argv.slice(1);
  return openRecorder(
    () =>
      spawnProgram(nodeProgram, [...process.execArgv, script, name, `--recorder=${place ?? ''}`, ...rest], {
        env: process.env,
        detached: true,
        stdio: ['pipe', 'ignore', 'pipe'],
      }),
    (text) => process.stderr.write(text),
  );
}
