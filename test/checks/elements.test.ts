import { describe, expect, it } from 'vitest';
import { type AppView, judgeElement } from '../../src/checks/elements.ts';
import type { ShownElement, WidgetToolCall } from '../../src/model/widget.ts';

const visible: ShownElement = { isVisible: true, value: null, name: '<p>' };
const hidden: ShownElement = { isVisible: false, value: null, name: '<p hidden>' };
const field: ShownElement = { isVisible: true, value: 'Rome', name: '<input id="city">' };
const target = { css: 'p' };

function createApp(found: readonly ShownElement[], toolCalls: WidgetToolCall[] = []): AppView {
  return { toolCalls, find: async () => found, readText: async () => 'Hello' };
}

const call = { toolName: 'add', isForwarded: true, error: null };

describe('an assertion on the elements of an app', () => {
  it.each([
    [{ kind: 'textVisible', toolName: 'a', text: 'Hello' }, [hidden, visible]],
    [{ kind: 'elementVisible', toolName: 'a', target }, [hidden, visible]],
    [{ kind: 'elementVisible', toolName: 'a', target: { ...target, nth: 1 } }, [hidden, visible]],
    [{ kind: 'elementHidden', toolName: 'a', target }, []],
    [{ kind: 'elementHidden', toolName: 'a', target: { ...target, nth: 0 } }, [hidden, visible]],
    [{ kind: 'inputValue', toolName: 'a', target, equals: 'Rome' }, [field]],
  ])('holds: %j', async (check, found) => {
    expect(await judgeElement(check, createApp(found))).toBeNull();
  });

  it.each([
    [{ kind: 'textVisible', toolName: 'a', text: 'Bye' }, [hidden], 'the app does not show "Bye"; it shows "Hello"'],
    [{ kind: 'elementVisible', toolName: 'a', target }, [], 'no element matches: {"css":"p"}'],
    [{ kind: 'elementVisible', toolName: 'a', target }, [hidden], '<p hidden> is not visible: {"css":"p"}'],
    [
      { kind: 'elementVisible', toolName: 'a', target: { ...target, nth: 1 } },
      [visible],
      'only 1 elements match: {"css":"p","nth":1}',
    ],
    [{ kind: 'elementHidden', toolName: 'a', target }, [hidden, visible], '<p> is visible: {"css":"p"}'],
    [
      { kind: 'inputValue', toolName: 'a', target, equals: 'Oslo' },
      [field],
      '<input id="city"> has the value "Rome", not "Oslo"',
    ],
    [{ kind: 'inputValue', toolName: 'a', target, equals: '' }, [visible], '<p> has no value, which only fields have'],
  ])('says what is not so: %j', async (check, found, problem) => {
    expect(await judgeElement(check, createApp(found))).toBe(problem);
  });

  it('asks for a call that the host has passed on', async () => {
    const check = { kind: 'widgetToolCalled', toolName: 'a', calledToolName: 'add' };
    const judge = async (...calls: WidgetToolCall[]) => await judgeElement(check, createApp([], calls));
    expect(await judge(call)).toBeNull();
    expect(await judge()).toBe('the app has not called add; it called no tool');
    expect(await judge({ ...call, toolName: 'sum' })).toBe('the app has not called add; it called sum');
    expect(await judge({ ...call, isForwarded: false, error: 'not its tool' })).toBe(
      'the call of add was refused: not its tool',
    );
  });
});
