/**
 * What the runner masks: every secret it knows in the forms its encoders give it (actions/runner,
 * src/Sdk/DTLogging/Logging/ValueEncoders.cs). Matches are found first and then replaced together, so that secrets that
 * overlap become one `***`.
 */
export interface SecretMasker {
  /** Registers a value as `add-mask` does: whole, and line by line where it has several. */
  add(value: string): void;
  mask(text: string): string;
  /** The registered values, as they were given. */
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

/** A secret as the runner knows it: raw and through its eleven encoders, without the empty ones. */
export function listSecretForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const forms = [
    value,
    bytes.toString('base64'),
    // The runner drops bytes rather than prepend them, to the same end: base64 depends on where a value starts.
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

/** PowerShell prints the halves of a command around `&` apart; halves of fewer than six characters are let go. */
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
    // Ranges that touch or overlap are one.
    if (from > end || (from === 0 && end === 0)) masked += `${text.slice(end, from)}***`;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}
