/** The flags of `capture`. */
export interface CaptureFlags {
  out?: string;
  append?: true;
  split: string;
  workspace?: string;
  serverEnv: string[];
  from?: string;
  port?: string;
  url?: string;
  config?: string;
  write?: true;
  /** Set in the process that records: the directory of the server, if it works in a copy of the workspace. */
  recorder?: string;
}

/** Splits the variables of the server into names and values. */
export function readVariables(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}
