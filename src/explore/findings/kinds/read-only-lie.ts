import { nameRequest } from '../../../model/explored-request.ts';
import { defineFinding, type Problem } from '../define-finding.ts';
import { describeFiles } from '../describe-files.ts';
import { hasChanged, listBetween } from '../reads.ts';

export const readOnlyLie = defineFinding({
  kind: 'read-only-lie',
  severity: 'error',
  find: (steps, { findTool }) => {
    const isReader = (name: string) => findTool(name)?.isReadOnly === true;
    const wrote = steps.flatMap(({ request, observation: { files } }, step): Problem[] => {
      const changes = describeFiles(files);
      if (request.kind !== 'tool' || !isReader(request.tool) || changes === null) return [];
      return [{ step, tool: request.tool, message: `it is declared read-only, and ${changes}` }];
    });
    const seen = listBetween(steps, (request) => request.kind === 'tool' && isReader(request.tool)).flatMap(
      (between): Problem[] => {
        const { request } = steps[between.step] ?? between.before;
        if (request.kind !== 'tool' || !isReader(request.tool) || !hasChanged(between)) return [];
        // The answers of both tools may depend on each other; the tool in between is the suspect.
        const message = `it is declared read-only, and \`${nameRequest(between.before.request)}\` sees something else after it`;
        return [{ step: between.step, tool: request.tool, message, control: between.before.request }];
      },
    );
    return [...wrote, ...seen];
  },
});
