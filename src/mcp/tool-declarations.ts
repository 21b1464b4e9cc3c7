import type { Tool } from '@modelcontextprotocol/client';
import { isRecord, type JsonObject } from '../base/json.ts';
import type { TaskSupport } from './tool-calls.ts';

/** A server's declaration of a tool. */
export interface ToolDeclaration {
  description: string | null;
  inputSchema: JsonObject;
  outputSchema: JsonObject | null;
  /** Null if the tool has none. */
  annotations: JsonObject | null;
  isReadOnly: boolean;
  taskSupport: TaskSupport;
  /** The resource of its app, from `_meta.ui.resourceUri` or the older `ui/resourceUri`; null if it declares none. */
  appUri: string | null;
  /** True if apps may call it (`_meta.ui.visibility`). */
  isForApps: boolean;
  /** True if it may be offered to models (`_meta.ui.visibility`). */
  isForModels: boolean;
}

/** Tools by name, in the order of the server's list; null if the server declares no tools capability. */
export type ToolList = ReadonlyMap<string, ToolDeclaration> | null;

/** Reads a list of tools as the SDK returns it. */
export function readDeclarations(tools: readonly Tool[]): ReadonlyMap<string, ToolDeclaration> {
  return new Map(
    tools.map(({ name, description, inputSchema, outputSchema, annotations, execution, _meta }) => [
      name,
      {
        description: description ?? null,
        inputSchema,
        outputSchema: outputSchema ?? null,
        annotations: annotations === undefined ? null : { ...annotations },
        isReadOnly: annotations?.readOnlyHint === true,
        taskSupport: execution?.taskSupport ?? 'forbidden',
        appUri: readAppUri(_meta),
        isForApps: isVisibleTo('app', _meta),
        isForModels: isVisibleTo('model', _meta),
      },
    ]),
  );
}

function readAppUri(meta: Record<string, unknown> = {}): string | null {
  const ui = meta['ui'];
  const uri = isRecord(ui) && ui['resourceUri'] !== undefined ? ui['resourceUri'] : meta['ui/resourceUri'];
  return typeof uri === 'string' ? uri : null;
}

/** A tool without a declared visibility is visible to both (MCP Apps 2026-01-26). */
function isVisibleTo(who: 'app' | 'model', meta: Record<string, unknown> = {}): boolean {
  const visibility = isRecord(meta['ui']) ? meta['ui']['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.includes(who);
}
