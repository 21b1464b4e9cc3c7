import { once } from 'node:events';
import { Socket } from 'node:net';
import { markerVariable } from './environment.ts';
import { findFixedProgram } from './programs.ts';
import { spawnProgram } from './spawn.ts';

/**
 * Reads `+ <group>` and `- <group>` until `.` says that all is stopped. A stdin that ends before belongs to a gate that is gone:
 * then the script ends the groups that are left and, where /proc shows environments, every process that carries the marker. The paths of its
 * programs are in its environment: the server may have put others into a directory of PATH.
 */
const script = `
groups=
while read -r sign group; do
  case $sign in
    .) exit 0 ;;
    +) groups="$groups $group" ;;
    -) rest=; for known in $groups; do [ "$known" = "$group" ] || rest="$rest $known"; done; groups=$rest ;;
  esac
done
for group in $groups; do kill -TERM -- "-$group"; done
"$SLEEP" 1
for group in $groups; do kill -KILL -- "-$group"; done
for environment in /proc/[0-9]*/environ; do
  "$TR" '\\0' '\\n' <"$environment" | "$GREP" -qxF "$1" || continue
  process=\${environment#/proc/}
  kill -KILL "\${process%/environ}"
done
exit 0
`;

/** Outlives the gate's process for a moment, in order to end the server that a SIGKILL of the gate would leave behind. */
export interface Watchdog extends AsyncDisposable {
  /** The group is to be ended with the gate. */
  add(groupId: number): void;
  /** The group has ended, and its number may be another's. */
  remove(groupId: number): void;
}

/**
 * Starts a shell that waits for the end of this process. It is in a process group of its own and not marked, so that neither an
 * interrupt nor the stop of the server reaches it. Where there is no shell, nothing is watched.
 */
export function startWatchdog(marker: string, environment: NodeJS.ProcessEnv): Watchdog {
  if (process.platform === 'win32') return { add: () => {}, remove: () => {}, [Symbol.asyncDispose]: async () => {} };
  const { PATH = '/usr/bin:/bin' } = environment;
  const find = (name: string) => findFixedProgram(name, PATH) ?? '';
  const child = spawnProgram('/bin/sh', ['-c', script, 'sh', `${markerVariable}=${marker}`], {
    env: { SLEEP: find('sleep'), TR: find('tr'), GREP: find('grep') },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const exited = once(child, 'exit').catch(() => {});
  child.on('error', () => {});
  const { stdin } = child;
  if (stdin === null) throw new TypeError('The watchdog was started without a pipe.');
  stdin.on('error', () => {});
  // A gate that is over without having stopped its server must not wait for the watchdog, which does that now.
  child.unref();
  if (stdin instanceof Socket) stdin.unref();
  const known = new Set<number>();
  return {
    add: (groupId) => {
      known.add(groupId);
      stdin.write(`+ ${groupId}\n`);
    },
    remove: (groupId) => {
      if (known.delete(groupId)) stdin.write(`- ${groupId}\n`);
    },
    [Symbol.asyncDispose]: async () => {
      if (child.pid === undefined) return;
      child.ref();
      stdin.end('.\n');
      await exited;
    },
  };
}
