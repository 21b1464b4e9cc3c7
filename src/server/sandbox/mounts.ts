import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** One change to what the server sees of the file system, in the order in which it is made. */
export interface MountStep {
  /**
   * `writable`: stays as it is, and cannot be renamed. `read-only`: with everything below it. `locked`: a mount of the machine,
   * read-only and nothing below it. `hidden`: an empty file. `empty`: an empty directory in memory. `layer`: what is in `from`,
   * of which changes are kept elsewhere, where the machine can do so. `kept`: a mount from below a layer, once more.
   */
  kind: 'writable' | 'read-only' | 'locked' | 'hidden' | 'empty' | 'layer' | 'kept';
  path: string;
  /** Flags of the mount that a user namespace may not drop, each after a comma. */
  flags: string;
  /** What is seen at the path; what is there unless given. */
  from?: string;
  /** Of a layer: a directory for the changes; empty for memory. */
  upper?: string;
}

/** What one side of a comparison sees in addition. All else is read-only for it. */
export interface SideMounts {
  /** Null where it is the one of the job. */
  home: { path: string; real: string } | null;
  temporary: string;
  /** Takes changes of layers. */
  upper: string;
  /** What it may write to, at the level `isolated`. */
  work: readonly string[];
  /** Directories of which it sees a copy. */
  copied: ReadonlyArray<{ path: string; copy: string }>;
}

/** A line of proc_pid_mountinfo(5), as far as it matters here. */
interface Mount {
  path: string;
  flags: string;
  type: string;
}

export interface MountRequest {
  /** Whether everything is read-only except `writable`. */
  isConfined: boolean;
  /** Files and directories that decide the verdict. Those that do not exist are left out. */
  protect: readonly string[];
  /** Directories that stay writable below a protected or confined one. */
  writable: readonly string[];
  /** Directories out of and into which a server may rename files: neither they nor what is above them is pinned. */
  roaming: readonly string[];
  /** Null for a server that is not compared with another one. */
  side: SideMounts | null;
}

/** Through these, a process outside of the sandbox can be had to write anywhere. */
const controlSockets = [
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/run/podman/podman.sock',
  '/run/systemd/private',
  '/run/dbus/system_bus_socket',
];

/** Kept as they are by a confined server: the kernel's own files, and automounts. */
const keptTypes = new Set(['proc', 'devpts', 'autofs']);

/** Plans what the server sees of this machine's files. */
export function planMounts(request: MountRequest): MountStep[] {
  const mounts = readMounts();
  const flagsOf = (path: string) => findMount(mounts, path)?.flags ?? '';
  const { side } = request;
  const copied = side?.copied ?? [];
  const findCopy = (path: string): Pick<MountStep, 'from'> => {
    const found = copied.find((each) => each.path === path || isBelow(path, each.path));
    return found === undefined ? {} : { from: found.copy + path.slice(found.path.length) };
  };
  const step = (kind: MountStep['kind'], path: string): MountStep => ({
    kind,
    path,
    flags: flagsOf(path),
    ...findCopy(path),
  });
  const writable = listReal(request.writable);
  const all = listReal(request.protect);
  const protect = all.filter((path) => !all.some((other) => isBelow(path, other)));
  const readOnly = protect.flatMap((path) => [
    step('read-only', path),
    // A bind mount is read-only, and the mounts that come along with it are not.
    ...mounts
      .filter((mount) => isBelow(mount.path, path) && exists(mount.path))
      .map(({ path }) => step('locked', path)),
    ...writable.filter((other) => isBelow(other, path)).map((other) => step('writable', other)),
  ]);
  if (!request.isConfined && side === null) {
    const roaming = listReal(request.roaming);
    return [...listPins(protect, roaming).map((path) => step('writable', path)), ...readOnly];
  }
  const isOpen = (path: string) => writable.some((open) => path === open || isBelow(path, open));
  const machine = mounts.filter(({ path, type }) => !keptTypes.has(type) && !isOpen(path) && exists(path));
  const layered = side === null || request.isConfined ? [] : listReal(sharedTemporary).filter(canBeLayered);
  const steps: MountStep[] = [
    ...copied.map(({ path }) => step('read-only', path)),
    ...writable.map((path) => step('writable', path)),
    ...machine.map(({ path, flags }): MountStep => ({ kind: 'locked', path, flags })),
    ...listReal(request.isConfined ? [memoryDirectory, '/run/user'] : [memoryDirectory]).map((path) =>
      step('empty', path),
    ),
    ...(request.isConfined ? listReal(controlSockets).map((path) => step('hidden', path)) : []),
    ...readOnly.filter(({ path }) => isOpen(path) || layered.some((above) => isBelow(path, above))),
  ];
  return side === null ? steps : [...steps, ...planLayers(side, { layered, steps })];
}

