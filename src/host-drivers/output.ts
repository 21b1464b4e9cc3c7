import { isRecord, type JsonObject, listRecords, tryParseJson } from '../base/json.ts';
import type { HostOutput } from './driver.ts';

/** Reads the objects of an output that has one on each line. */
export function readJsonLines(stdout: string): JsonObject[] {
  return stdout.split('\n').map(tryParseJson).filter(isRecord);
}

export function describeDenial(tool: unknown): string {
  return `It did not approve the call of ${String(tool)}.`;
}

export function describeError(message: unknown): string {
  return `It reports an error: ${String(message)}`;
}

/** Reads the output that Claude Code and Qwen Code call `stream-json`. */
export function readStreamJson({ stdout }: { stdout: string }): HostOutput {
  const lines = readJsonLines(stdout);
  const init = lines.find(({ type, subtype }) => type === 'system' && subtype === 'init') ?? {};
  const result = lines.findLast((line) => 'permission_denials' in line || line['type'] === 'result') ?? {};
  const denied = listRecords(result['permission_denials']);
  const names = denied.map(({ tool_name: name }) => String(name)).filter((name) => name.startsWith('mcp__'));
  const servers = listRecords(init['mcp_servers']);
  const failed = servers.filter(({ status }) => status === 'failed');
  const text = typeof result['result'] === 'string' ? result['result'] : null;
  return {
    text,
    denials: names.map(describeDenial),
    errors: [
      ...failed.map(({ name }) => `It could not connect to the server ${String(name)}.`),
      ...(result['is_error'] === true ? [describeError(text ?? result['subtype'])] : []),
    ],
  };
}
