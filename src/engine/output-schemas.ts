import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../model/assertion.ts';
import { joinWithin, maxListLength } from './reasons.ts';
import { checkSchema, type SchemaContext } from './schema-check.ts';

/** What is wrong with a result, in one sentence. */
export interface SchemaViolation {
  reason: string;
  /** Whether the check crossed a limit, so that a case may not go on as if the result were good. */
  isUnchecked: boolean;
}

/**
 * Finds out how a result breaks the output schema that its own tool declares; null where it does not, or where the tool
 * declares none. A server must keep to its schema (MCP 2025-06-18, "Output Schema"), and clients refuse results that do not. A
 * schema that cannot be compiled is not held against the result. One that makes the check cross a limit is: schema and result
 * are both the server's.
 *
 * @throws the reason of the limit's signal once it aborts.
 */
export async function findSchemaViolation(
  toolName: string,
  { result, schema }: { result: CallToolResult; schema: JsonObject | null },
  context: SchemaContext,
): Promise<SchemaViolation | null> {
  if (result.isError === true || schema === null) return null;
  if (result.structuredContent === undefined) {
    const reason = `${toolName} declares an outputSchema and answered without structuredContent.`;
    return { reason, isUnchecked: false };
  }
  const check = await checkSchema(schema, result.structuredContent, { context });
  if (check.kind === 'stopped') {
    const reason = `${toolName} answered with structuredContent that cannot be checked against its own outputSchema: ${check.reason}. Simplify the schema, or return less.`;
    return { reason, isUnchecked: true };
  }
  if (check.kind !== 'invalid') return null;
  const reason = `${toolName} answered with structuredContent that breaks its own outputSchema: ${joinWithin(check.mismatches, maxListLength)}.`;
  return { reason, isUnchecked: false };
}
