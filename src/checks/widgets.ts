import { endSentence } from '../base/text.ts';
import type { WidgetObservation } from '../model/widget.ts';
import { defineCheck } from './define-check.ts';
import type { Evidence } from './evidence.ts';
import { type CheckContext, fail, type Judgement, leaveUnmeasured, pass } from './judgement.ts';
import { joinWithin, maxListLength } from './reasons.ts';

/** The reason for an unmeasured assertion about an app if no browser is found. */
export const noBrowserReason = 'No browser runs here, so nothing about a widget can be established.';

/** Checks of the rendering of tools' apps. Traces do not contain it, because it needs a browser. */
export const widgetChecks = [
  defineCheck({
    name: 'widgetRendered',
    docs: 'the widget of a tool rendered',
    service: 'contract',
    sessionNeeds: ['browser'],
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: { toolName: 'a' },
    judge: async ({ toolName }, evidence, context) =>
      await judgeObserved(toolName, { evidence, context }, (rendered, others) => {
        const [first] = rendered;
        if (first !== undefined) return pass(`the app of ${first.toolName} rendered in ${first.latencyMs ?? 0} ms.`);
        return findUnmeasured(others) ?? fail(describeUnrendered(others));
      }),
  }),
  defineCheck({
    name: 'widgetRenderLatencyUnder',
    docs: 'the widget rendered in less than this many milliseconds',
    service: 'contract',
    sessionNeeds: ['browser'],
    schema: ({ milliseconds, ofTool }) => ({ ms: milliseconds, toolName: ofTool }),
    sample: { ms: 1 },
    judge: async ({ toolName, ms }, evidence, context) =>
      await judgeObserved(toolName, { evidence, context }, (rendered, others) => {
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
  }),
  defineCheck({
    name: 'widgetNoConsoleErrors',
    docs: 'the widget wrote no error to the console',
    service: 'contract',
    sessionNeeds: ['browser'],
    schema: ({ ofTool }) => ({ toolName: ofTool }),
    sample: {},
    judge: async ({ toolName }, evidence, context) =>
      await judgeObserved(toolName, { evidence, context }, (rendered, others) => {
        const noisy = [...rendered, ...others].find(({ consoleErrors }) => consoleErrors.entries.length > 0);
        if (noisy !== undefined)
          return fail(endSentence(`the app of ${noisy.toolName} wrote errors${describeConsole(noisy)}`));
        const unmeasured = findUnmeasured(others);
        if (unmeasured !== null) return unmeasured;
        return rendered.length === 0 ? fail(describeUnrendered(others)) : pass('the console has no errors.');
      }),
  }),
];

async function judgeObserved(
  toolName: string | undefined,
  { evidence, context }: { evidence: Evidence; context: CheckContext },
  judge: (rendered: readonly WidgetObservation[], others: readonly WidgetObservation[]) => Judgement,
): Promise<Judgement> {
  const { widgets } = evidence;
  if (widgets === null) return leaveUnmeasured(noBrowserReason);
  await context.settleWidgets();
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

/** Describes the console errors of an app, for the end of a reason; empty if there are none. */
export function describeConsole({
  consoleErrors: { entries, dropped },
}: Pick<WidgetObservation, 'consoleErrors'>): string {
  if (entries.length === 0) return '';
  const more = dropped === 0 ? [] : [`${dropped} more`];
  return `; its console has: ${joinWithin([...entries, ...more], maxConsoleLength)}`;
}

/** Leaves room for the start of the reason. */
const maxConsoleLength = 330;
