import type { Redactor } from '../base/redaction.ts';
import { isRecord } from '../base/json.ts';

/** Variables of the server whose values no recording may hold. */
export interface HiddenValue {
  name: string;
  value: string;
}

/** A shorter value would be replaced in texts that have nothing to do with it. */
const shortest = 4;

/** Replaces secrets, and puts the values of variables back. Both sides of a comparison go through it. */
export interface Hiding {
  /** Replaces the value of a variable by `{{env.NAME}}`, and every other form of a known secret by `***`. */
  hide(text: string): string;
  /** Replaces `{{env.NAME}}` by the value that the variable has now. */
  show(text: string): string;
  /** Checks if this value of a header, a query parameter or a member is a secret, by its name. */
  isSecret(name: string, value: string): boolean;
}

export const hiddenMark = '***';

/**
 * Names of query parameters and members whose values are secrets. Names such as `next_page_token` and `total_tokens` hold none, so a name
 * has to match as a whole.
 */
const secretName =
  /^(?:x[-_])?(?:api[-_]?key|app[-_]?key|appid|secret|(?:client|app|api|consumer)[-_]?secret|(?:(?:access|refresh|id|auth|api|bearer|session|csrf|xsrf|security|amz[-_]security|private|personal|user|app)[-_]?)?token|password|passwd|passphrase|pwd|auth|authorization|proxy[-_]?authorization|(?:amz[-_])?(?:signature|credential)s?|sig|jwt|private[-_]?key|session[-_]?id|set[-_]?cookie|cookies?|code[-_]?verifier|(?:ocp[-_]apim[-_])?subscription[-_]key)$/i;

/** Some APIs call their key just that, and others the name of an issue or a file. */
const longKey = /^[\w-]{24,}$/;

/** Makes the replacements. `names` are further names that hold secrets. */
export function createHiding(
  values: readonly HiddenValue[],
  { names = [], redactor }: { names?: readonly string[]; redactor: Redactor },
): Hiding {
  const own = new Set(names.map((name) => name.toLowerCase()));
  const replacements = values
    .filter(({ value }) => value.length >= shortest)
    // A longer value may contain a shorter one.
    .toSorted((a, b) => b.value.length - a.value.length)
    .flatMap(({ name, value }) => [...new Set([value, encodeURIComponent(value)])].map((form) => ({ name, form })));
  return {
    hide: (text) => {
      const named = replacements.reduce((each, { name, form }) => each.replaceAll(form, `{{env.${name}}}`), text);
      return redactor.redact(named);
    },
    show: (text) =>
      text.includes('{{env.')
        ? values.reduce((each, { name, value }) => each.replaceAll(`{{env.${name}}}`, value), text)
        : text,
    isSecret: (name, value) =>
      value !== '' &&
      (secretName.test(name) || own.has(name.toLowerCase()) || (/^key$/i.test(name) && longKey.test(value))),
  };
}

const placeholder = /^\{\{env\.[^{}]+\}\}$/;

/**
 * Hides a value with a name. The value of a variable stays its placeholder, because in CI the variable has another value, by which the name
 * may not count as that of a secret.
 */
export function hideNamed(name: string, value: string, hiding: Hiding): string {
  const hidden = hiding.hide(value);
  return !placeholder.test(hidden) && hiding.isSecret(name, value) ? hiddenMark : hidden;
}

/** Replaces secrets in a JSON value: texts, names of members, and texts of members with the name of a secret. */
export function hideInJson(value: unknown, hiding: Hiding): unknown {
  if (typeof value === 'string') return hiding.hide(value);
  if (Array.isArray(value)) return value.map((item) => hideInJson(item, hiding));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      hiding.hide(name),
      typeof member === 'string' ? hideNamed(name, member, hiding) : hideInJson(member, hiding),
    ]),
  );
}

/** Replaces secrets in a text that is no JSON document: also in a form, and in parts that look like JSON. */
export function hideInText(text: string, hiding: Hiding): string {
  const hide = (whole: string, start: string, name: string, value: string, end = '') =>
    hiding.isSecret(decodePart(name), value) ? `${start}${hideNamed(decodePart(name), value, hiding)}${end}` : whole;
  const members = text.replaceAll(
    /("([\w-]+)"\s*:\s*")((?:[^"\\]|\\.)*)(")/g,
    (whole, start: string, name: string, value: string, end: string) => hide(whole, start, name, value, end),
  );
  const fields = isForm(members)
    ? members.replaceAll(/(([^&=]+)=)([^&]*)/g, (whole, start: string, name: string, value: string) =>
        hide(whole, start, name, value),
      )
    : members;
  return hiding.hide(fields);
}

/** A form of a web page, as OAuth servers want it and some answer: `name=value&name=value`. */
export function isForm(text: string): boolean {
  return /^[\w.~%+*[\]-]+=[^\s&]*(?:&[\w.~%+*[\]-]+=[^\s&]*)*$/.test(text);
}

/** Decodes a part of a query; returns it unchanged if it is no such part. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Lists the secrets in a body by the names of members and fields, at any depth. */
export function listSecretsIn(value: unknown, hiding: Hiding): string[] {
  if (typeof value === 'string' && isForm(value)) {
    return [...new URLSearchParams(value)].flatMap(([name, field]) => (hiding.isSecret(name, field) ? [field] : []));
  }
  if (Array.isArray(value)) return value.flatMap((item) => listSecretsIn(item, hiding));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member !== 'string') return listSecretsIn(member, hiding);
    return hiding.isSecret(name, member) ? [member] : [];
  });
}
