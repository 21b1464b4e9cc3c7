import type { Evidence, ToolResult } from '../../../src/checks/evidence.ts';

/** An iteration in which nothing happened, by default. */
export function createEvidence(overrides: Partial<Evidence> = {}): Evidence {
  return {
    toolCalls: [],
    toolResults: [],
    replies: [],
    tools: null,
    finalAssistantMessage: '',
    refusal: null,
    userMessages: 0,
    clientRequests: null,
    tokensUsed: null,
    messages: [],
    notifications: { entries: [], dropped: 0 },
    widgets: null,
    cutReason: null,
    ...overrides,
  };
}

/** A valid result of `get-sum`, by default. */
export function createToolResult(overrides: Partial<ToolResult> = {}): ToolResult {
  return {
    toolName: 'get-sum',
    arguments: { a: 2, b: 3 },
    text: 'The sum of 2 and 3 is 5.',
    structuredContent: undefined,
    content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
    errorCode: null,
    sizeBytes: 100,
    isError: false,
    toolError: null,
    latencyMs: 12,
    isListed: true,
    ...overrides,
  };
}
