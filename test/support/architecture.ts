import path from 'node:path/posix';
import { parseModule, type SourceFile } from './module-graph.ts';

export interface Violation {
  path: string;
  rule: 'order' | 'package' | 'process' | 'name' | 'room' | 'default-export' | 'barrel' | 'import' | 'reader';
  message: string;
}

/**
 * The ranks of rooms in the one-way order. A room may import rooms with a lower rank; rooms of the same rank are siblings and must not import
 * each other.
 */
const roomRanks: ReadonlyMap<string, number> = new Map([
  ['base', 0],
  ['model', 1],
  ['checks', 2],
  ['verdict', 2],
  ['report', 2],
  ['hosts', 2],
  ['workspace', 3],
  ['cases', 3],
  ['suite', 4],
  ['history', 5],
  ['http', 5],
  ['service', 6],
  ['github', 6],
  ['otlp', 6],
  ['upstream', 6],
  ['mcp', 6],
  ['surface', 7],
  ['models', 7],
  ['server', 7],
  ['tunnel', 7],
  ['browser', 8],
  ['host-drivers', 8],
  ['engine', 9],
  ['runner', 10],
  ['supervisor', 10],
  ['explore', 10],
  ['mutate', 11],
  ['init', 12],
  ['behaviour', 11],
  ['capture', 12],
  ['gate', 12],
  ['library', 13],
  ['cli', 13],
  ['action', 13],
  // A separate package, which builds on the gate.
  ['eval-service', 14],
]);

/** The ranks of folders within large rooms. Files outside of these folders have the room's rank, or one of their own. */
const folderRanks: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map([
  [
    'model',
    new Map([
      ['model', 0],
      ['rules', 1],
      ['policy.ts', 2],
      ['surface-policy.ts', 3],
      ['explore-policy.ts', 3],
      ['behaviour-policy.ts', 3],
      ['hosts-policy.ts', 3],
      ['disposition.ts', 3],
      ['case-report.ts', 4],
      ['results.ts', 5],
      ['report.ts', 6],
    ]),
  ],
  [
    'gate',
    new Map([
      ['options', 0],
      ['plan', 1],
      ['run', 2],
      ['judge', 2],
      ['gate', 3],
      ['publish', 4],
      ['job.ts', 5],
    ]),
  ],
]);

/** The public surface, a file for each entry of the package: above every room, imported by none. */
const isPublicSurface = (file: string): boolean => file === 'index.ts' || file.startsWith('entries/');

/** The rooms that may import each third-party package; `null` means any room. A package that is not listed must not be imported. */
export const packageRooms: ReadonlyMap<string, readonly string[] | null> = new Map([
  ['@actions/core', ['action']],
  ['@actions/github', ['github']],
  ['@ai-sdk/anthropic', ['models']],
  ['@ai-sdk/openai', ['models']],
  ['@ai-sdk/openai-compatible', ['models']],
  ['@ai-sdk/provider', ['models', 'engine', 'library']],
  ['@hono/node-server', ['eval-service']],
  ['@modelcontextprotocol/client', ['mcp', 'engine', 'server', 'surface']],
  ['@peculiar/asn1-schema', ['upstream']],
  ['@peculiar/asn1-x509', ['upstream']],
  ['@types/json-schema', []],
  ['ajv', ['engine']],
  ['ajv-formats', ['engine']],
  ['commander', ['cli', 'eval-service']],
  ['diff', ['base']],
  ['hono', ['eval-service']],
  ['leven', ['suite', 'gate', 'cli']],
  ['p-map', ['runner', 'explore', 'eval-service']],
  ['re2js', ['checks', 'engine', 'models', 'suite', 'surface']],
  ['shlex', ['server']],
  ['smol-toml', ['init', 'gate']],
  ['stemmer', ['base']],
  ['undici', ['http', 'mcp', 'tunnel', 'github']],
  ['vitest', ['library']],
  ['ws', ['tunnel']],
  ['yaml', ['suite']],
  ['zod', null],
]);

/** The only rooms that may use the process: its arguments, environment, signals and streams. */
const processRooms: ReadonlySet<string> = new Set([
  'library',
  'cli',
  'action',
  'server',
  'supervisor',
  'eval-service/cli',
]);

/** The only file of the gate that imports the eval service. */
const serviceLoader = 'cli/eval-service.ts';

/** Functions of Node that read a whole file or match patterns. A named pipe or a few braces stop them forever, and no limit applies. */
const fileReaders: ReadonlySet<string> = new Set(['readFile', 'readFileSync', 'createReadStream', 'glob', 'globSync']);

