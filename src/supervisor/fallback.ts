import { constants, closeSync, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { causePlaceholder, type FallbackReport } from './messages.ts';

/** Writes what the gate had prepared for its own end. What cannot be written is left out: the exit code says enough. */
export function writeFallback({ files, stdout }: FallbackReport, cause: string): void {
  const fill = (text: string) => text.replaceAll(causePlaceholder, cause);
  for (const { path, text, mode } of files) {
    try {
      writeRegularFile(path, fill(text), mode);
    } catch {
      // The others may still be written.
    }
  }
  if (stdout !== '') writeSync(1, fill(stdout));
}

/** Never waits for the reader of a named pipe. */
function writeRegularFile(path: string, text: string, mode: 'replace' | 'append'): void {
  mkdirSync(dirname(path), { recursive: true });
  const { O_WRONLY, O_CREAT, O_NONBLOCK, O_TRUNC, O_APPEND } = constants;
  // Not there on Windows, which has no such pipes either.
  const flags = O_WRONLY | O_CREAT | (O_NONBLOCK ?? 0) | (mode === 'append' ? O_APPEND : O_TRUNC);
  const file = openSync(path, flags, 0o644);
  try {
    if (fstatSync(file).isFile()) writeSync(file, text);
  } finally {
    closeSync(file);
  }
}
