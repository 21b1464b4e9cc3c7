import { z } from 'zod';
import {
  describeNoElement,
  type InteractAction,
  type Locator,
  pickElement,
  type ShownElement,
} from '../model/widget.ts';
import { listTextEvents, parseKey } from './keys.ts';
import type { View } from './view.ts';
import type { Argument, World } from './world.ts';

/** An element that a locator selects. */
export interface FoundElement extends ShownElement {
  /** Of the element in the world of the probe. */
  objectId: string;
}

/** The result of one attempt: done, or the reason why not yet. */
export type Attempt<T> = { done: T } | { problem: string };

const described = z.array(z.object({ isVisible: z.boolean(), value: z.string().nullable(), name: z.string() }));
const aimed = z.union([z.object({ x: z.number(), y: z.number() }), z.object({ problem: z.string() })]);

/** The distance of one turn of the wheel, in CSS pixels. */
const defaultScroll = 300;

/**
 * Finds the elements that match every part of a locator, in the order of the document. Text and names are compared without regard to case
 * and runs of white space; a substring matches unless `exact` is set.
 *
 * @throws {CommandError} if the document changes during the search, or a selector is invalid
 */
export async function findElements(world: World, locator: Locator): Promise<FoundElement[]> {
  const { role, css, text, testId } = locator;
  const query: Argument = {
    value: {
      ...(css !== undefined && { css }),
      ...(text !== undefined && { text }),
      ...(testId !== undefined && { testId }),
    },
  };
  const withRole = role === undefined ? [] : await world.listByRole(role.role, (name) => isNamed(name, role));
  const among = role === undefined ? 'null' : 'withRole';
  const listId = await world.hold(`(query, ...withRole) => mcpEvalProbe.find(query, ${among})`, [
    query,
    ...withRole.map((objectId) => ({ objectId })),
  ]);
  const elements = await world.call('(found) => mcpEvalProbe.describe(found)', [{ objectId: listId }], described);
  return await Promise.all(
    elements.map(async (element, index) => ({
      ...element,
      objectId: await world.hold('(found, index) => found[index]', [{ objectId: listId }, { value: index }]),
    })),
  );
}

/** Checks if an accessible name matches that of a locator. */
export function isNamed(actual: string, { name, exact = false }: NonNullable<Locator['role']>): boolean {
  if (name === undefined) return true;
  if (exact) return actual === name;
  const normalize = (text: string) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
  return normalize(actual).includes(normalize(name));
}

/** Tries once to do what an `interact` step says, with real input. A `wait` is none of it. */
export async function tryAction(view: View, action: Exclude<InteractAction, { kind: 'wait' }>): Promise<Attempt<null>> {
  switch (action.kind) {
    case 'click':
      return await tryClick(view, action);
    case 'type':
      return await tryType(view, action);
    case 'key': {
      const events = parseKey(action.key);
      if (events === null) return { problem: `there is no key ${JSON.stringify(action.key)}` };
      for (const event of events) await view.page.send('Input.dispatchKeyEvent', event);
      return { done: null };
    }
    case 'scroll': {
      const { width, height } = view.page.viewport;
      const { direction, amount = defaultScroll } = action;
      const deltaY = direction === 'down' ? amount : -amount;
      const event = { type: 'mouseWheel', x: width / 2, y: height / 2, deltaX: 0, deltaY };
      await view.page.send('Input.dispatchMouseEvent', event);
      return { done: null };
    }
  }
}

async function tryClick(
  { world, page }: View,
  { target, clickType = 'left' }: Extract<InteractAction, { kind: 'click' }>,
): Promise<Attempt<null>> {
  const found = await findVisible(world, target);
  if ('problem' in found) return found;
  const { objectId, name } = found.done;
  const aim = await world.call('(element) => mcpEvalProbe.aim(element)', [{ objectId }], aimed);
  if ('problem' in aim) return { problem: `${name} ${aim.problem}` };
  const button = clickType === 'right' ? 'right' : 'left';
  await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...aim });
  for (const clickCount of clickType === 'double' ? [1, 2] : [1]) {
    for (const type of ['mousePressed', 'mouseReleased']) {
      await page.send('Input.dispatchMouseEvent', { type, ...aim, button, clickCount });
    }
  }
  return { done: null };
}

/** Replaces the content of a field, key by key. */
async function tryType(
  { world, page }: View,
  { target, text }: Extract<InteractAction, { kind: 'type' }>,
): Promise<Attempt<null>> {
  const found = await findVisible(world, target);
  if ('problem' in found) return found;
  const { objectId, name } = found.done;
  const problem = await world.call('(element) => mcpEvalProbe.focus(element)', [{ objectId }], z.string().nullable());
  if (problem !== null) return { problem: `${name} ${problem}` };
  const events = text === '' ? (parseKey('Delete') ?? []) : listTextEvents(text);
  // The browser handles them in order, so they can be sent at once.
  await Promise.all(events.map(async (event) => await page.send('Input.dispatchKeyEvent', event)));
  return { done: null };
}

async function findVisible(world: World, target: Locator): Promise<Attempt<FoundElement>> {
  const found = await findElements(world, target);
  const element = pickElement(found, target);
  if (element === undefined) return { problem: describeNoElement(found.length, target) };
  return element.isVisible ? { done: element } : { problem: `${element.name} is not visible` };
}

/** Waits until the widget has drawn what its scripts have changed so far. */
export async function settleView({ world }: View): Promise<void> {
  await world.call('() => mcpEvalProbe.settle()', [], z.unknown());
}

/** Checks if a message from the host has reached the scripts of the widget. */
export async function hasReceived({ world }: View, method: string): Promise<boolean> {
  return await world.call('(method) => mcpEvalProbe.hasReceived(method)', [{ value: method }], z.boolean());
}
