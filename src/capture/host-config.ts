import { isRecord, type JsonObject, tryParseJson } from '../base/json.ts';
import { deriveSlug } from '../suite/case-ids.ts';

/** The configuration of a host with a recorder in front of its servers. */
export interface CapturedConfig {
  text: string;
  /** The servers that are captured from now on. */
  captured: readonly string[];
  /** The servers whose entry is as it was, with the reason. */
  left: ReadonlyArray<{ name: string; reason: string }>;
}

/** The keys under which hosts list their servers. */
const listKeys = ['mcpServers', 'servers'] as const;

/** The words before those of a server. `npx` finds the installed package. */
const wrapper = ['mcp-eval-ci', 'capture'] as const;

/**
 * Puts the recorder in front of the command of each server of a host's configuration. `nameOut` names the evals file of a server. Null if
 * the text is no such configuration.
 */
export function captureConfig(text: string, nameOut: (slug: string) => string): CapturedConfig | null {
  const config = tryParseJson(text);
  if (!isRecord(config)) return null;
  const key = listKeys.find((each) => isRecord(config[each]));
  const servers = key === undefined ? undefined : config[key];
  if (key === undefined || !isRecord(servers)) return null;
  const captured: string[] = [];
  const left: Array<{ name: string; reason: string }> = [];
  const entries = Object.entries(servers).map(([name, entry]): [string, unknown] => {
    const reason = explainLeft(entry);
    if (reason === null && isRecord(entry)) {
      captured.push(name);
      return [name, wrapEntry(entry, nameOut(deriveSlug(name, 'server')))];
    }
    left.push({ name, reason: reason ?? '' });
    return [name, entry];
  });
  const indent = /^[\t ]+(?=")/m.exec(text)?.[0] ?? '  ';
  const changed = { ...config, [key]: Object.fromEntries(entries) };
  return { text: `${JSON.stringify(changed, null, indent)}\n`, captured, left };
}

function explainLeft(entry: unknown): string | null {
  if (!isRecord(entry) || typeof entry['command'] !== 'string') return 'it has no `command`';
  const args = listArguments(entry);
  return wrapper.every((word, index) => args[index] === word) ? 'it is captured already' : null;
}

function wrapEntry(entry: JsonObject, out: string): JsonObject {
  const args = [...wrapper, '--out', out, '--append', '--', String(entry['command']), ...listArguments(entry)];
  const { type, command: _, args: __, ...others } = entry;
  return { ...(type !== undefined && { type }), command: 'npx', args, ...others };
}

function listArguments({ args }: JsonObject): unknown[] {
  return Array.isArray(args) ? args : [];
}
