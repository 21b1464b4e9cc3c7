import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../model/assertion.ts';
import { joinWithin, maxListLength } from './reasons.ts';
import { checkSchema } from './schema-check.ts';

/**
 * Says in one sentence how a result breaks the output schema that its own tool declares; null where it does not, or
 * where the tool declares none. A server must keep to its schema (MCP 2025-06-18, "Output Schema"), and clients refuse
 * results that do not. A schema that cannot be compiled is not held against the result.
 */
export function findSchemaViolation(
  toolName: string,
  result: CallToolResult,
  schema: JsonObject | null,
): string | null {
  if (result.isError === true || schema === null) return null;
  if (result.structuredContent === undefined) {
    return `${toolName} declares an outputSchema and answered without structuredContent.`;
  }
  const check = checkSchema(schema, result.structuredContent);
  if (check.kind !== 'invalid') return null;
  return `${toolName} answered with structuredContent that breaks its own outputSchema: ${joinWithin(check.mismatches, maxListLength)}.`;
}
