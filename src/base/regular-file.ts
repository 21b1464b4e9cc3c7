import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Not there on Windows, which has no named pipes in directories either. */
const noWaiting = constants.O_NONBLOCK ?? 0;

/**
 * Writes a text file without ever waiting for the reader of a named pipe that stands in its place.
 *
 * @throws when no process reads the pipe, or not fast enough
 */
export async function writeTextFile(path: string, text: string, mode: 'replace' | 'append' = 'replace'): Promise<void> {
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants;
  await using file = await open(path, O_WRONLY | O_CREAT | noWaiting | (mode === 'append' ? O_APPEND : O_TRUNC), 0o666);
  await file.writeFile(text);
}

/**
 * Reads a text file.
 *
 * @throws where it is a directory, a pipe or a device, whose end might never come
 */
export async function readTextFile(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | noWaiting);
  const found = await file.stat();
  // Reading a directory fails by itself, and says so.
  if (!found.isFile() && !found.isDirectory()) throw new Error(`${path} is not a regular file`);
  return await file.readFile('utf8');
}
