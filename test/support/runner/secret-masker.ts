/**
 * A port of the runner's masking: it masks every known secret in all forms of its encoders (actions/runner,
 * src/Sdk/DTLogging/Logging/ValueEncoders.cs). It first finds all matches and then replaces them together, so that overlapping secrets become
 * one `***`.
 */
export interface SecretMasker {
  /** Registers a value as `add-mask` does: the whole value, and each line if it has several. */
  add(value: string): void;
  mask(text: string): string;
  /** The registered values, unchanged. */
  readonly values: readonly string[];
}

export function createSecretMasker(initial: readonly string[] = []): SecretMasker {
  const values: string[] = [];
  const forms = new Set<string>();
  const add = (value: string) => {
    if (value.trim() === '') return;
    values.push(value);
    const lines = value.split(/[\r\n]+/).map((line) => line.trim());
    for (const plain of [value, ...lines]) {
      for (const form of listSecretForms(plain)) forms.add(form);
    }
  };
  for (const value of initial) add(value);
  return { add, mask: (text) => replaceRanges(text, findRanges(text, forms)), values };
}

/** Lists the forms of a secret that the runner knows: raw and from its eleven encoders, without empty ones. */
export function listSecretForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const forms = [
    value,
    bytes.toString('base64'),
    // The runner drops bytes instead of prepending them, with the same effect: base64 depends on the start of a value.
    bytes.subarray(bytes.length > 1 ? 1 : 0).toString('base64'),
    bytes.subarray(bytes.length > 2 ? 2 : 0).toString('base64'),
    value.replaceAll('"', String.raw`\"`),
    value.replaceAll("'", "''"),
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()).replaceAll(/[!'()*]/g, toPercent),
    escapeXml(value),
    value.length > 8 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : '',
    ...splitAtAmpersand(value),
  ];
  return [...new Set(forms)].filter((form) => form !== '');
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function escapeXml(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}

/** PowerShell prints the parts of a command around `&` separately. Parts of fewer than six characters are ignored. */
function splitAtAmpersand(value: string): string[] {
  const coloured = value.indexOf('&+');
  const at = coloured === -1 ? value.lastIndexOf('&') : coloured;
  if (at === -1) return [];
  const halves =
    coloured === -1 ? [value.slice(0, at + 1), value.slice(at + 1)] : [value.slice(0, at + 2), value.slice(at + 3)];
  return halves.filter((half) => half.length >= 6);
}

type Range = [start: number, end: number];

function findRanges(text: string, forms: ReadonlySet<string>): Range[] {
  const ranges: Range[] = [];
  for (const form of forms) {
    for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) {
      ranges.push([start, start + form.length]);
    }
  }
  return ranges.sort(([a], [b]) => a - b);
}

function replaceRanges(text: string, ranges: readonly Range[]): string {
  let masked = '';
  let end = 0;
  for (const [from, to] of ranges) {
    // Touching or overlapping ranges are joined.
    if (from > end || (from === 0 && end === 0)) masked += `${text.slice(end, from)}***`;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}
