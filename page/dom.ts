import { splitCode } from '../src/report/escape/plain.ts';

/** The content of an element. Text is never parsed as HTML. */
export type Child = Node | string | null;

/** Creates an element. Attributes are not escaped, so attributes with a meaning beyond text get only constants of the page. */
export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** Creates an SVG element in the same way. */
export function createSvg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, attributes, children);
  return element;
}

/** Creates a button that does something on this page. */
export function createButton(
  attributes: Readonly<Record<string, string>>,
  press: () => void,
  ...children: readonly Child[]
): HTMLButtonElement {
  const button = create('button', { type: 'button', ...attributes }, ...children);
  button.addEventListener('click', press);
  return button;
}

/** Creates the body of a table with its first rows, and a button that adds the others; null if there are no others. */
export function createRows(
  rows: readonly HTMLElement[],
  maxRows: number,
): { body: HTMLElement; more: HTMLButtonElement | null } {
  const body = create('tbody', {}, ...rows.slice(0, maxRows));
  if (rows.length <= maxRows) return { body, more: null };
  const more = createButton(
    { class: 'quiet' },
    () => {
      body.append(...rows.slice(maxRows));
      more.remove();
    },
    `Show ${rows.length - maxRows} more`,
  );
  return { body, more };
}

/** Isolates untrusted text, so that it cannot reorder the text around it. */
export function quote(text: string, name = ''): HTMLElement {
  return create('bdi', name === '' ? {} : { class: name }, text);
}

/** Isolates untrusted sentences; text between backticks is code. */
export function quoteProse(text: string): HTMLElement {
  return create('bdi', {}, ...splitCode(text).map((part) => (part.isCode ? create('code', {}, part.text) : part.text)));
}

/** Creates text for screen readers that the page does not show. */
export function say(text: string): HTMLElement {
  return create('span', { class: 'said' }, text);
}

/** Makes `button` show and hide the result of `build`, which is called when it is first shown. */
export function createDisclosure(
  button: HTMLButtonElement,
  id: string,
  build: () => readonly Child[],
): { panel: HTMLElement; toggle: (isOpen: boolean) => void } {
  const panel = create('div', { id, class: 'panel' });
  panel.hidden = true;
  let isBuilt = false;
  const toggle = (isOpen: boolean) => {
    if (isOpen && !isBuilt) {
      isBuilt = true;
      panel.append(...build().filter((child) => child !== null));
    }
    panel.hidden = !isOpen;
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.setAttribute('aria-expanded', 'false');
  button.setAttribute('aria-controls', id);
  button.addEventListener('click', () => toggle(panel.hidden !== false));
  return { panel, toggle };
}

function fill(
  element: Element,
  attributes: Readonly<Record<string, string | number>>,
  children: readonly Child[],
): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== null));
}
