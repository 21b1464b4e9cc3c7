import { isRecord, tryParseJson } from '../base/json.ts';
import type { HostOutput } from './driver.ts';

/** Reads the output that Claude Code and Qwen Code call `stream-json`. */
export function readStreamJson({ stdout }: { stdout: string }): HostOutput {
  const lines = stdout.split('\n').map(tryParseJson).filter(isRecord);
  const init = lines.find(({ type, subtype }) => type === 'system' && subtype === 'init') ?? {};
  const result = lines.findLast((line) => 'permission_denials' in line || line['type'] === 'result') ?? {};
  const denied = Array.isArray(result['permission_denials']) ? result['permission_denials'].filter(isRecord) : [];
  const names = denied.map(({ tool_name: name }) => String(name)).filter((name) => name.startsWith('mcp__'));
  const servers = Array.isArray(init['mcp_servers']) ? init['mcp_servers'].filter(isRecord) : [];
  const failed = servers.filter(({ status }) => status === 'failed');
  const text = typeof result['result'] === 'string' ? result['result'] : null;
  return {
    text,
    denials: names.map((name) => `It did not approve the call of ${name}.`),
    errors: [
      ...failed.map(({ name }) => `It could not connect to the server ${String(name)}.`),
      ...(result['is_error'] === true ? [`It reports an error: ${text ?? String(result['subtype'])}`] : []),
    ],
  };
}
