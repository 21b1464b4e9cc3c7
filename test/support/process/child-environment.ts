/**
 * The variables of a process that a test starts: where to find what, and where Node keeps what it has made of this project's
 * sources, so that only the first start pays for stripping their types.
 */
export function listChildVariables(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE };
}
