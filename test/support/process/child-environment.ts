/**
 * Returns the variables of a process that a test starts: its paths, and Node's compile cache, so that only the first start spends time on
 * stripping the types of this project's sources.
 */
export function listChildVariables(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE };
}
