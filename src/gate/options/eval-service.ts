import type { ConfigurationIssue } from '../../base/errors.ts';
import { openGroup, type OptionValues, serviceCommands } from './define-option.ts';
import { choice, duration, optionalSecret, optionalText, positiveNumber, secrets } from './values.ts';

const defineOption = openGroup('The eval service');

const hosted = ['service: svc', 'service: mcpjam'];

const needsKey = (service: string, elsewhere: string) =>
  `is needed by the service ${service}; pass it from a secret, or set MCP_EVAL_API_KEY for the command. Workflows of forks and of Dependabot get no secrets: use \`${elsewhere}\` there`;

/** Uses the hosted service if the options have its URL and a key. With `upload`, they are only the target of the results. */
function implyService(texts: Readonly<Record<string, string | undefined>>): 'svc' | 'embedded' {
  const read = (name: string) => texts[name]?.trim() ?? '';
  const isUploading = !['', 'off'].includes(read('upload'));
  return read('base-url') === '' || read('api-key') === '' || isUploading ? 'embedded' : 'svc';
}

export const evalServiceOptions = {
  service: defineOption({
    schema: choice('service', ['embedded', 'svc', 'mcpjam']),
    text: 'Who executes the evals: `embedded`, which is the default, or the hosted `svc` or `mcpjam`. With `base-url` and `api-key` and without `upload`, the default is `svc`.',
    implied: implyService,
    commands: ['run', 'tunnel'],
    isRepeated: true,
  }),
  upload: defineOption({
    schema: choice('upload', ['off', 'svc', 'mcpjam']),
    text: 'The hosted service that also gets the results of embedded runs: `svc`, `mcpjam` or `off`. It needs `api-key`.',
    default: 'off',
    rules: [
      {
        needs: ['service: embedded'],
        code: 'needs-embedded-service',
        message:
          'brings results of the embedded service to a hosted one, and runs of the service {service} are there already; leave it out',
      },
    ],
  }),
  baseUrl: defineOption({
    schema: optionalText,
    hint: '<url>',
    text: 'The base URL of the API of the hosted service, such as `https://host/api/v1`. If `service` or `upload` is `mcpjam`, the default is the URL of that service.',
    commands: serviceCommands,
    rules: [
      {
        isRequired: true,
        when: ['service: svc', 'upload: svc'],
        unless: ['service: mcpjam'],
        code: 'missing-base-url',
        message: 'is needed by the service svc; write one such as https://host/api/v1',
      },
    ],
  }),
  apiKey: defineOption({
    schema: optionalSecret,
    hint: '<key>',
    text: 'The API key of the hosted service. Take it from a secret. Workflows of forks and of Dependabot get no secrets, so use `service: embedded` there.',
    variables: ['MCP_EVAL_API_KEY'],
    commands: serviceCommands,
    // The embedded service ignores these options, so that one workflow can choose the service by the available secrets.
    rules: [
      { isRequired: true, when: hosted, code: 'missing-api-key', message: needsKey('{service}', 'service: embedded') },
      {
        isRequired: true,
        when: ['upload: svc', 'upload: mcpjam'],
        unless: hosted,
        code: 'missing-api-key',
        message: needsKey('{upload}', 'upload: off'),
      },
    ],
  }),
  project: defineOption({
    schema: optionalText,
    hint: '<id or name>',
    text: 'The project of the hosted service, by id or exact name. The default is the only project that the key can see.',
    commands: serviceCommands,
    isRepeated: true,
  }),
  environment: defineOption({
    schema: optionalText,
    hint: '<id>',
    text: 'The id of an environment of the hosted service to run `suite` in. It brings its own servers.',
    isFlagOnly: true,
    rules: [
      {
        needs: ['suite'],
        code: 'needs-suite',
        message: 'is an environment to run a `suite` of the service in; name one',
      },
      {
        excludes: ['server-command', 'server-url', 'mcp-config'],
        code: 'environment-and-server',
        message: 'brings its own servers; leave out `server-command`, `server-url` and `mcp-config`',
      },
    ],
    isRepeated: true,
  }),
  modelApiKeys: defineOption({
    schema: secrets('provider=key'),
    text: 'Keys for models, each as `provider=key`. Write one per line. The default comes from variables such as `ANTHROPIC_API_KEY`, or a hosted service uses its own keys.',
  }),
  recordings: defineOption({
    schema: choice('recordings', ['auto', 'live', 'record', 'replay']),
    text: 'Where answers of models come from. `auto` replays recordings that fit and calls the model for the rest. `live` and `record` always call it. `replay` never does.',
    default: 'auto',
    isRepeated: true,
  }),
  modelTimeout: defineOption({
    schema: duration,
    text: 'How long one call of a model may take with all its attempts, such as `2m`. Models that reason for long need more than the default.',
    default: '45s',
    isRepeated: true,
  }),
  modelCallsPerSecond: defineOption({
    schema: positiveNumber,
    hint: '<n>',
    text: 'How many calls of models may begin in a second with one key, such as `20` or `0.5`. Twice as many may begin at once. A refusal halves the pace.',
    default: '5',
  }),
  queueTimeout: defineOption({
    schema: duration,
    text: 'How long to wait while the service executes as many runs as it may, such as `10m`. It counts towards `timeout`.',
    default: '10m',
    isFlagOnly: true,
  }),
  tunnel: defineOption({
    schema: choice('tunnel', ['auto', 'always', 'never']),
    text: 'Whether the service reaches the server through a tunnel: `auto` for hosted services, `always`, or `never`.',
    default: 'auto',
    isFlagOnly: true,
  }),
  serverName: defineOption({
    schema: optionalText,
    hint: '<name>',
    text: 'The name of the server in the hosted project, up to 128 characters. By default, each job has a name of its own, and removes it at its end.',
    commands: ['run', 'tunnel'],
    isFlagOnly: true,
  }),
};

export const evalServiceChecks = {
  serverName: ({ serverName }: OptionValues<typeof evalServiceOptions>): ConfigurationIssue[] => {
    if (serverName === null || serverName.length <= 128) return [];
    const message = `has ${serverName.length} characters; at most 128 are allowed`;
    return [{ input: 'server-name', code: 'bad-server-name', message }];
  },
};
