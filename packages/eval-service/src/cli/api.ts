import type { Command } from 'commander';
import type { Redactor } from '../../../../src/base/redaction.ts';
import { listFlags } from '../../../../src/gate/options/list.ts';
import { createFlag, readGateFlags } from '../../../../src/cli/gate-options.ts';
import { renderOperationList } from './api-help.ts';
import type { ApiFlags } from './call-api.ts';
import { createServiceOption } from './service-flag.ts';

/** Defines `api`: one call of the eval API. Prints the answer to stdout as JSON. */
export function defineApiCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  const options = listFlags('api');
  command
    .argument('[operation]', 'such as getMe')
    .argument('[fields...]', 'its fields, as --field value')
    .helpOption(false)
    .allowUnknownOption()
    .addOption(createServiceOption());
  for (const option of options) command.addOption(createFlag(option));
  command
    .option('--all', 'Print all pages of a list instead of the first.')
    .option('--show-secrets', 'Print secrets of the answer, too.')
    .option('--idempotency-key <key>', 'Let the service do it once, however often it is sent.')
    .option('-h, --help', 'Show this help, or that of the operation.')
    .addHelpText(
      'after',
      () => `
Lists take their flag once per item. Objects are JSON, or @file with JSON in it.
--body gives several fields of a body at once.

Operations:

${renderOperationList()}

Examples:
  $ mcp-eval-ci api listProjectServers --base-url http://127.0.0.1:8787/api/v1
  $ mcp-eval-ci api createEvalCase --suite-id s1 --title A --steps @steps.json
  $ mcp-eval-ci api createEvalCase --help`,
    )
    .action(async (name: string | undefined, words: string[], flags: ApiFlags & Record<string, unknown>) => {
      if (name === undefined) {
        if (flags.help === true) command.outputHelp();
        else command.error("error: missing required argument 'operation'", { exitCode: 2 });
        return;
      }
      const texts = readGateFlags(flags, process.env, options);
      const { callApi } = await import('./call-api.ts');
      await callApi(name, words, { flags, texts, redactor });
      setExitCode(0);
    });
}
