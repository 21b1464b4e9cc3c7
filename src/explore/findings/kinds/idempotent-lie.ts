import { isAnswered } from '../../answers.ts';
import { isJsonEqual } from '../../../base/json.ts';
import type { ObservedStep } from '../../exploration.ts';
import { nameRequest } from '../../../model/explored-request.ts';
import { describeFiles } from '../describe-files.ts';
import { defineFinding, type Problem } from '../define-finding.ts';
import { hasChanged, listBetween } from '../reads.ts';

export const idempotentLie = defineFinding({
  kind: 'idempotent-lie',
  severity: 'warning',
  find: (steps, { findTool, isHarmless }) => {
    const isRepeat = (step: ObservedStep, index: number) =>
      step.request.kind === 'tool' &&
      findTool(step.request.tool)?.hints['idempotentHint'] === true &&
      findTool(step.request.tool)?.isReadOnly !== true &&
      isAnswered(step.observation) &&
      steps
        .slice(0, index)
        .some(({ request, observation }) => isAnswered(observation) && isJsonEqual(request, step.request));
    const betweens = listBetween(steps, (request) => request.kind === 'tool' && isHarmless(request.tool));
    return steps.flatMap((step, index): Problem[] => {
      if (step.request.kind !== 'tool' || !isRepeat(step, index)) return [];
      const { tool } = step.request;
      const changes = describeFiles(step.observation.files);
      if (changes !== null) {
        return [{ step: index, tool, message: `it is declared idempotent, and the second call ${changes}` }];
      }
      const seen = betweens.find((between) => between.step === index && hasChanged(between));
      if (seen === undefined) return [];
      const message = `it is declared idempotent, and \`${nameRequest(seen.before.request)}\` sees something else after the second call`;
      return [{ step: index, tool, message, control: seen.before.request }];
    });
  },
});
