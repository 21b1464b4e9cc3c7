import path from 'node:path/posix';
import { parseSync, Visitor } from 'rolldown/utils';

/** One source file: its path below `src/`, with forward slashes, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/** The syntax of a module, from a TypeScript parser. Types count like values. */
export interface ModuleSyntax {
  /** Specifiers of static, type-only, side-effect and dynamic imports, of `import('…')` types, and of re-exports. */
  imports: string[];
  reExports: { specifier: string; isEverything: boolean }[];
  exportedNames: string[];
  hasDefaultExport: boolean;
  /** The names that are imported from Node's modules for files. */
  fileFunctions: string[];
  readsProcess: boolean;
}

const parsed = new WeakMap<SourceFile, ModuleSyntax>();

/**
 * Parses a file. Each file is parsed only once.
 *
 * @throws {SyntaxError} for text that is not TypeScript: a rule without syntax would find no violations.
 */
export function parseModule(file: SourceFile): ModuleSyntax {
  const module = parsed.get(file) ?? parse(file);
  parsed.set(file, module);
  return module;
}

function parse(file: SourceFile): ModuleSyntax {
  const { program, module, errors } = parseSync(file.path, file.text, { lang: 'ts', sourceType: 'module' });
  if (errors[0] !== undefined) throw new SyntaxError(`${file.path}: ${errors[0].message}`);

  const exports = module.staticExports.flatMap(({ entries }) => entries);
  const reExports = exports.flatMap(({ moduleRequest, importName }) =>
    moduleRequest === null
      ? []
      : [
          {
            specifier: moduleRequest.value,
            isEverything: importName.kind === 'All' || importName.kind === 'AllButDefault',
          },
        ],
  );
  const imports = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...reExports.map(({ specifier }) => specifier),
  ];
  let readsProcess = false;
  new Visitor({
    ImportExpression({ source }) {
      if (source.type === 'Literal' && typeof source.value === 'string') imports.push(source.value);
    },
    TSImportType({ source }) {
      imports.push(source.value);
    },
    ExportNamedDeclaration({ source, specifiers }) {
      // An empty list imports no names but still loads the module.
      if (source !== null && specifiers.length === 0) imports.push(source.value);
    },
    MemberExpression({ object }) {
      readsProcess ||= object.type === 'Identifier' && object.name === 'process';
    },
    VariableDeclarator({ init }) {
      readsProcess ||= init?.type === 'Identifier' && init.name === 'process';
    },
  }).visit(program);

  return {
    imports,
    reExports,
    exportedNames: exports.flatMap(({ exportName }) => exportName.name ?? []),
    hasDefaultExport: exports.some(({ exportName }) => exportName.kind === 'Default' || exportName.name === 'default'),
    fileFunctions: module.staticImports
      .filter(({ moduleRequest }) => /^node:fs(?:\/promises)?$/.test(moduleRequest.value))
      .flatMap(({ entries }) => entries.flatMap(({ importName }) => importName.name ?? [])),
    readsProcess,
  };
}

/** The imports of each file, including type-only and lazy imports. Packages and files outside the list are left out. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

export function buildImportGraph(files: readonly SourceFile[]): ImportGraph {
  const paths = new Set(files.map((file) => file.path));
  return new Map(
    files.map((file) => {
      const targets = parseModule(file)
        .imports.filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => path.join(path.dirname(file.path), specifier));
      return [file.path, new Set(targets.filter((target) => paths.has(target)))];
    }),
  );
}

/**
 * Finds import cycles: for each file that reaches itself, the shortest way back. Each cycle is listed once, from its first file in alphabetical
 * order. A graph without cycles gives an empty list; a graph with cycles gives at least one of each connected group.
 */
export function findImportCycles(graph: ImportGraph): string[][] {
  const cycles = new Map<string, string[]>();
  for (const start of [...graph.keys()].toSorted()) {
    const cycle = findShortestCycle(graph, start);
    if (cycle === null) continue;
    const first = cycle.indexOf(cycle.toSorted()[0] ?? start);
    const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
    cycles.set(turned.join('\n'), turned);
  }
  return [...cycles.values()];
}

/** Finds the files from `start` to the one that imports it again; breadth first, so that no shorter way exists. */
function findShortestCycle(graph: ImportGraph, start: string): string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]]);
  // The loop also visits the entries that it adds: the map is its queue.
  for (const file of cameFrom.keys()) {
    for (const target of graph.get(file) ?? []) {
      if (target === start) return walkBack(cameFrom, file);
      if (!cameFrom.has(target)) cameFrom.set(target, file);
    }
  }
  return null;
}

function walkBack(cameFrom: ReadonlyMap<string, string | null>, end: string): string[] {
  const way: string[] = [];
  for (let at: string | null = end; at !== null; at = cameFrom.get(at) ?? null) way.unshift(at);
  return way;
}
