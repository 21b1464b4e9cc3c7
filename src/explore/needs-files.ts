import { hasNoEffects, type ObservedStep } from './exploration.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Checks if a session names files of the workspace, is answered with them, or changes files: it then works in a workspace only. */
export function namesFiles(steps: readonly ObservedStep[], { files, directories }: Workspace): boolean {
  const names = new Set([...files, ...directories].flatMap((path) => [path, path.split('/').at(-1) ?? path]));
  const text = JSON.stringify(steps.map(({ request, observation: { outcome } }) => [request, outcome]));
  const isNamed =
    /\{\{(?:workspace|outside|home|tmp|worlds)\}\}/.test(text) || [...names].some((name) => text.includes(name));
  const isDirectory = steps.some(({ request }) => request.kind === 'tool' && hasDot(request.arguments));
  const isRoot = steps.some(({ observation }) => observation.asked?.some(({ ability }) => ability === 'roots'));
  return isNamed || isDirectory || isRoot || steps.some(({ observation }) => !hasNoEffects(observation.files));
}

/** The working directory, as servers take it. */
function hasDot(args: Readonly<Record<string, unknown>>): boolean {
  return Object.values(args).some((value) => value === '.' || (Array.isArray(value) && value.includes('.')));
}
