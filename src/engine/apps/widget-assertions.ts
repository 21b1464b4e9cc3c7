import { z } from 'zod';
import { type Attempt, describeAbsence, findElements, pickElement } from '../../browser/elements.ts';
import type { View } from '../../browser/view.ts';
import type { WidgetAssertion, WidgetObservation } from '../../model/widget.ts';
import { printValue } from '../../checks/reasons.ts';

/** Judges an assertion on a shown widget once; `problem` is half a sentence about what is not so yet. */
export async function judgeWidget(
  assertion: WidgetAssertion,
  { world }: View,
  { toolCalls }: Pick<WidgetObservation, 'toolCalls'>,
): Promise<Attempt<null>> {
  switch (assertion.kind) {
    case 'textVisible': {
      const found = await findElements(world, { text: assertion.text });
      if (found.some(({ isVisible }) => isVisible)) return done;
      const shown = await world.call('() => document.body?.innerText ?? ""', [], z.string());
      return { problem: `the app does not show ${printValue(assertion.text)}; it shows ${printValue(shown)}` };
    }
    case 'elementVisible': {
      const { target } = assertion;
      const found = await findElements(world, target);
      const element = pickElement(found, target);
      if (element?.isVisible === true) return done;
      const which = printValue(target);
      return {
        problem: `${element === undefined ? describeAbsence(found.length, target) : `${element.name} is not visible`}: ${which}`,
      };
    }
    case 'elementHidden': {
      const { target } = assertion;
      const found = await findElements(world, target);
      const element = target.nth === undefined ? found.find(({ isVisible }) => isVisible) : found[target.nth];
      return element?.isVisible === true ? { problem: `${element.name} is visible: ${printValue(target)}` } : done;
    }
    case 'inputValue': {
      const { target, equals } = assertion;
      const found = await findElements(world, target);
      const element = pickElement(found, target);
      if (element === undefined) return { problem: `${describeAbsence(found.length, target)}: ${printValue(target)}` };
      const { name, value } = element;
      if (value === null) return { problem: `${name} has no value, which only fields have` };
      return value === equals
        ? done
        : { problem: `${name} has the value ${printValue(value)}, not ${printValue(equals)}` };
    }
    case 'widgetToolCalled': {
      const { calledToolName } = assertion;
      const own = toolCalls.filter(({ toolName }) => toolName === calledToolName);
      if (own.some(({ isForwarded }) => isForwarded)) return done;
      const refused = own.at(-1);
      if (refused !== undefined)
        return { problem: `the call of ${calledToolName} was refused: ${refused.error ?? 'it has no answer yet'}` };
      const names = [...new Set(toolCalls.map(({ toolName }) => toolName))].slice(0, maxNames);
      const others = names.length === 0 ? 'it called no tool' : `it called ${names.join(', ')}`;
      return { problem: `the app has not called ${calledToolName}; ${others}` };
    }
  }
}

const done = { done: null };

/** A list in a reason is short. */
const maxNames = 10;
