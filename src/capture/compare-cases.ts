import { type JsonObject, listRecords, sortKeys } from '../base/json.ts';
import { maskForms } from '../explore/stability/forms.ts';
import { mapTexts } from '../workspace/placeholders.ts';

/** Placeholders of captures, whose names differ between files. */
const captured = /(?<!\\)\{\{(?!workspace\}\})[^}]*\}\}/g;

/**
 * Prints the requests of a written case, so that two cases are equal if they send the same requests with the same arguments, apart from
 * captured values and from times, ids and the like.
 */
export function printRequests({ steps }: JsonObject): string {
  const requests = listRecords(steps).flatMap((step) => {
    const { toolCall, readResource, getPrompt, arguments: args = {} } = step;
    return toolCall === undefined && readResource === undefined && getPrompt === undefined
      ? []
      : [[toolCall ?? null, readResource ?? null, getPrompt ?? null, args]];
  });
  return JSON.stringify(sortKeys(mapTexts(requests, (text) => maskForms(text.replaceAll(captured, '{{}}')))));
}
