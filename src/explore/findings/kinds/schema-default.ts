import { isRefused } from '../../answers.ts';
import { clipText } from '../../../base/text.ts';
import { isJsonEqual, type JsonObject } from '../../../base/json.ts';
import { readOutcomeText } from '../../stability/texts.ts';
import { defineFinding, eachStep } from '../define-finding.ts';

/** A value that the schema itself names is refused, although the same call with another value, or without it, works. */
export const schemaDefault = defineFinding({
  kind: 'schema-default',
  severity: 'warning',
  find: eachStep(({ request, observation }, { findTool, worked }) => {
    if (request.kind !== 'tool' || !isRefused(observation)) return null;
    const message = readOutcomeText(observation.outcome);
    const parameters = findTool(request.tool)?.parameters ?? [];
    for (const { name, schema } of parameters) {
      const value = request.arguments[name];
      if (value === undefined || !isNamedBy(schema, value) || !namesValue(message, name, value)) continue;
      const hasOther = (worked.get(request.tool) ?? []).some((args) => isSameBut(name, args, request.arguments));
      if (hasOther) {
        return `\`${name}\` is refused with ${JSON.stringify(value)}, which its own schema names: ${clipText(message.replaceAll(/\s+/g, ' '), 120)}`;
      }
    }
    return null;
  }),
});

function isNamedBy({ default: fallback, enum: members, examples }: JsonObject, value: unknown): boolean {
  const named = [fallback, ...(Array.isArray(members) ? members : []), ...(Array.isArray(examples) ? examples : [])];
  return named.some((each) => each !== undefined && isJsonEqual(each, value));
}

/** The message has to be about this value: it quotes it next to the mistake, and names the parameter. */
function namesValue(message: string, name: string, value: unknown): boolean {
  const about = /\b(?:invalid|unknown|unsupported|not supported|unexpected|expected one of|must be)\b/i.test(message);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return about && text.length > 0 && message.includes(text) && message.toLowerCase().includes(name.toLowerCase());
}

function isSameBut(name: string, left: Readonly<JsonObject>, right: JsonObject): boolean {
  const { [name]: a, ...others } = left;
  const { [name]: b, ...rest } = right;
  return !isJsonEqual(a, b) && isJsonEqual(others, rest);
}
