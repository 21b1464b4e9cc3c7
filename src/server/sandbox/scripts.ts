import type { MountStep } from './mounts.ts';

/** Absolute paths of the programs that make a sandbox. */
export interface SandboxTools {
  nsenter: string;
  unshare: string;
  mount: string;
  setsid: string;
  env: string;
  mkdir: string;
  chmod: string;
  /** Only needed as root. */
  setpriv: string | null;
  bwrap: string | null;
  ip: string | null;
}

/** The user that the server runs as. */
export interface SandboxUser {
  uid: number;
  gid: number;
}

const shell = '/bin/sh';

/** Reports that the namespaces exist, and keeps them until stdin closes. */
const announce = 'echo "ready $$"; read -r _';

/**
 * Makes the mounts from groups of five arguments: kind, flags, path, content and directory for changes. Descriptors from 3 on hold
 * directories that an empty one covers. If a layer cannot be made, its directory stays unchanged. The mounts below it stay reachable in
 * the directory in memory.
 */
const mountScript = ({ mount, mkdir, chmod }: Pick<SandboxTools, 'mount' | 'mkdir' | 'chmod'>, user: SandboxUser) => `
set -e
number=0 held=2
while [ $# -gt 0 ]; do
  case $1 in
    writable) ${mount} -o rbind "$4" "$3" ;;
    read-only) ${mount} -o rbind "$4" "$3"; ${mount} -o "remount,bind,ro$2" "$3" ;;
    locked) ${mount} -o "remount,bind,ro$2" "$3" ;;
    hidden) ${mount} -o bind /dev/null "$3" ;;
    held) held=$((held + 1)); eval "exec $held<\\"\\$4\\"" ;;
    empty) ${mount} -t tmpfs -o nosuid,nodev tmpfs "$3"; shown=2 ;;
    shown)
      shown=$((shown + 1)); held=2
      ${mkdir} -p "$3"
      ${mount} --no-canonicalize -o rbind "/proc/self/fd/$shown" "$3" ;;
    layer)
      number=$((number + 1)); own=/dev/shm/$number; isLayered=
      ${mkdir} -p "$own/seen"
      ${mount} -o rbind "$4" "$own/seen"
      for upper in "$5" "$own"; do
        [ -n "$upper" ] || continue
        ${mkdir} -p "$upper/changes" "$upper/work"
        ${chmod} --reference="$4" "$upper/changes" 2>/dev/null || ${chmod} 1777 "$upper/changes"
        options="lowerdir=$4,upperdir=$upper/changes,workdir=$upper/work${user.uid === 0 ? '' : ',userxattr'}"
        if ${mount} -t overlay -o "nosuid,nodev,$options" overlay "$3" 2>/dev/null; then isLayered=1; break; fi
      done ;;
    kept) [ -z "$isLayered" ] || ${mount} -o rbind "$own/seen\${3#"$4"}" "$3" ;;
  esac
  shift 5
done
`;

const listWords = (steps: readonly MountStep[]) =>
  steps.flatMap(({ kind, flags, path, from = path, upper = '' }) => [kind, flags, path, from, upper]);

/** Builds the command that makes the namespaces of a gate with bubblewrap; null if bubblewrap is not installed, or cannot make them. */
export function buildBubblewrap(
  { bwrap, ...tools }: SandboxTools,
  options: { steps: readonly MountStep[]; user: SandboxUser; hasNetwork: boolean; isClosed: boolean },
): string[] | null {
  // bwrap cannot make /dev read-only and keep its devices; only root could misuse a writable /dev.
  if (bwrap === null || (options.isClosed && options.user.uid === 0)) return null;
  // Not every version of bwrap has layers, so the command inside makes them.
  const first = options.steps.findIndex(({ kind }) => kind === 'layer');
  const late = first === -1 ? [] : options.steps.slice(first);
  const early = first === -1 ? options.steps : options.steps.slice(0, first);
  const binds = early.flatMap(({ kind, path, from = path }) => {
    if (kind === 'writable') return ['--dev-bind', from, path];
    if (kind === 'read-only') return ['--ro-bind', from, path];
    if (kind === 'hidden') return ['--ro-bind', '/dev/null', path];
    if (kind === 'shown') return ['--dev-bind', from, path];
    // A read-only bind of bwrap covers the mounts below it, too.
    return kind === 'empty' ? ['--tmpfs', path] : [];
  });
  const root = options.isClosed ? ['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev'] : ['--dev-bind', '/', '/'];
  // A command may mount only as root of its own namespace, which a user other than root needs here.
  const user = options.user.uid === 0 ? [] : ['--unshare-user', '--uid', '0', '--gid', '0'];
  const network = options.hasNetwork ? [] : ['--unshare-net'];
  const script = `${mountScript(tools, options.user)}${announce}`;
  return [bwrap, ...user, ...network, ...root, ...binds, '--', shell, '-c', script, 'sh', ...listWords(late)];
}

