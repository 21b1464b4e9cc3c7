import { z } from 'zod';
import type { CheckValues, SharedParts } from './check-parts.ts';
import type { createToolResultSchemas } from './tool-result-schemas.ts';

/**
 * Checks of what came back from requests that call no tool: the latest resource, prompt or completion. They ask for what the checks of
 * tools ask for, and have their fields; only what they are about has another name.
 */
export function createReplySchemas(
  { toolResultContains, toolResultMatches, toolResultEquals, toolResultMatchesSchema, toolError }: ToolResultSchemas,
  { object, values: { text } }: Pick<SharedParts, 'object'> & { values: Pick<CheckValues, 'text'> },
) {
  const uri = text.exactOptional().meta({ description: 'Judge this resource alone.' });
  const name = text.exactOptional().meta({ description: 'Judge this prompt alone.' });
  const argument = text.exactOptional().meta({ description: 'Judge the completion of this argument alone.' });
  const { type: _contains, toolName: _of, latest: _latest, ...containing } = toolResultContains.shape;
  const { type: _matches, toolName: _ofMatch, latest: _latestMatch, ...matching } = toolResultMatches.shape;
  const { type: _equals, toolName: _ofValue, ...equalling } = toolResultEquals.shape;
  const { type: _schema, toolName: _ofSchema, latest: _latestSchema, ...fitting } = toolResultMatchesSchema.shape;
  return {
    resourceContains: object({ type: z.literal('resourceContains'), ...containing, uri }),
    promptContains: object({ type: z.literal('promptContains'), ...containing, name }),
    completionContains: object({ type: z.literal('completionContains'), ...containing, argument }),
    resourceMatches: object({ type: z.literal('resourceMatches'), ...matching, uri }),
    promptMatches: object({ type: z.literal('promptMatches'), ...matching, name }),
    resourceEquals: object({ type: z.literal('resourceEquals'), ...equalling, uri }),
    promptEquals: object({ type: z.literal('promptEquals'), ...equalling, name }),
    completionEquals: object({ type: z.literal('completionEquals'), ...equalling, argument }),
    resourceMatchesSchema: object({ type: z.literal('resourceMatchesSchema'), ...fitting, uri }),
    promptMatchesSchema: object({ type: z.literal('promptMatchesSchema'), ...fitting, name }),
    resourceMimeType: object({
      type: z.literal('resourceMimeType'),
      mimeType: text.meta({ description: 'MIME type of all contents of the latest resource.' }),
      uri,
    }),
    requestError: object({ type: z.literal('requestError'), error: toolError.shape.error }),
  };
}

type ToolResultSchemas = ReturnType<typeof createToolResultSchemas>;
