import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../../../src/base/time.ts';
import { ConfigurationError, describeError } from '../../../../src/base/errors.ts';
import { readTextFile } from '../../../../src/base/files.ts';
import { linkFile } from '../../../../src/base/version.ts';
import { findChromium } from '../../../../src/browser/find-chromium.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import { type Redactor, Secret } from '../../../../src/base/redaction.ts';
import type { ChatboxContent } from '../chats/chatboxes.ts';
import type { CommandServers } from '../server-reach.ts';
import { listenForInterrupts } from '../../../../src/gate/host-process.ts';
import { contractLimits } from '../../../../src/service/api-limits.ts';
import { parseModelName } from '../../../../src/models/model-name.ts';
import { isBearerToken } from './serve-keys.ts';
import { createTerminalLogger } from '../../../../src/cli/command-logger.ts';
import { readKeyFile } from './serve-keys.ts';

/** The rate limit of the contract. Clients of the hosted service meet the same limit. */
const contractRateLimit = { perMinute: 60, burst: 10 };

interface ServeFlags {
  port: number;
  data?: string;
  plugins?: string;
  apiKey?: string;
  keys?: string;
  model?: string;
  rateLimit?: boolean;
  chatboxes?: string;
  maxProjects?: number;
  allowStdio?: boolean;
  sandbox: (typeof sandboxModes)[number];
}

const sandboxModes = ['auto', 'off', 'required'] as const;

/** Defines `serve`: runs only the embedded eval service, until a signal stops it. */
export function defineServeCommand(command: Command, setExitCode: (code: number) => void, redactor: Redactor): void {
  command
    .addOption(
      new Option('--port <port>', 'The port to listen on. Default: a free one.')
        .default(0, undefined)
        .argParser(parsePort),
    )
    .option('--data <directory>', 'Keep everything in this directory. Default: in memory, gone at the end.')
    .option('--plugins <directory>', 'Offer the plugins in this directory to environments. Default: none.')
    .addOption(
      new Option('--api-key <key>', 'The key that clients must send. Default: a random one.').argParser(parseApiKey),
    )
    .addOption(
      new Option(
        '--keys <file>',
        `Accept the keys of this file, of several users, organizations and roles. See ${linkFile('packages/eval-service/docs/serve.md')}.`,
      ).conflicts('apiKey'),
    )
    .option(
      '--model <model>',
      'The model for the agent, generated cases and prompts that name none, as <provider>/<name>. Its key is read from the environment.',
    )
    .option('--chatboxes <file>', 'Serve the chatboxes that this JSON file lists, instead of those in the store.')
    .option('--rate-limit', 'Limit each key to 60 requests a minute with bursts of 10, as the hosted service does.')
    .addOption(
      new Option(
        '--max-projects <number>',
        'How many projects an organization may have. Default: any number.',
      ).argParser(parseMaxProjects),
    )
    .option('--allow-stdio', 'Start the commands of server records. Who holds a key can then run any command as you.')
    .addOption(
      new Option('--sandbox <auto|off|required>', 'How --allow-stdio isolates the commands, as in a gate.')
        .choices(sandboxModes)
        .default('auto'),
    )
    .addHelpText(
      'after',
      '\nPrints one JSON line on stdout when it is ready:\n  {"baseUrl": …, "apiKey": …, "project": …}\nWith --keys, it has no apiKey, and the project of the first organization.',
    )
    .action(async (flags: ServeFlags) => {
      const defaultModel = flags.model === undefined ? null : parseModelName(flags.model);
      if (flags.data !== undefined) await createDataDirectory(flags.data);
      const chatboxes = flags.chatboxes === undefined ? null : await readChatboxes(flags.chatboxes);
      const [{ openEmbeddedService }, { readPlugins }, { openServeModels }, { openContainerEngines }] =
        await Promise.all([
          import('../open-service.ts'),
          import('../plugins/read-plugins.ts'),
          import('./serve-models.ts'),
          import('../../../../src/server/container-engine.ts'),
        ]);
      if (flags.apiKey !== undefined) redactor.add(new Secret(flags.apiKey));
      const logger = createTerminalLogger({
        write: (text) => process.stderr.write(text),
        redactor,
        color: false,
        isQuiet: false,
        isVerbose: false,
      });
      const keys = flags.keys === undefined ? null : await readKeyFile(flags.keys, { redactor, logger });
      const signal = listenForInterrupts(process, (exitCode) => process.exit(exitCode));
      await using models = await openServeModels(process.env, { clock: systemClock, logger, redactor });
      await using commands = flags.allowStdio === true ? await openCommands(flags, { logger, redactor }) : null;
      await using containers = openContainerEngines({ clock: systemClock, environment: process.env });
      const plugins = flags.plugins === undefined ? [] : await readPlugins(flags.plugins);
      await using service = await openEmbeddedService({
        clock: systemClock,
        logger,
        models,
        defaultModel,
        plugins,
        chatboxes,
        containers,
        commands,
        port: flags.port,
        chromium: findChromium(process.env),
        rateLimit: flags.rateLimit === true ? contractRateLimit : null,
        ...(flags.maxProjects !== undefined && { limits: { ...contractLimits, maxProjects: flags.maxProjects } }),
        ...(flags.data === undefined ? {} : { dataDir: flags.data }),
        ...(keys !== null && { keys }),
        ...(flags.apiKey === undefined ? {} : { apiKey: new Secret(flags.apiKey) }),
      });
      const problem = defaultModel && models.findProblem({ model: defaultModel, apiKeys: new Map() });
      if (problem !== null) logger.warning(`The model of \`--model\` cannot be asked. ${problem}`);
      const { baseUrl, apiKey, projectId: project } = service;
      // With a key file, the keys are not printed, because its owner knows them.
      const ready = keys === null ? { baseUrl, apiKey: apiKey.reveal(), project } : { baseUrl, project };
      process.stdout.write(`${JSON.stringify(ready)}\n`);
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      // A stop by a signal is the normal end of this command.
      setExitCode(0);
    });
}

/** Opens the commands of server records. They cannot write to the files that the service keeps and reads. */
async function openCommands(
  { sandbox, data, keys, plugins, chatboxes }: ServeFlags,
  options: { logger: Logger; redactor: Redactor },
): Promise<CommandServers> {
  const { openServeCommands } = await import('./serve-commands.ts');
  const protect = [data, keys, plugins, chatboxes].flatMap((path) => (path === undefined ? [] : [resolve(path)]));
  const surroundings = { clock: systemClock, environment: process.env, cwd: process.cwd() };
  return openServeCommands({ ...options, ...surroundings, sandbox, protect });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('Write a whole number from 0 to 65535.');
}

function parseMaxProjects(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number of at least 1.');
}

function parseApiKey(text: string): string {
  if (isBearerToken(text)) return text;
  throw new InvalidArgumentError('Write a key of letters, digits and - . _ ~ + / without blanks.');
}

async function readChatboxes(path: string): Promise<ChatboxContent[]> {
  const { parseChatboxes } = await import('../chats/chatboxes.ts');
  try {
    return parseChatboxes(await readTextFile(path));
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const message = `${path} cannot be read: ${describeError(error)}`;
    throw new ConfigurationError([{ input: 'chatboxes', code: 'bad-chatboxes', message }], { cause: error });
  }
}

async function createDataDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const message = `the directory cannot be made: ${describeError(error)}; choose another`;
    throw new ConfigurationError([{ input: 'data', code: 'bad-data', message }], { cause: error });
  }
}
