import { z } from 'zod';
import { endSentence, readFirstLine } from '../base/text.ts';
import { defineCheck } from './define-check.ts';
import { leaveUnmeasured } from './judgement.ts';

/** A judgement by a model. It is advisory unless it sets `role: gating`, which requires a calibration. */
export const judgeKind = defineCheck({
  name: 'judge',
  docs: 'a model finds that the conversation meets this rubric; with `threshold`, gives it at least this score. See [judges](judges.md)',
  weight: 'judge',
  schema: ({ text, model }) => ({
    rubric: text.meta({ description: 'The criterion of the judge, in words.' }),
    model: model
      .exactOptional()
      .meta({ description: "The model that judges, as `provider/name`. Default: the suite's `judgeModel`." }),
    threshold: z.number().min(0).max(1).exactOptional().meta({
      description: 'The score, 0 to 1, from which the judge passes. Default: the judge says itself whether it passes.',
    }),
  }),
  sample: { rubric: 'a', model: 'b/c', threshold: 0.7 },
  judge: async ({ rubric, model, threshold = null, role }, evidence, { askModel }) => {
    const { cutReason } = evidence;
    // A judge must see the whole conversation; a part of it could be judged differently.
    if (cutReason !== null) return leaveUnmeasured(`not measured: ${endSentence(readFirstLine(cutReason))}`);
    if (model === undefined) return leaveUnmeasured('not measured: the check names no model.');
    if (askModel === null) return leaveUnmeasured('not measured: no model can be asked here.');
    return await askModel({ rubric, model, threshold, isGating: role === 'gating' }, evidence);
  },
});
