import { isRecord, listTexts } from '../../base/json.ts';
import { hasVolatileForm } from '../stability/forms.ts';
import { listStableParts, longestText } from './checks.ts';

/** Chooses the text to look for in another answer: all of it if it is short, and else the part that is most like the old one; null for none. */
export function renewNeedle(old: string, text: string): string | null {
  const whole = text.trim();
  const isWhole =
    whole.length <= longestText && (old.includes('\n') || !whole.includes('\n')) && !hasVolatileForm(whole);
  if (isWhole && whole !== '') return whole;
  const parts = listStableParts(text);
  const [best] = parts.toSorted((a, b) => rateLikeness(old, b) - rateLikeness(old, a));
  return best ?? null;
}

/** The share of words that two texts have in common. */
function rateLikeness(left: string, right: string): number {
  const [a, b] = [left, right].map((text) => new Set(text.toLowerCase().match(/[\p{L}\d]+/gu)));
  if (a === undefined || b === undefined || a.size + b.size === 0) return 0;
  const shared = [...a].filter((word) => b.has(word)).length;
  return (2 * shared) / (a.size + b.size);
}

/** Renews the expected error: members that it had, from the code and the text of another one; null if nothing stable is left. */
export function renewError(
  old: { code?: number; contains?: string },
  { code, text }: { code: unknown; text: string },
): Record<string, unknown> | null {
  const contains = old.contains === undefined ? undefined : renewNeedle(old.contains, text);
  if (contains === null || (old.code !== undefined && typeof code !== 'number')) return null;
  return {
    ...(old.code !== undefined && { code }),
    ...(contains !== undefined && { contains: isStillThere(old.contains, text) ? old.contains : contains }),
  };
}

const isStillThere = (needle: string | undefined, text: string) =>
  needle !== undefined && text.toLowerCase().includes(needle.toLowerCase());

/** Checks if a new value has a part that reads as a time, an id or the like, where the old one had none. */
export function isMoreVolatile(old: unknown, renewed: unknown): boolean {
  const has = (value: unknown) =>
    [...listTexts(value)].some(({ text }) => hasVolatileForm(text)) ||
    (!isRecord(value) && typeof value === 'number' && hasVolatileForm(String(value)));
  return has(renewed) && !has(old);
}
