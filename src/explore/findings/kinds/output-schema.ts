import { defineFinding, eachStep } from '../define-finding.ts';

export const outputSchema = defineFinding({
  kind: 'output-schema',
  severity: 'error',
  find: eachStep(async ({ request, observation: { outcome } }, { findTool, findMismatch }) => {
    const tool = request.kind === 'tool' ? findTool(request.tool) : undefined;
    if (tool?.outputSchema == null || outcome.kind !== 'result' || outcome.isError) return null;
    const { structuredContent } = outcome.result;
    if (structuredContent === undefined)
      return 'it declares an output schema, and its result has no structured content';
    const mismatch = await findMismatch(tool, structuredContent);
    return mismatch === null ? null : `the structured content breaks the output schema: ${mismatch}`;
  }),
});
