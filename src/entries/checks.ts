// The entry `mcp-eval-ci/checks`: what a file with checks of one's own needs, and nothing that runs a gate.
export type { Evidence as CheckEvidence, Reply, ToolDefinition, ToolResult } from '../checks/evidence.ts';
export { defineCheck } from '../checks/define-check.ts';
export { fail, type Judgement, leaveUnmeasured, pass } from '../checks/judgement.ts';
export type { OwnCheckDefinition } from '../checks/create-own-check.ts';
export type { OwnCheck, OwnCheckContext } from '../checks/own-check.ts';
