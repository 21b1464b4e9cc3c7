import type { Redactor } from '../base/redaction.ts';
import type { OptionDescription } from '../gate/options/define-option.ts';
import { readGateFlags } from './gate-options.ts';

/** Reads the flags like `readGateFlags`, and redacts every secret among them from then on. */
export async function readSecretFlags(
  flags: Readonly<Record<string, unknown>>,
  {
    options,
    environment,
    redactor,
  }: {
    options: readonly OptionDescription[];
    environment: Readonly<Record<string, string | undefined>>;
    redactor: Redactor;
  },
): Promise<Record<string, string>> {
  const { listKnownSecrets } = await import('../gate/options.ts');
  const texts = readGateFlags(flags, environment, options);
  for (const secret of listKnownSecrets(texts, environment)) redactor.add(secret);
  return texts;
}
