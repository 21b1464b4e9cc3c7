import { endSentence } from '../../base/text.ts';
import { noBrowserReason } from '../../checks/assertion.ts';
import type { WidgetObservation } from '../../model/widget.ts';
import {
  type Evidence,
  fail,
  type Judgement,
  type Judgements,
  type JudgingAids,
  leaveUnmeasured,
  pass,
} from '../evidence.ts';
import { joinWithin, maxListLength } from '../../checks/reasons.ts';
import { describeConsole } from './shown-app.ts';

type WidgetType = 'widgetRendered' | 'widgetRenderLatencyUnder' | 'widgetNoConsoleErrors';

export const widgetJudgements: Judgements<WidgetType> = {
  widgetRendered: async ({ toolName }, evidence, aids) =>
    await judgeObserved(toolName, { evidence, aids }, (rendered, others) => {
      const [first] = rendered;
      if (first !== undefined) return pass(`the app of ${first.toolName} rendered in ${first.latencyMs ?? 0} ms.`);
      return findUnmeasured(others) ?? fail(describeUnrendered(others));
    }),
  widgetRenderLatencyUnder: async ({ toolName, ms }, evidence, aids) =>
    await judgeObserved(toolName, { evidence, aids }, (rendered, others) => {
      const slow = rendered.find(({ latencyMs }) => (latencyMs ?? 0) >= ms);
      if (slow !== undefined)
        return fail(`the app of ${slow.toolName} rendered in ${slow.latencyMs} ms, not in less than ${ms} ms.`);
      const unmeasured = findUnmeasured(others);
      if (unmeasured !== null) return unmeasured;
      if (rendered.length === 0) return fail(describeUnrendered(others));
      return pass(
        `${rendered.map((each) => `the app of ${each.toolName} rendered in ${each.latencyMs} ms`).join(', ')}.`,
      );
    }),
  widgetNoConsoleErrors: async ({ toolName }, evidence, aids) =>
    await judgeObserved(toolName, { evidence, aids }, (rendered, others) => {
      const noisy = [...rendered, ...others].find(({ consoleErrors }) => consoleErrors.entries.length > 0);
      if (noisy !== undefined)
        return fail(endSentence(`the app of ${noisy.toolName} wrote errors${describeConsole(noisy)}`));
      const unmeasured = findUnmeasured(others);
      if (unmeasured !== null) return unmeasured;
      return rendered.length === 0 ? fail(describeUnrendered(others)) : pass('the console has no errors.');
    }),
};

async function judgeObserved(
  toolName: string | undefined,
  { evidence, aids }: { evidence: Evidence; aids: JudgingAids | undefined },
  judge: (rendered: readonly WidgetObservation[], others: readonly WidgetObservation[]) => Judgement,
): Promise<Judgement> {
  const { widgets } = evidence;
  if (widgets === null) return leaveUnmeasured(noBrowserReason);
  await aids?.widgets?.settle();
  const meant = widgets.filter((observation) => toolName === undefined || observation.toolName === toolName);
  if (meant.length === 0)
    return fail(`no app of ${toolName ?? 'any tool'} was shown: no tool with an app answered a call.`);
  return judge(
    meant.filter(({ status }) => status === 'rendered'),
    meant.filter(({ status }) => status !== 'rendered'),
  );
}

function findUnmeasured(observations: readonly WidgetObservation[]): Judgement | null {
  const found = observations.find(({ status }) => status === 'unmeasured');
  return found === undefined
    ? null
    : leaveUnmeasured(`not measured: ${found.reason ?? 'the browser established nothing.'}`);
}

function describeUnrendered(observations: readonly WidgetObservation[]): string {
  const reasons = observations.map(({ toolName, reason }) => `${toolName}: ${reason ?? 'it was not shown'}`);
  return endSentence(`no app rendered: ${joinWithin(reasons, maxListLength)}`);
}
