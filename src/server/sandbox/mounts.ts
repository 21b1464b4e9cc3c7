import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** One change to the server's view of the file system. The steps are made in order. */
export interface MountStep {
  /**
   * `writable`: unchanged, but cannot be renamed. `read-only`: with everything below it. `locked`: a mount of the machine, read-only
   * without the mounts below it. `hidden`: an empty file. `empty`: an empty directory in memory. `held` and `shown`: a directory below an
   * empty one, found before and mounted again after it. `layer`: the content of `from`; changes are stored elsewhere, if the machine
   * supports that. `kept`: a mount from below a layer, made again.
   */
  kind: 'writable' | 'read-only' | 'locked' | 'hidden' | 'empty' | 'held' | 'shown' | 'layer' | 'kept';
  path: string;
  /** Flags of the mount that a user namespace must keep, each after a comma. */
  flags: string;
  /** The content of the path; by default its own. */
  from?: string;
  /** For a layer: the directory that stores the changes; empty stores them in memory. */
  upper?: string;
}

/** The additional mounts of one side of a comparison. Everything else is read-only for it. */
export interface SideMounts {
  /** Null if it uses the HOME of the job. */
  home: { path: string; real: string } | null;
  temporary: string;
  /** Stores the changes of layers. */
  upper: string;
  /** The directories that it may write to, at the level `isolated`. */
  work: readonly string[];
  /** The directories that it sees as copies. */
  copied: ReadonlyArray<{ path: string; copy: string }>;
}

/** The used parts of a line of proc_pid_mountinfo(5). */
interface Mount {
  path: string;
  flags: string;
  type: string;
}

export interface MountRequest {
  /** True if everything is read-only except `writable`. */
  isConfined: boolean;
  /** Files and directories that decide the verdict. Missing ones are ignored. */
  protect: readonly string[];
  /** Directories that stay writable below a protected or confined one. */
  writable: readonly string[];
  /** Directories between which a server may rename files: neither they nor the directories above them are pinned. */
  roaming: readonly string[];
  /** Null for a server that is not compared with another one. */
  side: SideMounts | null;
}

/** Sockets of processes outside of the sandbox that can write anywhere on request. */
const controlSockets = [
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/run/podman/podman.sock',
  '/run/systemd/private',
  '/run/dbus/system_bus_socket',
];

/** Types of mounts that stay unchanged for a confined server: the kernel's own files, and automounts. */
const keptTypes = new Set(['proc', 'devpts', 'autofs']);

/** Plans the server's view of this machine's files. */
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
    // A bind mount is made read-only, but the mounts below it are not.
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
  const emptied = listReal(request.isConfined ? [memoryDirectory, '/run/user'] : [memoryDirectory]);
  // The least deep one shows those below it.
  const shown = writable.filter(
    (path) => emptied.some((empty) => isBelow(path, empty)) && !writable.some((other) => isBelow(path, other)),
  );
  const empty = (paths: readonly string[]) => [
    ...shown.map((path) => step('held', path)),
    ...paths.map((path) => step('empty', path)),
    ...shown.map((path) => step('shown', path)),
  ];
  const steps: MountStep[] = [
    ...copied.map(({ path }) => step('read-only', path)),
    ...writable.map((path) => step('writable', path)),
    ...machine.map(({ path, flags }): MountStep => ({ kind: 'locked', path, flags })),
    ...empty(emptied),
    ...(request.isConfined ? listReal(controlSockets).map((path) => step('hidden', path)) : []),
    ...readOnly.filter(({ path }) => isOpen(path) || layered.some((above) => isBelow(path, above))),
  ];
  // The directory in memory is covered, because the layers were made with it.
  return side === null
    ? steps
    : [...steps, ...planLayers(side, { layered, steps }), ...empty(listReal([memoryDirectory]))];
}

/** Directories in which programs share files, whatever the environment variables say. */
const sharedTemporary = ['/tmp', '/var/tmp'];
const memoryDirectory = '/dev/shm';

/** Checks if a mount option can contain the path. */
const canBeLayered = (path: string) => !/[,:\\]/.test(path);

/**
 * Plans the layers: the side's HOME, and directories that all programs write to. They come last, because a layer hides the mounts below
 * its directory; these are made again.
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
  ];
}

/**
 * Lists the directories above protected paths that the server could rename together with their content: a mount cannot be renamed.
 * Renaming a file across a mount fails, so directories in which a server works are left out.
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
  // If several mounts have the same path, only the last one is visible.
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

/** Resolves each path without symbolic links, once; missing ones are left out. */
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

/** Checks if this user, and so the server, can reach the path at all. */
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
