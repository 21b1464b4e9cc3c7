// The program that the gate runs in a rendered widget to find elements. It runs in an isolated world: it shares the document with the
// widget's scripts, but none of their values. src/browser/elements.ts calls its functions.

/** The parts of a query in addition to a role, which the browser itself resolves. */
interface Query {
  css?: string;
  text?: string;
  testId?: string;
}

type Aim = { x: number; y: number } | { problem: string };

/** Lists the document and all open shadow roots in it. */
function listRoots(): Array<Document | ShadowRoot> {
  const roots: Array<Document | ShadowRoot> = [document];
  for (const root of roots) {
    for (const { shadowRoot } of root.querySelectorAll('*')) if (shadowRoot !== null) roots.push(shadowRoot);
  }
  return roots;
}

const normalize = (text: string) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();

const ownTextTypes = new Set(['button', 'submit', 'reset']);

/** Returns the text that an element shows. */
function readText(element: Element): string {
  if (element instanceof HTMLInputElement) return ownTextTypes.has(element.type) ? element.value : '';
  return element instanceof HTMLElement ? element.innerText : (element.textContent ?? '');
}

const silent = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'TITLE']);

/** Finds the innermost elements that contain a text. */
function findByText(text: string): Element[] {
  const needle = normalize(text);
  const has = (element: Element) => !silent.has(element.tagName) && normalize(readText(element)).includes(needle);
  const descend = (element: Element): Element[] => {
    const inner = [...element.children].filter(has);
    return inner.length === 0 ? [element] : inner.flatMap(descend);
  };
  return listRoots().flatMap((root) => [...root.children].filter(has).flatMap(descend));
}

/** Finds the elements that match every part of a query, among those with a role if the query has one. */
function find({ css, text, testId }: Query, withRole: readonly Element[] | null): Element[] {
  const select = (selector: string) => listRoots().flatMap((root) => [...root.querySelectorAll(selector)]);
  const lists = [
    ...(withRole === null ? [] : [withRole]),
    ...(css === undefined ? [] : [select(css)]),
    ...(testId === undefined ? [] : [select(`[data-testid="${CSS.escape(testId)}"]`)]),
  ];
  const [first, ...others] = lists;
  if (first === undefined) return text === undefined ? [] : findByText(text);
  return first.filter(
    (element) =>
      others.every((list) => list.includes(element)) &&
      (text === undefined || normalize(readText(element)).includes(normalize(text))),
  );
}

function isVisible(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

type Editable = HTMLInputElement | HTMLTextAreaElement;

function isEditable(element: Element): element is Editable {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}

/** Returns the content of a field; null if the element is not a field. */
function readValue(element: Element): string | null {
  if (isEditable(element) || element instanceof HTMLSelectElement) return element.value;
  return element instanceof HTMLElement && element.isContentEditable ? element.innerText : null;
}

function nameElement(element: Element): string {
  return `<${element.tagName.toLowerCase()}${element.id === '' ? '' : ` id="${element.id}"`}>`;
}

function describe(elements: readonly Element[]): Array<{ isVisible: boolean; value: string | null; name: string }> {
  return elements.slice(0, 1000).map((element) => ({
    isVisible: isVisible(element),
    value: readValue(element),
    name: nameElement(element),
  }));
}

function isDisabled(element: Element): boolean {
  return element.matches(':disabled') || element.closest('[aria-disabled="true"]') !== null;
}

function holds(outer: Element, inner: Node): boolean {
  for (let node: Node | null = inner; node !== null;) {
    if (node === outer) return true;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return false;
}

function findAt(x: number, y: number): Element | null {
  let found = document.elementFromPoint(x, y);
  for (;;) {
    const inner: Element | null = found?.shadowRoot?.elementFromPoint(x, y) ?? null;
    if (inner === null || inner === found) return found;
    found = inner;
  }
}

/** Scrolls an element into view and returns the point of a click on it. */
function aim(element: Element): Aim {
  if (isDisabled(element)) return { problem: 'is disabled' };
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const hit = findAt(x, y);
  if (hit === null) return { problem: 'is outside of the widget' };
  const isLabel = hit.closest('label')?.control === element;
  return holds(element, hit) || isLabel ? { x, y } : { problem: `is covered by ${nameElement(hit)}` };
}

/** Focuses a field and selects its content. Returns the reason if that is not possible, or null. */
function focus(element: Element): string | null {
  if (!(element instanceof HTMLElement) || readValue(element) === null) return 'takes no text';
  if (isDisabled(element)) return 'is disabled';
  if (isEditable(element) && element.readOnly) return 'is read-only';
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  element.focus();
  if (isEditable(element)) element.select();
  else if (element.isContentEditable) getSelection()?.selectAllChildren(element);
  return null;
}

const received = new Set<string>();
addEventListener('message', ({ data }) => {
  if (typeof data === 'object' && data !== null && typeof data.method === 'string') received.add(data.method);
});

/** Waits until the widget has drawn the changes of its scripts. */
async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    // A page that draws nothing has no frames.
    setTimeout(resolve, 100);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

Object.assign(globalThis, {
  mcpEvalProbe: { find, describe, aim, focus, settle, hasReceived: (method: string) => received.has(method) },
});
