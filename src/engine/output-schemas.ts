import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../model/assertion.ts';
import { classifyCallFault } from './faults.ts';
import { checkSchema } from './schema-check.ts';
import type { Session } from './session.ts';
import type { Target } from './target.ts';

/** Asked once per target, not once per iteration: schemas do not change between the iterations of a run. */
const declaredSchemas = new WeakMap<Target, ReadonlyMap<string, JsonObject>>();

/**
 * Says in one sentence how a result breaks the output schema that its own tool declares; null where it does not, or
 * where the tool declares none. A server must keep to its schema (MCP 2025-06-18, "Output Schema"), and clients refuse
 * results that do not. A schema that cannot be compiled is not held against the result.
 *
 * @throws the signal's reason once it aborts.
 */
export async function findSchemaViolation(
  toolName: string,
  result: CallToolResult,
  context: { session: Session; target: Target; signal: AbortSignal },
): Promise<string | null> {
  if (result.isError === true) return null;
  const schemas = declaredSchemas.get(context.target) ?? (await readDeclaredSchemas(context));
  const schema = schemas.get(toolName);
  if (schema === undefined) return null;
  if (result.structuredContent === undefined) {
    return `${toolName} declares an outputSchema and answered without structuredContent.`;
  }
  const check = checkSchema(schema, result.structuredContent);
  if (check.kind !== 'invalid') return null;
  return `${toolName} answered with structuredContent that breaks its own outputSchema: ${check.mismatch}.`;
}

async function readDeclaredSchemas(context: {
  session: Session;
  target: Target;
  signal: AbortSignal;
}): Promise<ReadonlyMap<string, JsonObject>> {
  let schemas: ReadonlyMap<string, JsonObject> = new Map();
  try {
    schemas = await context.session.listOutputSchemas(context);
  } catch (error) {
    context.signal.throwIfAborted();
    // A connection that broke says nothing about the tools: the next call will find out, or a later iteration asks again.
    if (classifyCallFault(error).kind === 'unreachable') return schemas;
  }
  declaredSchemas.set(context.target, schemas);
  return schemas;
}
