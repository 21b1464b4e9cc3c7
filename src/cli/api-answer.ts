import type { Operation } from '../service/operations/operation.ts';

const hidden = '***';

/** An answer without its secrets: the fields that the operation names, wherever they are, and the value of `k` in URLs. */
export function hideSecrets(answer: unknown, { secrets = [] }: Pick<Operation, 'secrets'>): unknown {
  if (typeof answer === 'string') return hideUrlKeys(answer);
  if (Array.isArray(answer)) return answer.map((item) => hideSecrets(item, { secrets }));
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      secrets.includes(name) && value !== null && value !== undefined ? hidden : hideSecrets(value, { secrets }),
    ]),
  );
}

/** The public URL of a tunnel lets every caller that knows its `k` call the server. */
function hideUrlKeys(text: string): string {
  return text.replaceAll(/([?&]k=)[^&#\s"'<>]+/g, `$1${hidden}`);
}
