import { defineFinding, eachStep } from '../define-finding.ts';

export const destructiveHintMissing = defineFinding({
  kind: 'destructive-hint-missing',
  severity: 'warning',
  find: eachStep(({ request, observation: { files } }, { findTool }) => {
    const hints = request.kind === 'tool' ? findTool(request.tool)?.hints : undefined;
    // Without the hint itself, a host assumes that a tool may destroy something.
    if (hints?.['destructiveHint'] !== false || hints['readOnlyHint'] === true) return null;
    const [first] = files.removed;
    // A file that has another name or place afterwards is not destroyed.
    return first === undefined || files.added.length >= files.removed.length
      ? null
      : `it says \`destructiveHint: false\`, and removes ${first}`;
  }),
});