/** Where programs put files that every program can read, whatever the variables say. */
const sharedTemporary = ['/tmp', '/var/tmp'];
const memoryDirectory = '/dev/shm';

/** What a mount option cannot name. */
const canBeLayered = (path: string) => !/[,:\\]/.test(path);

/**
 * Plans the layers: the side's HOME, and directories that all programs write to. They come last, because mounts below a directory are not
 * seen through a layer over it, and are made again.
 */
function planLayers(
  { home, upper }: SideMounts,
  { layered, steps }: { layered: readonly string[]; steps: readonly MountStep[] },
): MountStep[] {
  if (statSync(memoryDirectory, { throwIfNoEntry: false }) === undefined) return [];
  const layer = (path: string, given: Pick<MountStep, 'from' | 'upper'>): MountStep => ({
    kind: 'layer',
    path,
    flags: '',
    ...given,
  });
  const [own] = home === null ? [] : listReal([home.path]);
  const [real] = home === null ? [] : listReal([home.real]);
  const ofHome =
    own === undefined || real === undefined || ![own, real, upper].every(canBeLayered)
      ? []
      : [layer(own, { from: real, upper: isBelow(upper, real) ? '' : upper })];
  const kept = [...steps, ...ofHome].map(({ path }) => path);
  return [
    ...ofHome,
    ...layered.flatMap((path) => [
      layer(path, { from: path, upper: '' }),
      ...[...new Set(kept)]
        .filter((other) => isBelow(other, path))
        .map((other): MountStep => ({ kind: 'kept', path: other, flags: '', from: path })),
    ]),
    // Covers what the layers are made with.
    { kind: 'empty', path: memoryDirectory, flags: '' },
  ];
}

/**
 * Lists the directories above protected paths that the server could rename, and with them what they hold: a mount cannot be
 * renamed. Renaming a file across the edge of a mount fails, so the directories in which a server works are left out.
 */
function listPins(protect: readonly string[], roaming: readonly string[]): string[] {
  const pins = new Set<string>();
  for (const path of protect) {
    for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
      const holdsWork = roaming.some((other) => other === above || isBelow(other, above));
      if (!holdsWork && isWritable(dirname(above))) pins.add(above);
    }
  }
  return [...pins].toSorted((a, b) => a.length - b.length);
}

function readMounts(): Mount[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  const mounts = lines.map((line): Mount => {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [, , , , path = '/', options = ''] = before.split(' ');
    const kept = options.split(',').filter((name) => keptFlags.has(name));
    return {
      path: path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
      flags: kept.map((name) => `,${name}`).join(''),
      type: after.split(' ', 1)[0] ?? '',
    };
  });
  // Of several mounts at one path, the last one is seen.
  return [...new Map(mounts.map((mount) => [mount.path, mount])).values()];
}

const keptFlags = new Set(['nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime']);

function findMount(mounts: readonly Mount[], path: string): Mount | undefined {
  const holding = mounts.filter((mount) => mount.path === path || isBelow(path, mount.path));
  return holding.toSorted((a, b) => b.path.length - a.path.length)[0];
}

function isBelow(path: string, directory: string): boolean {
  return path !== directory && path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** Each path once and without symbolic links; those that do not exist are left out. */
function listReal(paths: readonly string[]): string[] {
  const real = paths.flatMap((path) => {
    try {
      return [realpathSync(path)];
    } catch {
      return [];
    }
  });
  return [...new Set(real)];
}

/** Whether this user, and with it the server, can reach the path at all. */
function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