/** The only file reader, the only glob, and files that read only `/proc` and the gate's own code, before or outside of its event loop. */
const readerFiles: ReadonlySet<string> = new Set([
  'base/files.ts',
  'base/glob.ts',
  'server/port-owner.ts',
  'server/process-tree.ts',
  'server/sandbox/enable-namespaces.ts',
  'server/sandbox/mounts.ts',
  'server/sandbox/own-code.ts',
  'supervisor/environment.ts',
  'supervisor/supervise.ts',
]);

const drawerNames: ReadonlySet<string> = new Set(['types.ts', 'utils.ts', 'helpers.ts', 'constants.ts', 'index.ts']);

/** Finds all violations of the architecture in a source file. */
export function findViolations(file: SourceFile): Violation[] {
  const module = parseModule(file);
  const found: Violation[] = [];
  const add = (rule: Violation['rule'], message: string) => found.push({ path: file.path, rule, message });

  const isSurface = isPublicSurface(file.path);
  const room = file.path.includes('/') && !isSurface ? (file.path.split('/')[0] ?? '') : null;
  if (!isSurface && (room === null || !roomRanks.has(room))) add('room', `is in no room of the plan`);
  if (!isSurface && drawerNames.has(path.basename(file.path))) add('name', `name it after the concept it holds`);

  for (const specifier of module.imports) {
    const problem = specifier.startsWith('.')
      ? judgeRelativeImport(file.path, room, specifier)
      : judgePackageImport(room, specifier);
    if (problem !== null) add(problem.rule, problem.message);
  }
  const processRoom = file.path.startsWith('eval-service/cli/') ? 'eval-service/cli' : (room ?? '');
  if (!processRooms.has(processRoom) && module.readsProcess) {
    add('process', `reads process; only ${[...processRooms].join(', ')} may, and pass on what others need`);
  }
  const readers = module.fileFunctions.filter((name) => fileReaders.has(name));
  if (readers.length > 0 && !readerFiles.has(file.path)) {
    add(
      'reader',
      `reads with ${readers.join(', ')}; use base/files.ts and base/glob.ts, whose limits hold for every file`,
    );
  }
  if (module.hasDefaultExport) add('default-export', 'has a default export; name it');
  for (const { specifier, isEverything } of module.reExports) {
    if (isEverything) add('barrel', `exports everything of ${specifier}; name what is exported`);
    else if (!isSurface) add('barrel', `re-exports ${specifier}; import it where it is owned`);
  }
  return found;
}

function judgeRelativeImport(
  filePath: string,
  room: string | null,
  specifier: string,
): Pick<Violation, 'rule' | 'message'> | null {
  const target = path.join(path.dirname(filePath), specifier);
  if (target.startsWith('..')) return { rule: 'import', message: `imports ${specifier}, which is outside src` };
  if (!target.endsWith('.ts')) return { rule: 'import', message: `imports ${specifier} without its .ts extension` };
  if (isPublicSurface(target)) return { rule: 'order', message: 'imports the public surface' };
  const targetRoom = target.split('/')[0] ?? '';
  if (room === null || (filePath === serviceLoader && targetRoom === 'eval-service')) return null;
  const ranks = targetRoom === room ? folderRanks.get(room) : roomRanks;
  const [own, other] = targetRoom === room ? [findFolder(filePath), findFolder(target)] : [room, targetRoom];
  if (ranks === undefined || own === other) return null;
  const isBelow = (ranks.get(other) ?? Infinity) < (ranks.get(own) ?? -Infinity);
  return isBelow ? null : { rule: 'order', message: `${own}/ imports ${specifier}; ${other}/ is not to its left` };
}

function findFolder(filePath: string): string {
  const [room = '', folder = ''] = filePath.split('/');
  if (!folder.endsWith('.ts')) return folder;
  return folderRanks.get(room)?.has(folder) === true ? folder : room;
}

function judgePackageImport(room: string | null, specifier: string): Pick<Violation, 'rule' | 'message'> | null {
  if (specifier.startsWith('node:')) {
    return specifier === 'node:process' && !processRooms.has(room ?? '')
      ? { rule: 'process', message: 'imports node:process' }
      : null;
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const rooms = packageRooms.get(name);
  if (rooms === null || rooms?.includes(room ?? '') === true) return null;
  return { rule: 'package', message: `imports ${specifier}; it belongs to ${rooms?.join(', ') ?? 'no room'}` };
}
