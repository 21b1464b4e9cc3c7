import type { JsonObject } from '../base/json.ts';
import type { Evidence, ToolDefinition } from '../checks/evidence.ts';
import type { OwnCheck } from '../checks/own-check.ts';

/** A module with checks: its URL, and the texts of all files that it may import, by URL. Null for files of the working directory. */
export interface ModuleSource {
  url: string;
  files: Readonly<Record<string, string>> | null;
}

/** The properties of a check that a process can say. */
export type CheckFacts = Pick<OwnCheck, 'name' | 'schema' | 'final' | 'timeoutMs'>;

/** A request to the process of a check module: to load the module, or to judge. */
export interface CheckRequest {
  id: string;
  module?: ModuleSource;
  judge?: {
    name: string;
    fields: JsonObject;
    evidence: Omit<Evidence, 'tools'>;
    /** JSON has no maps. */
    tools: ReadonlyArray<[string, ToolDefinition]> | null;
    timeoutMs: number;
  };
}

/** What the process answers. A reader must not trust its types: the module can write to the same pipe. */
export interface CheckReply {
  id: string;
  checks?: readonly CheckFacts[];
  answer?: unknown;
  error?: string;
}