/** Builds the same with util-linux only; null if no program can bring up the loopback interface. */
export function buildUnshare(
  { unshare, ip, ...tools }: SandboxTools,
  options: { steps: readonly MountStep[]; user: SandboxUser; hasNetwork: boolean },
): string[] | null {
  if (!options.hasNetwork && ip === null) return null;
  const user = options.user.uid === 0 ? [] : ['--user', '--map-root-user'];
  const network = options.hasNetwork ? [] : ['--net'];
  const loopback = options.hasNetwork ? '' : `${ip} link set lo up\n`;
  const script = `${mountScript(tools, options.user)}${loopback}${announce}`;
  return [unshare, ...user, ...network, '--mount', '--', shell, '-c', script, 'sh', ...listWords(options.steps)];
}

/** The capabilities that root keeps: the default ones of a container, without those for device files. None of them can undo a mount. */
const keptCapabilities =
  '-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+audit_write,+setfcap';

/** The descriptors of a wrapper: one ends the sandbox when it closes, the others are the namespaces. */
export const releaseDescriptor = 3;
const namespaceDescriptors = { mnt: 4, user: 5, net: 6 };

/** The namespaces of a gate, as open files. */
export interface Namespaces {
  mnt: number;
  /** Null as root. */
  user: number | null;
  /** Null if the network is shared. */
  net: number | null;
}

/** Lists the descriptors of the namespaces in the order of a child's `stdio` from 4 on. */
export function listDescriptors({ mnt, user, net }: Namespaces): Array<number | 'ignore'> {
  return [mnt, user ?? 'ignore', net ?? 'ignore'];
}

/** Builds the beginning of a command that runs in the network of the gate's namespaces only; null if that is the machine's. */
export function buildNetworkEntry(
  { nsenter }: Pick<SandboxTools, 'nsenter'>,
  { user, net }: Namespaces,
): string[] | null {
  if (net === null) return null;
  const own = '/proc/self/fd';
  const asUser = user === null ? [] : ['--preserve-credentials', `--user=${own}/${namespaceDescriptors.user}`];
  return [nsenter, ...asUser, `--net=${own}/${namespaceDescriptors.net}`];
}

/**
 * Builds the command that starts `words` in the namespaces of the gate and in its own PID namespace.
 *
 * 1. The first process of a PID namespace gets no signal that it does not handle, and has to reap orphans. It is a shell that waits for
 *    the release descriptor to close; the kernel then ends everything else in the namespace.
 * 2. `nsenter` forks into the namespace, waits, and ends as its child does: with the same exit code or by the same signal, SIGKILL
 *    included. A second `nsenter` is the parent of the server, so that the server's parent is not process 1, which some servers read
 *    as "orphaned".
 * 3. The shell before it enters the directory through the new mounts, and reports the start on the release descriptor. Without a new shell,
 *    the last program becomes the server, in its own session as without a sandbox.
 */
export function buildStart(
  tools: SandboxTools,
  {
    namespaces,
    user,
    cwd,
    settings,
    words,
  }: {
    namespaces: Namespaces;
    user: SandboxUser;
    cwd: string;
    /** Arguments of env(1) that restore the environment variables that shells change. */
    settings: readonly string[];
    words: readonly string[];
  },
): string[] {
  const { nsenter, unshare, mount, env, setsid, setpriv } = tools;
  const own = '/proc/self/fd';
  const enter = [
    nsenter,
    ...(namespaces.user === null ? [] : ['--preserve-credentials', `--user=${own}/${namespaceDescriptors.user}`]),
    ...(namespaces.net === null ? [] : [`--net=${own}/${namespaceDescriptors.net}`]),
    `--mount=${own}/${namespaceDescriptors.mnt}`,
  ];
  const begin = `
exec 4<&- 5<&- 6<&-
{ trap '' HUP INT QUIT TERM; read -r _ <&3 & wait; } </dev/null >/dev/null 2>&1 &
exec ${nsenter} --pid=/proc/self/ns/pid_for_children -- ${shell} -c "$@"
`;
  // For root, /proc has settings of the whole machine, so they become read-only. One call of mount(8) does both steps of that.
  const settingsOfMachine =
    user.uid === 0
      ? `for path in /proc/sys /proc/sysrq-trigger; do
  [ ! -e $path ] || ${mount} --no-canonicalize -o bind,ro $path $path || exit 125
done`
      : '';
  const drop =
    user.uid === 0
      ? `${setpriv} --bounding-set=${keptCapabilities} --inh-caps=-all --ambient-caps=-all --`
      : `${unshare} --user --map-user=${user.uid} --map-group=${user.gid} --`;
  const inside = `
${mount} -t proc -o nosuid,nodev,noexec proc /proc || exit 125
${settingsOfMachine}
cd -- "$1" || exit 125
shift
echo >&3
exec 3>&-
exec ${nsenter} --pid=/proc/self/ns/pid -- ${drop} ${env} "$@"
`;
  // Each script gets the next one and its arguments as its own.
  const scripts = [shell, '-c', begin, 'sh', inside, 'sh'];
  return [...enter, '--', unshare, '--mount', '--pid', '--', ...scripts, cwd, ...settings, setsid, '--', ...words];
}
