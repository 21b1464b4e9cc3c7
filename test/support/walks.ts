import type { ImportGraph, SourceFile } from './module-graph.ts';

/** A file of a walk: how it comes after the one before it, and the name in its code by which the walk is followed. */
export interface WalkStep {
  path: string;
  /** `←`: it imports the file before it. `→`: the file before it imports it. Null for the first. */
  arrow: '←' | '→' | null;
  name: string;
}

export interface Walk {
  title: string;
  steps: WalkStep[];
}

const maxFiles = 8;

/**
 * Reads the walks out of Markdown: below the heading `## Walks`, a heading of the third level each, and its numbered list. An item begins
 * with the arrow, the path below `src/` and the name, both as code.
 *
 * @throws {Error} for an item of another form: a step that was not read would not be held
 */
export function readWalks(markdown: string): Walk[] {
  const [, section = ''] = markdown.split(/^## Walks$/m);
  const [own = ''] = section.split(/^## /m);
  return own
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const [title = '', ...lines] = text.split('\n');
      return { title, steps: lines.filter((line) => /^\d+\./.test(line)).map(readStep) };
    });
}

function readStep(line: string): WalkStep {
  const [, arrow, path, name] = /^\d+\. (?:([←→]) )?`src\/([\w/.-]+\.ts)` \(`(\w+)`\)/.exec(line) ?? [];
  if (path === undefined || name === undefined) throw new Error(`A step of a walk has another form: ${line}`);
  return { path, arrow: arrow === '←' || arrow === '→' ? arrow : null, name };
}

/** Finds everything in which a walk is not the way through the sources that it says it is. */
export function findWalkProblems({ steps }: Walk, graph: ImportGraph, files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  if (steps.length < 2 || steps.length > maxFiles)
    problems.push(`has ${steps.length} files; 2 to ${maxFiles} are allowed`);
  if (new Set(steps.map(({ path }) => path)).size < steps.length) problems.push('comes to a file twice');
  for (const [index, { path, arrow, name }] of steps.entries()) {
    const file = files.find((each) => each.path === path);
    if (file === undefined) problems.push(`${path} is no file`);
    else if (!new RegExp(`\\b${name}\\b`).test(file.text)) problems.push(`${path} has no ${name}`);
    const before = steps[index - 1];
    if (before === undefined || arrow === null) {
      if ((before === undefined) !== (arrow === null)) problems.push(`${path} has a wrong or no arrow`);
      continue;
    }
    const [importer, imported] = arrow === '←' ? [path, before.path] : [before.path, path];
    if (graph.get(importer)?.has(imported) !== true) problems.push(`${importer} does not import ${imported}`);
    if (arrow === '←' && before.arrow === '→') problems.push(`goes back at ${path}`);
  }
  return problems;
}
