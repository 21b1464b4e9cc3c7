import { vi } from 'vitest';

/** Runs `act` and returns its output on this process's standard output. */
export async function captureOutput(act: () => unknown): Promise<string> {
  let output = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    output += String(chunk);
    return true;
  });
  try {
    await act();
  } finally {
    write.mockRestore();
  }
  return output;
}
