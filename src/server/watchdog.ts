import { once } from 'node:events';
import { Socket } from 'node:net';
import { markerVariable } from './environment.ts';
import { findFixedProgram } from './programs.ts';
import { spawnProgram } from './spawn.ts';

/**
 * Reads `+ <group>`, `- <group>`, `@ <marker>`, `/ <marker>` and `d <directory>`, until `.` reports that everything has stopped. If stdin
 * ends earlier, the gate has died: the script then ends the remaining groups and, if /proc shows environments, every process with one of the
 * markers. At last, it removes the directories.
 * The paths of its programs are in its environment, because the server may have put other programs into a directory of PATH.
 */
const script = `
groups=
directories=
markers=$1
newline='
'
leave_out() { rest=; for known in $2; do [ "$known" = "$1" ] || rest="$rest $known"; done; }
while read -r sign value; do
  case $sign in
    .) exit 0 ;;
    +) groups="$groups $value" ;;
    -) leave_out "$value" "$groups"; groups=$rest ;;
    d) directories="$directories$value$newline" ;;
    @) markers="$markers $value" ;;
    /) leave_out "$value" "$markers"; markers=$rest ;;
  esac
done
for group in $groups; do kill -TERM -- "-$group"; done
"$SLEEP" 1
for group in $groups; do kill -KILL -- "-$group"; done
for environment in /proc/[0-9]*/environ; do
  for marker in $markers; do
    "$TR" '\\0' '\\n' <"$environment" | "$GREP" -qxF "$marker" || continue
    process=\${environment#/proc/}
    kill -KILL "\${process%/environ}"
  done
done
printf %s "$directories" | while read -r directory; do "$RM" -rf -- "$directory"; done
exit 0
`;

/** Outlives the gate's process for a moment, to end a server that a SIGKILL of the gate would leave running. */
export interface Watchdog extends AsyncDisposable {
  /** Adds a group that must end with the gate. */
  add(groupId: number): void;
  /** Removes a group that has ended: its id may belong to another group. */
  remove(groupId: number): void;
  /** Adds a directory that must be removed if the gate dies. */
  addDirectory(path: string): void;
}

/** The shell of this process, with its users. */
interface Shell {
  send: (line: string) => void;
  /** The number of watchdogs for each marker. */
  markers: Map<string, number>;
  end: () => Promise<void>;
}

let shell: Shell | null = null;

/**
 * Watches the processes of a server. All servers of this process share one shell, which the first server starts: if nothing isolates that
 * server, no program of the gate may start after it. Without a shell, nothing is watched.
 */
export function startWatchdog(marker: string, environment: NodeJS.ProcessEnv): Watchdog {
  if (process.platform === 'win32')
    return { add: () => {}, remove: () => {}, addDirectory: () => {}, [Symbol.asyncDispose]: async () => {} };
  const line = `${markerVariable}=${marker}`;
  shell ??= startShell(line, environment);
  const own = shell;
  const { send, markers, end } = own;
  if (!markers.has(line)) send(`@ ${line}`);
  markers.set(line, (markers.get(line) ?? 0) + 1);
  const known = new Set<number>();
  let isOver = false;
  const remove = (groupId: number) => {
    if (known.delete(groupId)) send(`- ${groupId}`);
  };
  return {
    add: (groupId) => {
      known.add(groupId);
      send(`+ ${groupId}`);
    },
    remove,
    addDirectory: (path) => send(`d ${path}`),
    [Symbol.asyncDispose]: async () => {
      if (isOver) return;
      isOver = true;
      for (const groupId of known) remove(groupId);
      const left = (markers.get(line) ?? 0) - 1;
      if (left > 0) markers.set(line, left);
      else if (markers.delete(line)) send(`/ ${line}`);
      if (markers.size > 0 || shell !== own) return;
      shell = null;
      await end();
    },
  };
}

/**
 * Starts a shell that waits for the end of this process. It has its own process group and no marker, so that neither an interrupt nor the
 * stop of a server reaches it.
 */
function startShell(line: string, { PATH = '/usr/bin:/bin' }: NodeJS.ProcessEnv): Shell {
  const find = (name: string) => findFixedProgram(name, PATH) ?? '';
  const child = spawnProgram('/bin/sh', ['-c', script, 'sh', line], {
    env: { SLEEP: find('sleep'), TR: find('tr'), GREP: find('grep'), RM: find('rm') },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const exited = once(child, 'exit').catch(() => {});
  child.on('error', () => {});
  const { stdin } = child;
  if (stdin === null) throw new TypeError('The watchdog was started without a pipe.');
  stdin.on('error', () => {});
  // A gate that ends without stopping its server must not wait for the watchdog, which then stops the server.
  child.unref();
  if (stdin instanceof Socket) stdin.unref();
  return {
    markers: new Map([[line, 0]]),
    send: (text) => void stdin.write(`${text}\n`),
    end: async () => {
      if (child.pid === undefined) return;
      child.ref();
      stdin.end('.\n');
      await exited;
    },
  };
}
